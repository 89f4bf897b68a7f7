"""A file as the other rooms see it: its chunks, their places, its comments and its problems."""

from __future__ import annotations

import ast
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from device_lens.syntax.building import Layout, build, rebuild
from device_lens.syntax.cells import CellMap
from device_lens.syntax.chunk import Chunk
from device_lens.syntax.position import LineIndex, Range
from device_lens.syntax.problems import SyntaxProblem
from device_lens.syntax.suppressions import Suppressions, find_suppressions

__all__ = ["Chunk", "SourceFile", "SyntaxProblem", "parse"]


@dataclass(frozen=True, eq=False)
class SourceFile:
    """One version of a file. Immutable; versions share the chunks that did not change."""

    path: str
    text: str
    chunks: tuple[Chunk, ...]
    starts: tuple[int, ...]
    """The line at which each chunk starts."""
    lines: LineIndex
    suppressions: Suppressions
    cell_map: CellMap | None = None
    inside_out: bool = False
    """Whether an unclosed triple-quoted string made the split into chunks a guess."""

    @cached_property
    def problems(self) -> tuple[SyntaxProblem, ...]:
        """What does not parse, at absolute places."""
        return tuple(
            SyntaxProblem(chunk.problem.message, chunk.problem.range.shifted(start))
            for chunk, start in zip(self.chunks, self.starts, strict=True)
            if chunk.problem is not None
        )

    @cached_property
    def _placed(self) -> dict[int, tuple[Chunk, int]]:
        """The chunks with their first lines, by lineage."""
        return {
            id(chunk.lineage): (chunk, start)
            for chunk, start in zip(self.chunks, self.starts, strict=True)
        }

    def start_of(self, chunk: Chunk) -> int:
        """The line at which a chunk of this file starts; 0 for a chunk that is not in it."""
        placed = self._placed.get(id(chunk.lineage))
        return 0 if placed is None else placed[1]

    def range(self, chunk: Chunk, node: ast.AST) -> Range:
        """Where a node stands in the file."""
        own, start = self._placed.get(id(chunk.lineage), (chunk, 0))
        return own.range(node).shifted(start)

    def newest(self, chunk: Chunk) -> Chunk:
        """The chunk of this file that has taken over the nodes of one."""
        return self._placed.get(id(chunk.lineage), (chunk, 0))[0]

    def absolute(self, chunk: Chunk, relative: Range) -> Range:
        """A range relative to a chunk, as a range of the file."""
        return relative.shifted(self.start_of(chunk))

    def text_of(self, where: Range) -> str:
        """The text of a range, line ends as they are in the file."""
        return self.lines.slice(where)

    def chunk_at(self, line: int) -> Chunk | None:
        """The chunk that takes a line; None between statements."""
        number = bisect_right(self.starts, line) - 1
        if number < 0 or line >= self.starts[number] + self.chunks[number].line_count:
            return None
        return self.chunks[number]


def parse(path: str, text: str, previous: SourceFile | None = None) -> SourceFile:
    """Parse a text; with the version before it, only what may have changed.

    Never raises: what does not parse is left out and named in ``problems``. The result equals
    that of a parse without ``previous``, save that untouched chunks are the same objects.
    """
    if previous is not None and previous.text == text and previous.path == path:
        return previous
    lines = LineIndex(text)
    if previous is None:
        layout = build(lines.lines)
    else:
        old = Layout(list(previous.chunks), list(previous.starts), previous.inside_out)
        layout = rebuild(lines.lines, previous.lines.lines, old)
    return assemble(path, lines, layout)


def assemble(
    path: str, lines: LineIndex, layout: Layout, cell_map: CellMap | None = None
) -> SourceFile:
    """A file from its chunks."""
    return SourceFile(
        path,
        lines.text,
        tuple(layout.chunks),
        tuple(layout.starts),
        lines,
        find_suppressions(lines, layout),
        cell_map,
        layout.inside_out,
    )
