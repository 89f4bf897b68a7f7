"""Tries fixes one at a time on programs, and tells of each what it leaves behind.

A mismatch hides what comes after it, so as many findings may come up as mismatches went away.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from device_lens.fixes.edit import Edit, Fix, apply_edits, follower
from device_lens.ide.fixing import FileVersions
from device_lens.ide.project import Project
from device_lens.project.files import Snapshot
from device_lens.rules.finding import Finding, Severity
from device_lens.syntax.position import LineIndex

Texts = Mapping[str, str]


@dataclass(frozen=True)
class Trial:
    """One fix of one finding. `broken` says what is wrong with the text after it alone."""

    finding: Finding
    fix: Fix
    broken: str | None

    @property
    def complaint(self) -> str:
        """The place, the rule, the fix, and what is wrong, for a reader."""
        return (
            f"{self.finding.path}:{self.finding.range.start.line + 1} {self.finding.rule}, "
            f"{self.fix.safety.value} fix “{self.fix.title}”: {self.broken}"
        )


def trials(root: Path, names: list[str]) -> Iterator[Trial]:
    """A trial for each fix of each finding of the files below `root`."""
    project = Project(str(root))
    paths = [str(root / name) for name in names]
    project.index(paths)
    for group in project.groups(sorted(paths)):
        yield from tried_together(project, group.targets, group.entries)


def tried_together(
    project: Project, paths: Sequence[str], entries: Sequence[str]
) -> Iterator[Trial]:
    """A trial for each fix of each finding of files that are looked at together, with `entries`
    run before them. A fix that edits one of these is left out."""
    versions = FileVersions(project, paths, Snapshot(), lambda: False, entries)
    before = versions.analyse(versions.texts)
    for finding in before:
        for fix in finding.fixes:
            if any(edit.path not in versions.texts for edit in fix.edits):
                continue
            yield Trial(finding, fix, _broken(versions, before, finding, fix))


def _broken(
    versions: FileVersions, before: list[Finding], finding: Finding, fix: Fix
) -> str | None:
    texts = dict(versions.texts)
    edits: dict[str, list[Edit]] = {}
    for edit in fix.edits:
        edits.setdefault(edit.path, []).append(edit)
    for path, mine in edits.items():
        texts[path] = apply_edits(texts[path], mine)
    if texts == versions.texts:
        return "it changes nothing"
    for path in edits:
        if _parses(versions.texts[path]) and not _parses(texts[path]):
            return f"it does not parse:\n{texts[path]}"
    if versions.contents(texts) is None:
        return "it cannot be said of the notebook's cells"
    follow = {path: follower(text, edits.get(path, [])) for path, text in versions.texts.items()}
    places = Counter(
        (each.rule, each.path, follow[each.path](each.range.start))
        for each in before
        if each.path in follow
    )
    said = Counter((each.rule, each.path, each.symbol) for each in before)
    indexes = {path: LineIndex(text) for path, text in texts.items()}
    after = versions.analyse(texts)
    mine = (finding.rule, finding.path, follow[finding.path](finding.range.start))
    at_mine = [each for each in after if _place(each, indexes) == mine]
    if len(at_mine) >= places[mine]:
        return f"its finding stays: {at_mine[0].message}\n{_around(texts, at_mine[0])}"
    loud = [
        each
        for each in after
        if each.severity.at_least(Severity.WARNING)
        and not places[_place(each, indexes)]
        and not said[(each.rule, each.path, each.symbol)]
    ]
    hidden = _mismatches(before) - _mismatches(after) + _mismatches(loud)
    if fix.safe and loud and len(loud) > hidden:
        return f"it brings up {loud[0].rule}: {loud[0].message}\n{_around(texts, loud[0])}"
    return None


def _mismatches(findings: list[Finding]) -> int:
    """How many findings stop the program, so that nothing is known of what comes behind them."""
    return sum(
        each.severity is Severity.ERROR or each.rule == "unregistered-tensor" for each in findings
    )


def _place(finding: Finding, indexes: Mapping[str, LineIndex]) -> tuple[str, str, int]:
    """The rule, the file and the offset at which a finding begins."""
    index = indexes.get(finding.path)
    return finding.rule, finding.path, -1 if index is None else index.offset(finding.range.start)


def _around(texts: Texts, finding: Finding) -> str:
    lines = texts.get(finding.path, "").split("\n")
    start = finding.range.start.line
    return "\n".join(lines[max(0, start - 3) : start + 3])


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
