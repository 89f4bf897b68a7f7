"""What was found in some files, as plain data that crosses processes and is kept between runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from device_lens.cli.output.entry import Entry, Problem
from device_lens.ide.project import Content

Json = dict[str, Any]


@dataclass(slots=True)
class Report:
    """What was found. `contents` are the new contents of files that fixes change."""

    entries: list[Entry] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    contents: dict[str, Content] = field(default_factory=dict)
    fixed: int = 0
    files: int = 0
    lines: int = 0
    recalled: int = 0
    """Files of which an earlier run's report was taken."""
    has_failed: bool = False
    """Whether something went wrong that need not go wrong again."""

    def add(self, other: Report) -> None:
        """Takes in what was found elsewhere."""
        self.entries += other.entries
        self.problems += other.problems
        self.limits += [each for each in other.limits if each not in self.limits]
        self.warnings += [each for each in other.warnings if each not in self.warnings]
        self.contents |= other.contents
        self.fixed += other.fixed
        self.files += other.files
        self.lines += other.lines
        self.recalled += other.recalled
        self.has_failed |= other.has_failed


def report_to_json(report: Report) -> Json:
    """A report without fixes as plain data."""
    return {
        "entries": [[each.data, list(each.lines)] for each in report.entries],
        "problems": [[each.file, each.message] for each in report.problems],
        "limits": report.limits,
        "warnings": report.warnings,
        "files": report.files,
        "lines": report.lines,
    }


def report_from_json(data: object) -> Report | None:
    """The report that plain data stands for; None where anything about it is odd."""
    if not _fits(data, _REPORT):
        return None
    assert isinstance(data, dict)
    return Report(
        entries=[Entry(entry, tuple(lines)) for entry, lines in data["entries"]],
        problems=[Problem(file, message) for file, message in data["problems"]],
        limits=data["limits"],
        warnings=data["warnings"],
        files=data["files"],
        lines=data["lines"],
    )


Shape = Any
"""What plain data must look like: a type, a list of one shape for every element, a tuple of shapes
in that order, a dictionary of the shapes of exactly these keys, or a function that judges."""

_SEVERITIES = ("error", "warning", "information", "hint")


def _fits(data: object, shape: Shape) -> bool:
    if isinstance(shape, type):
        return type(data) is shape
    if isinstance(shape, list):
        return isinstance(data, list) and all(_fits(each, shape[0]) for each in data)
    if isinstance(shape, tuple):
        return isinstance(data, list) and len(data) == len(shape) and all(map(_fits, data, shape))
    if isinstance(shape, dict):
        # The order of the keys is that of the output.
        return (
            isinstance(data, dict)
            and list(data) == list(shape)
            and all(_fits(data[key], shape[key]) for key in shape)
        )
    judge: Callable[[object], bool] = shape
    return judge(data)


def _one_of(*choices: str) -> Callable[[object], bool]:
    return lambda data: isinstance(data, str) and data in choices


def _count(data: object) -> bool:
    return type(data) is int and data >= 0


_POSITION = {"line": _count, "column": _count}
_RANGE = {"start": _POSITION, "end": _POSITION}
_PLACE = {
    "file": str,
    "cell": lambda data: data is None or _count(data),
    "range": _RANGE,
}
_FIX = {
    "title": str,
    "safety": _one_of("safe", "unsafe"),
    "preferred": bool,
    "edits": [{**_PLACE, "new_text": str}],
}
_DATA = {
    "file": str,
    "cell": _PLACE["cell"],
    "rule": str,
    "severity": _one_of(*_SEVERITIES),
    "message": str,
    "symbol": lambda data: data is None or isinstance(data, str),
    "range": _RANGE,
    "related": [{**_PLACE, "message": str}],
    "fixes": [_FIX],
}
_REPORT = {
    "entries": [(_DATA, [str])],
    "problems": [(str, str)],
    "limits": [str],
    "warnings": [str],
    "files": _count,
    "lines": _count,
}
