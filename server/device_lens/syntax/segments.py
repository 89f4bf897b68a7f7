"""Which lines belong to which top-level statement: by tree where there is one, else by scanner.

Both ways agree on text that parses. The scanner's way looks only one statement back and one line
ahead, so it can start at any statement and stop at the first boundary it has in common with an
older version of the text.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from device_lens.syntax.position import column_of_byte
from device_lens.syntax.scanner import LogicalLine, first_word, indentation, is_join

CLAUSES = {
    "else": frozenset({"if", "for", "while", "try"}),
    "elif": frozenset({"if"}),
    "except": frozenset({"try"}),
    "finally": frozenset({"try"}),
}


@dataclass(frozen=True, slots=True)
class Segment:
    """The lines from ``start`` to before ``stop``, and their statements where they are known."""

    start: int
    stop: int
    body: tuple[ast.stmt, ...] = ()


def starts_statement(line: str) -> bool:
    """Whether a line with code can begin a top-level statement whatever comes before it."""
    if is_join(line):
        return False
    return indentation(line) == 0 and first_word(line) not in CLAUSES


def segments_of_tree(
    tree: ast.Module, lines: Sequence[str], offset: int, limit: int
) -> list[Segment]:
    """The segments of a parsed text whose first line is ``lines[offset]``, before ``limit``."""
    found: list[Segment] = []
    floor = offset
    for statement in tree.body:
        start = _first_line(statement) - 1 + offset
        while start > floor and is_join(lines[start - 1]):
            start -= 1
        stop = _past_joins(statement, lines, offset, limit)
        if found and start < found[-1].stop:
            last = found.pop()
            segment = Segment(last.start, max(stop, last.stop), (*last.body, statement))
        else:
            segment = Segment(start, stop, (statement,))
        found.append(segment)
        floor = segment.stop
    return found


def segments_of_lines(found: Iterable[LogicalLine]) -> Iterator[Segment]:
    """The segments that logical lines make up."""
    first: LogicalLine | None = None
    last: LogicalLine | None = None
    for logical in found:
        if first is not None and last is not None and not _belongs(logical, first, last):
            yield Segment(first.start, last.stop)
            first = None
        if first is None:
            first = logical
        last = logical
    if first is not None and last is not None:
        yield Segment(first.start, last.stop)


def _belongs(logical: LogicalLine, first: LogicalLine, last: LogicalLine) -> bool:
    """Whether a logical line goes on with the segment that began with ``first``."""
    if logical.indent > 0:
        return True
    if last.word == "@" and last.indent == 0:
        return True
    return first.word in CLAUSES.get(logical.word, ())


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _past_joins(statement: ast.stmt, lines: Sequence[str], offset: int, limit: int) -> int:
    """The line behind a statement and the lines that backslashes join to its end."""
    stop = (statement.end_lineno or statement.lineno) + offset
    if not lines[stop - 1].endswith("\\"):
        return stop
    column = column_of_byte(lines[stop - 1], statement.end_col_offset or 0)
    tail = lines[stop - 1][column:]
    while tail.endswith("\\") and "#" not in tail and stop < limit:
        tail = lines[stop]
        stop += 1
    return stop
