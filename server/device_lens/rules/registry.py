"""The rules, found by looking into this package, and the findings of a file."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

from device_lens import rules as package
from device_lens.fixes.edit import Fix
from device_lens.interpreter.facts import FileFacts
from device_lens.rules.causes import Cause
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, LazyFixes, Related, Severity
from device_lens.rules.meant_to_raise import is_meant_to_raise
from device_lens.rules.rule import Rule
from device_lens.rules.wording import quoted
from device_lens.syntax.position import Range


def _discover() -> dict[str, Rule]:
    """Every module of this package that defines `RULE`, by the rule's name."""
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    modules = (import_module(f"{package.__name__}.{name}") for name in names)
    found = [module.RULE for module in modules if isinstance(getattr(module, "RULE", None), Rule)]
    return {rule.name: rule for rule in found}


RULES: dict[str, Rule] = _discover()


def findings(facts: FileFacts, all_facts: Mapping[str, FileFacts]) -> list[Finding]:
    """What the rules say of a file, by position; suppressions and settings are not applied."""
    context = Context(facts, all_facts)
    checks = _by_fact()
    found: dict[tuple[str, Any], Finding] = {}
    for fact in _facts(context):
        for check in checks.get(type(fact), ()):
            finding = check(fact, context)
            if finding is not None and not _is_expected(finding, fact, context):
                key = finding.rule, finding.range
                found[key] = _merged(found[key], finding) if key in found else finding
    return _told_once(sorted(found.values(), key=lambda each: (each.range, each.rule)))


def _told_once(found: list[Finding]) -> list[Finding]:
    """What says the same of several places of one statement, in one line of it, becomes one
    finding, at the first: its fixes mend all of them."""
    told: dict[tuple[str, str, Range, int], Finding] = {}
    for finding in found:
        line = finding.range.start.line
        key = finding.rule, finding.message, finding.statement, line
        told[key] = _joined(told[key], finding) if key in told else finding
    return list(told.values())


def _joined(first: Finding, other: Finding) -> Finding:
    there = Related(other.path, other.range, f"{quoted(other.symbol)} here, too")
    related = tuple(dict.fromkeys((*first.related, there, *other.related)))
    fixes = LazyFixes(lambda: _joint(first.fixes, other.fixes) or first.fixes)
    return replace(first, related=related, fixes=fixes)


def _joint(ones: Sequence[Fix], others: Sequence[Fix]) -> list[Fix]:
    """The fixes that two findings have in common, each with the edits of both."""
    return [
        replace(fix, edits=tuple(dict.fromkeys((*fix.edits, *more.edits))))
        for fix in ones
        for more in others
        if more.title == fix.title and more.safety is fix.safety
    ]


def _is_expected(finding: Finding, fact: Any, context: Context) -> bool:
    """Whether a test expects that the line raises."""
    raises = finding.severity in (Severity.ERROR, Severity.WARNING)
    return raises and type(fact) is not Cause and is_meant_to_raise(context.place(fact.site))


def _by_fact() -> dict[type, list[Any]]:
    found: dict[type, list[Any]] = {}
    for rule in RULES.values():
        for fact, check in rule.checks.items():
            found.setdefault(fact, []).append(check)
    return found


def _facts(context: Context) -> Iterator[Any]:
    yield from context.facts.others
    yield from context.facts.transfers
    yield from context.facts.synchronizations
    yield from context.causes


def _merged(first: Finding, second: Finding) -> Finding:
    """Two remarks of one rule about one place: the louder one, with the places of both."""
    louder = second.severity.rank < first.severity.rank
    kept, other = (second, first) if louder else (first, second)
    return replace(
        kept,
        related=tuple(dict.fromkeys((*kept.related, *other.related))),
        fixes=LazyFixes(lambda: kept.fixes or other.fixes),
    )
