"""Edits of a notebook's text, carried over to its cells.

The text that is analysed has IPython's magics blanked out, so an edit is applied to the cell as
it is written, and refused where it touches a magic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from device_lens.fixes.edit import Edit, OverlapError, apply_edits
from device_lens.rules.finding import Finding
from device_lens.syntax.cells import CellRange
from device_lens.syntax.notebook import NotebookSource, notebook_of_texts, parse_notebook
from device_lens.syntax.position import LineIndex, Range
from device_lens.syntax.source import SourceFile


class NotebookVersions:
    """The texts that a notebook has had while it was fixed, each with its cells.

    A new text is recognised by the fix that makes it out of an earlier one.
    """

    def __init__(self, source: SourceFile, notebook: NotebookSource) -> None:
        self._versions: dict[str, tuple[SourceFile, NotebookSource]] = {}
        self._findings: dict[str, Sequence[Finding]] = {}
        self._versions[source.text] = (source, notebook)

    def learn(self, text: str, findings: Sequence[Finding]) -> None:
        """Notes what was found in a version, since its fixes make the next ones."""
        self._findings[text] = findings

    def notebook(self, text: str) -> NotebookSource | None:
        """The cells of a version; None for a text that no known fix makes."""
        if text not in self._versions:
            made = self._made(text)
            if made is None:
                return None
            self._versions[text] = made
        return self._versions[text][1]

    def _made(self, text: str) -> tuple[SourceFile, NotebookSource] | None:
        for before, findings in reversed(self._findings.items()):
            source, notebook = self._versions[before]
            for edits in _edits(findings, source.path):
                if _applied(before, edits) != text:
                    continue
                changed = edit_cells(source, notebook, edits)
                if changed is not None:
                    return parse_notebook(source.path, changed, source), changed
        return None


def edit_cells(
    source: SourceFile, notebook: NotebookSource, edits: Iterable[Edit]
) -> NotebookSource | None:
    """The notebook after edits of its text; None where they cannot be said of its cells."""
    by_cell: dict[int, list[Edit]] = {}
    for edit in edits:
        where = cell_range(source, edit.range)
        if where is None:
            return None
        by_cell.setdefault(where.cell, []).append(Edit(edit.path, where.range, edit.new_text))
    texts: list[str | None] = [None] * (
        1 + max((each.number for each in notebook.cells), default=-1)
    )
    for place, cell in enumerate(notebook.cells):
        mine = by_cell.get(cell.number, [])
        if not all(_is_as_written(source, place, cell.text, each.range) for each in mine):
            return None
        changed = _applied(cell.text, mine)
        if changed is None:
            return None
        texts[cell.number] = changed
    return notebook_of_texts(texts)


def cell_range(source: SourceFile, where: Range) -> CellRange | None:
    """A range in its cell; one that takes the last line with its end stops before that end."""
    cells = source.cell_map
    if cells is None:
        return None
    start = cells.to_cell(where.start)
    if start is None:
        return None
    end = cells.to_cell(where.end)
    if end is not None and end.cell == start.cell:
        return CellRange(start.cell, Range(start.position, end.position))
    place = cells.numbers.index(start.cell)
    behind = cells.starts[place] + cells.counts[place]
    if where.end.line != behind or where.end.column:
        return None
    last = LineIndex("\n".join(source.lines.lines[cells.starts[place] : behind])).end
    return CellRange(start.cell, Range(start.position, last))


def _edits(findings: Sequence[Finding], path: str) -> Iterable[tuple[Edit, ...]]:
    for finding in findings:
        for fix in finding.fixes:
            mine = tuple(edit for edit in fix.edits if edit.path == path)
            if mine:
                yield mine


def _applied(text: str, edits: Sequence[Edit]) -> str | None:
    try:
        return apply_edits(text, edits)
    except OverlapError:
        return None


def _is_as_written(source: SourceFile, place: int, text: str, where: Range) -> bool:
    """Whether the lines of a range are the same in the cell as in the analysed text."""
    assert source.cell_map is not None
    start = source.cell_map.starts[place]
    written = LineIndex(text)
    lines = range(where.start.line, where.end.line + 1)
    return all(written.line(each) == source.lines.line(start + each) for each in lines)
