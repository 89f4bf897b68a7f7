"""A finding as the command line prints it: plain data that can cross a process boundary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from device_lens.fixes.edit import Fix
from device_lens.ide.locations import Printer
from device_lens.ide.places import Location
from device_lens.rules.finding import Finding, Severity
from device_lens.syntax.position import Range

Json = dict[str, Any]
MOST_LINES = 4
"""Lines of source that a text report shows of one finding."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The JSON of one finding, and the lines of source that it stands in."""

    data: Json
    lines: tuple[str, ...]

    @property
    def order(self) -> tuple[Any, ...]:
        """File, then cell, then position."""
        start = self.data["range"]["start"]
        cell = self.data["cell"]
        place = (-1 if cell is None else cell, start["line"], start["column"])
        return (self.data["file"], *place, self.data["rule"])

    @property
    def severity(self) -> Severity:
        return Severity(self.data["severity"])


@dataclass(frozen=True, slots=True)
class Problem:
    """Some input that could not be read or analysed."""

    file: str
    message: str


def entry_of(finding: Finding, printer: Printer) -> Entry:
    """A finding with places relative to the printer's folder."""
    data: Json = {
        **_located(finding.path, finding.range, printer),
        "rule": finding.rule,
        "severity": finding.severity.value,
        "message": finding.message,
        "symbol": finding.symbol,
        "related": [
            {**_located(each.path, each.range, printer), "message": each.message}
            for each in finding.related
        ],
        "fixes": [_fix(fix, printer) for fix in finding.fixes],
    }
    ordered = {key: data[key] for key in _KEYS}
    return Entry(ordered, _lines(finding, printer))


_KEYS = ("file", "cell", "rule", "severity", "message", "symbol", "range", "related", "fixes")


def _located(path: str, where: Range, printer: Printer) -> Json:
    return printer.location(Location(path, where))


def _fix(fix: Fix, printer: Printer) -> Json:
    return {
        "title": fix.title,
        "safety": fix.safety.value,
        "preferred": fix.preferred,
        "edits": [
            {**_located(edit.path, edit.range, printer), "new_text": edit.new_text}
            for edit in fix.edits
        ],
    }


def _lines(finding: Finding, printer: Printer) -> tuple[str, ...]:
    source = printer.sources(finding.path)
    if source is None:
        return ()
    first = finding.range.start.line
    last = min(finding.range.end.line, first + MOST_LINES - 1)
    return tuple(source.lines.line(number) for number in range(first, last + 1))
