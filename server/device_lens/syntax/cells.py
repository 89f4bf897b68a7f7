"""Where the lines of a notebook's concatenated text come from."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from device_lens.syntax.position import Position, Range


@dataclass(frozen=True, slots=True)
class CellPosition:
    """A place inside a cell; cells of every kind count, from 0."""

    cell: int
    position: Position


@dataclass(frozen=True, slots=True)
class CellRange:
    """A range inside one cell."""

    cell: int
    range: Range


@dataclass(frozen=True, slots=True)
class CellMap:
    """The code cells in order: their numbers, first lines and line counts."""

    numbers: tuple[int, ...]
    starts: tuple[int, ...]
    """The line of the concatenated text at which each code cell starts."""
    counts: tuple[int, ...]

    def to_cell(self, position: Position) -> CellPosition | None:
        """The place in its cell; None where there are no cells."""
        place = bisect_right(self.starts, position.line) - 1
        if place < 0:
            return None
        line = position.line - self.starts[place]
        return CellPosition(self.numbers[place], Position(line, position.column))

    def from_cell(self, where: CellPosition) -> Position | None:
        """The place in the concatenated text; None for what is not a line of a code cell."""
        if where.cell not in self.numbers:
            return None
        place = self.numbers.index(where.cell)
        if not 0 <= where.position.line < self.counts[place]:
            return None
        return Position(self.starts[place] + where.position.line, where.position.column)

    def range_to_cell(self, where: Range) -> CellRange | None:
        """A range in its cell; None when it does not lie in one cell."""
        start, end = self.to_cell(where.start), self.to_cell(where.end)
        if start is None or end is None or start.cell != end.cell:
            return None
        return CellRange(start.cell, Range(start.position, end.position))

    def range_from_cell(self, where: CellRange) -> Range | None:
        """A cell's range in the concatenated text."""
        start = self.from_cell(CellPosition(where.cell, where.range.start))
        end = self.from_cell(CellPosition(where.cell, where.range.end))
        if start is None or end is None:
            return None
        return Range(start, end)

    def cell_of_line(self, line: int) -> int | None:
        """The number of the cell that a line of the concatenated text belongs to."""
        found = self.to_cell(Position(line, 0))
        return None if found is None else found.cell
