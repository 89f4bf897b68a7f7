"""Positions and ranges in text, and the index that converts between the ways to count columns.

Lines count from 0 and end only at ``\\n``, ``\\r\\n`` or ``\\r``, as for Python and for LSP.
Columns count code points from 0; ends are exclusive.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, count
from operator import add
from typing import Literal

Encoding = Literal["utf-8", "utf-16", "utf-32"]

_LINE_END = re.compile(r"\r\n|\r|\n")
_LONG_LINE = 1000
"""Characters from which the columns of a line are looked up in a table."""


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place between two code points."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, order=True)
class Range:
    """From ``start`` up to, and without, ``end``."""

    start: Position
    end: Position

    def __contains__(self, position: Position) -> bool:
        """Whether the position is inside or touches the end, as a caret behind a word does."""
        return self.start <= position <= self.end

    def covers(self, other: Range) -> bool:
        """Whether ``other`` lies within this range."""
        return self.start <= other.start and other.end <= self.end

    def shifted(self, lines: int) -> Range:
        """The same range, ``lines`` further down."""
        if not lines:
            return self
        return Range(
            Position(self.start.line + lines, self.start.column),
            Position(self.end.line + lines, self.end.column),
        )


def span(start_line: int, start_column: int, end_line: int, end_column: int) -> Range:
    """A range from its four numbers."""
    return Range(Position(start_line, start_column), Position(end_line, end_column))


class LineIndex:
    """The lines of a text and where they start."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends."""
        return _LINE_END.split(self.text) if "\r" in self.text else self.text.split("\n")

    @property
    def count(self) -> int:
        """How many lines there are."""
        return len(self.lines) if "\r" in self.text else self.text.count("\n") + 1

    def forget(self) -> None:
        """Lets go of what the text tells again when it is asked for."""
        self.__dict__.pop("lines", None)
        self.__dict__.pop("starts", None)

    @cached_property
    def starts(self) -> list[int]:
        """The offset at which each line begins."""
        if "\r" in self.text:
            return [0, *(match.end() for match in _LINE_END.finditer(self.text))]
        before = accumulate(map(len, self.lines), initial=0)
        starts = [*map(add, before, count())]
        starts.pop()
        return starts

    def line(self, number: int) -> str:
        """A line's text without its end; empty outside the text."""
        return self.lines[number] if 0 <= number < len(self.lines) else ""

    def offset(self, position: Position) -> int:
        """The offset of a position; what lies outside the text or the line is clamped to it."""
        if position.line < 0:
            return 0
        if position.line >= len(self.lines):
            return len(self.text)
        column = min(max(position.column, 0), len(self.lines[position.line]))
        return self.starts[position.line] + column

    def position(self, offset: int) -> Position:
        """The position of an offset; inside a line end it is the end of the line."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self.starts, offset) - 1
        return Position(line, min(offset - self.starts[line], len(self.lines[line])))

    def slice(self, where: Range) -> str:
        """The text of a range."""
        return self.text[self.offset(where.start) : self.offset(where.end)]

    @property
    def end(self) -> Position:
        """The position behind the last character."""
        return Position(len(self.lines) - 1, len(self.lines[-1]))

    def to_units(self, position: Position, encoding: Encoding) -> int:
        """The column of a position, counted in code units of ``encoding``."""
        return units_of_column(self.line(position.line), position.column, encoding)

    def from_units(self, line: int, units: int, encoding: Encoding) -> Position:
        """The position at ``units`` code units of ``encoding`` in a line."""
        return Position(line, column_of_units(self.line(line), units, encoding))


def column_of_byte(line: str, byte: int) -> int:
    """The column at a UTF-8 byte offset (as ``ast`` counts), clamped to the line."""
    if line.isascii():
        return min(max(byte, 0), len(line))
    if len(line) > _LONG_LINE:
        return max(bisect_right(_bytes_before(line), max(byte, 0)) - 1, 0)
    return _decode(line.encode("utf-8", "surrogatepass")[: max(byte, 0)], "utf-8")


@lru_cache(maxsize=8)
def _bytes_before(line: str) -> list[int]:
    """The UTF-8 bytes before each column of a line and before its end. Remembered: all places of
    a line are asked for together, and each would encode the line anew."""
    return [0, *accumulate(len(char.encode("utf-8", "surrogatepass")) for char in line)]


def units_of_column(line: str, column: int, encoding: Encoding) -> int:
    """How many code units of ``encoding`` come before a column, clamped to the line."""
    column = min(max(column, 0), len(line))
    if encoding == "utf-32" or line.isascii():
        return column
    head = line[:column]
    if encoding == "utf-8":
        return len(head.encode("utf-8", "surrogatepass"))
    return len(head.encode("utf-16-le", "surrogatepass")) // 2


def column_of_units(line: str, units: int, encoding: Encoding) -> int:
    """The column at a number of code units; inside a character it is the character's start."""
    units = max(units, 0)
    if encoding == "utf-32" or line.isascii():
        return min(units, len(line))
    if encoding == "utf-8":
        return column_of_byte(line, units)
    seen = 0
    for column, char in enumerate(line):
        seen += 2 if char > "\uffff" else 1
        if seen > units:
            return column
    return len(line)


def _decode(head: bytes, encoding: str) -> int:
    """The number of whole characters in ``head``, lone surrogates counted as characters."""
    for cut in range(4):
        try:
            return len(head[: len(head) - cut].decode(encoding, "surrogatepass"))
        except UnicodeDecodeError:
            continue
    return len(head.decode(encoding, "replace"))
