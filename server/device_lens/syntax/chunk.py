"""A top-level statement as a unit of its own, shared between the versions of a file."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property

from device_lens.syntax.position import Position, Range, column_of_byte
from device_lens.syntax.problems import SyntaxProblem, problem_of
from device_lens.syntax.quiet import legible


@dataclass(frozen=True, slots=True)
class Splice:
    """What an edit did to one block: from `start` on, `removed` statements went and `added` ones
    came. All others are the nodes that they were. `owner` is the function, a new node, or the
    statement of the top level that has the block in it; None where the block is the top level."""

    owner: ast.stmt | None
    block: list[ast.stmt]
    start: int
    removed: int
    added: int

    @property
    def is_in_function(self) -> bool:
        """Whether a function has the block in it."""
        return isinstance(self.owner, ast.FunctionDef | ast.AsyncFunctionDef)


@dataclass(frozen=True, eq=False)
class Chunk:
    """One top-level statement (or several that share a line), parsed on its own.

    The object is the same in every version of a file in which its text stands unchanged, and
    occurs at most once in a file: the pair (chunk, node) is a place, and what is known of a node
    holds for as long as its chunk, or one of the same lineage, has it. Positions are relative to
    the chunk's first line.
    """

    body: tuple[ast.stmt, ...]
    """What parses; of a ``broken`` chunk what is left when the broken statements are taken out."""
    text: str
    """Whole lines, joined with ``\\n``, without the last line's end."""
    first_line: int
    """The ``lineno`` that the nodes give to the chunk's first line."""
    broken: bool = False
    """Whether the text does not parse as it is."""
    omitted: tuple[tuple[int, int], ...] = ()
    """The stretches of lines, from a first to before a last, that were left out as broken."""
    mended: tuple[tuple[int, int], ...] = ()
    """Those for which the tree has anything else than what they say."""
    lineage: object = field(default_factory=object)
    """What chunks share that follow one another in the versions of a file and keep nodes of the
    one before (`grafting.py`, `splicing.py`): a node that was kept has its place in the newest of
    them."""
    revision: int = 0
    """How many chunks of the lineage gave their statements to the next one."""
    splice: Splice | None = None
    """What sets the chunk apart from the one whose statements it took."""

    @property
    def used_up(self) -> bool:
        """Whether the nodes belong to a later chunk: they stand where they stand there."""
        return "_used_up" in self.__dict__

    def use_up(self) -> None:
        """Gives the nodes away."""
        self.__dict__["_used_up"] = True

    @cached_property
    def problem(self) -> SyntaxProblem | None:
        """Why the text does not parse; most of those who edit never ask."""
        return problem_of(self.text) if self.broken else None

    @cached_property
    def line_count(self) -> int:
        """How many lines the chunk takes."""
        return self.text.count("\n") + 1

    @cached_property
    def _lines(self) -> list[str]:
        return legible(self.text).split("\n")

    def range(self, node: ast.AST) -> Range:
        """Where a node of this chunk stands, relative to the chunk; the whole chunk for a node
        that has no place of its own."""
        first: int | None = getattr(node, "lineno", None)
        if first is None:
            return self.whole
        last: int = getattr(node, "end_lineno", None) or first
        column: int = node.col_offset  # type: ignore[attr-defined]
        end_column: int = getattr(node, "end_col_offset", None) or column
        return Range(self._position(first, column), self._position(last, end_column))

    @cached_property
    def whole(self) -> Range:
        """From the chunk's first character to its last."""
        last = self.text.rpartition("\n")[2]
        return Range(Position(0, 0), Position(self.line_count - 1, len(last)))

    def line(self, number: int) -> str:
        """The text of one of the chunk's lines, counted from its first; empty outside it."""
        return self._lines[number] if 0 <= number < len(self._lines) else ""

    def _position(self, lineno: int, byte: int) -> Position:
        line = lineno - self.first_line
        # What stands for broken code may be longer than it: its places are clamped to the line.
        if not self.broken and self.text.isascii():
            return Position(line, byte)
        return Position(line, column_of_byte(self.line(line), byte))
