"""The findings of a file as it is configured: chosen, silenced, with their severities, in order."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from device_lens.fixes.suppress import remove_rule, remove_suppression
from device_lens.interpreter.facts import FileFacts
from device_lens.project.configuration import Configuration, Loaded
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.registry import RULES, findings
from device_lens.rules.unused_ignore import RULE as UNUSED_IGNORE
from device_lens.rules.unused_ignore import unused
from device_lens.syntax.source import SourceFile
from device_lens.syntax.suppressions import Suppression

_Uses = set[tuple[Suppression, str]]


def diagnostics(
    facts: FileFacts,
    all_facts: Mapping[str, FileFacts],
    loaded: Loaded,
    everything: bool = False,
    fixes_wait: bool = False,
) -> list[Finding]:
    """What is to be shown of a file, by position. `all_facts` are those of the files that were
    analysed with it. With `everything`, also what rules say that are turned off. With `fixes_wait`,
    fixes are made when they are looked at, which must be before the text is another one."""
    source: SourceFile = facts.source
    active = active_rules(facts.path, loaded)
    used: _Uses = set()
    shown: list[Finding] = []
    for finding in findings(facts, all_facts):
        if finding.rule not in active:
            shown += [finding] * everything
            continue
        comment = source.suppressions.find(finding.rule, finding.statement)
        if comment is None:
            shown.append(_configured(finding, loaded.configuration))
        else:
            used.add((comment, finding.rule))
    if UNUSED_IGNORE.name in active:
        shown += (_configured(each, loaded.configuration) for each in _unused(source, active, used))
    if not fixes_wait:
        for each in shown:
            len(each.fixes)
    return sorted(shown, key=lambda each: (each.range, each.rule))


def without_remarks(found: Sequence[Finding], loaded: Loaded) -> tuple[Finding, ...]:
    """Those of the findings that are no hints or information, whatever severity the configuration
    gives them."""
    set_by_user = loaded.configuration.severity

    def is_remark(finding: Finding) -> bool:
        own = RULES[finding.rule].severity if finding.rule in set_by_user else finding.severity
        return not own.at_least(Severity.WARNING)

    return tuple(finding for finding in found if not is_remark(finding))


def active_rules(path: str, loaded: Loaded) -> frozenset[str]:
    """The rules that speak of a file."""
    configuration = loaded.configuration
    chosen = RULES.keys() if configuration.select is None else configuration.select
    off = {rule for rule, level in configuration.severity.items() if level == "off"}
    ignored = configuration.ignored_in(_relative(path, loaded.folder))
    return frozenset(chosen) & RULES.keys() - {*configuration.ignore, *off, *ignored}


def _relative(path: str, folder: str | None) -> str:
    """The path from the configuration's folder, with forward slashes."""
    if folder is None:
        return path.replace(os.sep, "/").lstrip("/")
    return os.path.relpath(path, folder).replace(os.sep, "/")


def _configured(finding: Finding, configuration: Configuration) -> Finding:
    """The finding with the severity that the configuration gives its rule."""
    level = configuration.severity.get(finding.rule)
    return finding if level is None else replace(finding, severity=Severity(level))


def _unused(source: SourceFile, active: frozenset[str], used: _Uses) -> Iterator[Finding]:
    """A finding for each comment, or rule in one, that silenced nothing. A rule that is turned
    off has silenced nothing for another reason."""
    for comment in source.suppressions.all:
        text = source.text_of(comment.range)
        if comment.bare:
            if not any(each is comment for each, _ in used):
                fix = remove_suppression(source, comment)
                yield unused(source.path, comment.range, text, None, fix)
            continue
        for named in comment.rules:
            unknown = named.name not in RULES
            if (comment, named.name) not in used and (unknown or named.name in active):
                fix = remove_rule(source, comment, named.name)
                yield unused(source.path, named.range, named.name, named.name, fix)
