"""Why a text is not Python, and where that was noticed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from device_lens.syntax.position import Position, Range
from device_lens.syntax.quiet import Failure, parse_text, quiet


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """Why some text is left out of the tree, and where it was noticed."""

    message: str
    range: Range


def problem_of(text: str) -> SyntaxProblem | None:
    """What is wrong with a text, at places relative to it; None for one that parses."""
    with quiet():
        failure = parse_text(text)
    if isinstance(failure, Failure):
        return SyntaxProblem(failure.message, _place(failure, text.split("\n")))
    return _null_problem(text)


def _null_problem(text: str) -> SyntaxProblem | None:
    """Python refuses null bytes anywhere; the tree is made as if they were not there."""
    if "\0" not in text:
        return None
    head = text[: text.index("\0")]
    line, column = head.count("\n"), len(head.rpartition("\n")[2])
    where = Range(Position(line, column), Position(line, column + 1))
    return SyntaxProblem("source code cannot contain null bytes", where)


def _place(failure: Failure, lines: Sequence[str]) -> Range:
    """Where a failure was noticed: at least one character where the line has one."""
    start = _clamped(failure.line - 1, failure.column - 1, lines)
    end = _clamped(failure.end_line - 1, failure.end_column - 1, lines)
    if not failure.end_line or end <= start:
        end = Position(start.line, min(start.column + 1, len(lines[start.line])))
    return Range(start, end)


def _clamped(line: int, column: int, lines: Sequence[str]) -> Position:
    line = min(max(line, 0), len(lines) - 1)
    return Position(line, min(max(column, 0), len(lines[line])))
