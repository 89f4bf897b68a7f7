"""Rewrites a test document so that it expects what is the case; the diff is for a human to read.

Findings at warning level and above get their marks; quieter ones keep a mark where there was one.
"""

from __future__ import annotations

import re
from pathlib import Path

from mdtest_document import Fence, Program, programs
from mdtest_program import MARK, Mark, Outcome, analyse, find, fixed_text, marks, matches, revealed

from device_lens.rules.finding import Finding, Severity

_WORDS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "info",
    Severity.HINT: "hint",
}


def rewrite(document: Path, folder: Path) -> bool:
    """Rewrites a document, using `folder` for its programs; whether anything changed."""
    text = document.read_text(encoding="utf-8")
    lines = text.split("\n")
    replaced: dict[int, tuple[int, list[str]]] = {}
    for number, program in enumerate(programs(text)):
        root = folder / str(number)
        root.mkdir()
        outcome = analyse(program, root)
        for name, fence in program.files.items():
            replaced[fence.line] = (len(fence.lines), _marked(fence, outcome, name))
        _fixed(program, outcome, replaced)
    for line in sorted(replaced, reverse=True):
        count, new = replaced[line]
        lines[line : line + count] = new
    changed = "\n".join(lines)
    if changed != text:
        document.write_text(changed, encoding="utf-8")
    return changed != text


def _fixed(program: Program, outcome: Outcome, replaced: dict[int, tuple[int, list[str]]]) -> None:
    for name, fence in program.fixed.items():
        text = fixed_text(program, outcome, name)
        replaced[fence.line] = (len(fence.lines), text.removesuffix("\n").split("\n"))


def _marked(fence: Fence, outcome: Outcome, name: str) -> list[str]:
    analysis = outcome.analyses[name]
    expected = list(marks(fence.lines))
    lines = list(fence.lines)
    for number in {mark.written for mark in expected}:
        lines[number] = re.sub(r"\s*" + MARK.pattern, "", lines[number]).rstrip()
    for mark in expected:
        if mark.kind == "revealed":
            text, _, value = mark.body.partition(" → ")
            actual = revealed(find(analysis, text.strip(), mark.line))
            kept = value.strip() if matches(value.strip(), actual) else actual
            _append(lines, mark.written, f"# revealed: {text.strip()} → {kept}")
    for finding in analysis.findings:
        mark = _mark_of(finding, expected)
        if mark is not None or finding.severity.at_least(Severity.WARNING):
            line = finding.range.start.line if mark is None else mark.written
            body = f"[{finding.rule}]" if mark is None else mark.body
            _append(lines, line, f"# {_WORDS[finding.severity]}: {body}")
    return lines


def _mark_of(finding: Finding, expected: list[Mark]) -> Mark | None:
    line = finding.range.start.line
    near = (each for each in expected if each.line == line and f"[{finding.rule}]" in each.body)
    return next(near, None)


def _append(lines: list[str], number: int, mark: str) -> None:
    line = lines[number]
    lines[number] = f"{line}  {mark}" if line.strip() else f"{line}{mark}"
