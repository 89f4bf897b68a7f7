"""Notebooks: the code cells in order, as one file with a map back to the cells."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from device_lens.syntax.building import Layout, rebuild
from device_lens.syntax.cells import CellMap
from device_lens.syntax.json_spans import Span, items, members, value_at, with_items
from device_lens.syntax.magics import plain_lines
from device_lens.syntax.position import LineIndex
from device_lens.syntax.source import SourceFile, assemble


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell: its number among cells of every kind, from 0, and its text as written."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class NotebookSource:
    """The code cells of a notebook, in order."""

    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class NotebookProblem:
    """Why a text is not a notebook."""

    message: str


def notebook_of_texts(texts: Sequence[str | None]) -> NotebookSource:
    """A notebook from its cells' texts in order; None stands for a cell that is not code."""
    return NotebookSource(
        tuple(Cell(number, text) for number, text in enumerate(texts) if text is not None)
    )


def read_notebook(text: str) -> NotebookSource | NotebookProblem:
    """The code cells of an ``.ipynb`` file's text. One in another language has none."""
    data = _load(text)
    if isinstance(data, NotebookProblem):
        return data
    cells = _raw_cells(data)
    if cells is None:
        return NotebookProblem("not a notebook: it has no list of cells")
    if _language(data) not in ("", "python", "ipython"):
        return NotebookSource(())
    return notebook_of_texts([_code(cell) for cell in cells])


def replace_cells(text: str, new_texts: Mapping[int, str]) -> str | NotebookProblem:
    """An ``.ipynb`` file's text with some cells' sources replaced, by cell number.

    All else stays as it is written, and so do lines that a new text has as well.
    """
    data = _load(text)
    if isinstance(data, NotebookProblem):
        return data
    cells = _raw_cells(data)
    if cells is None:
        return NotebookProblem("not a notebook: it has no list of cells")
    spans = _cell_spans(text)
    edits: list[tuple[Span, str]] = []
    for number, new_text in new_texts.items():
        if not 0 <= number < len(cells) or _code(cells[number]) is None:
            return NotebookProblem(f"cell {number} is not a code cell")
        if _code(cells[number]) == new_text:
            continue
        key = "source" if "source" in cells[number] else "input"
        span = members(text, spans[number][0])[key]
        if isinstance(cells[number][key], list):
            edits.append((span, with_items(text, span, _kept_ends(new_text))))
        else:
            edits.append((span, json.dumps(new_text, ensure_ascii=text.isascii())))
    for (start, stop), written in sorted(edits, reverse=True):
        text = text[:start] + written + text[stop:]
    return text


def parse_notebook(
    path: str, notebook: NotebookSource, previous: SourceFile | None = None
) -> SourceFile:
    """The notebook as one file. Cells are parsed apart: a broken one leaves the others alone.

    The text is the cells' with IPython's additions taken out, each cell from a line of its own.
    """
    texts = [plain_lines(cell.text) for cell in notebook.cells]
    layouts = _layouts(texts, _old_cells(previous))
    starts: list[int] = []
    whole = Layout()
    lines: list[str] = []
    for cell_lines, layout in zip(texts, layouts, strict=True):
        starts.append(len(lines))
        whole.inside_out |= layout.inside_out
        whole.chunks += layout.chunks
        whole.starts += [len(lines) + start for start in layout.starts]
        lines += cell_lines
    numbers = tuple(cell.number for cell in notebook.cells)
    cell_map = CellMap(numbers, tuple(starts), tuple(map(len, texts)))
    return assemble(path, LineIndex("\n".join(lines)), whole, cell_map)


_OldCell = tuple[list[str], Layout]


def _old_cells(previous: SourceFile | None) -> list[_OldCell | None]:
    """Lines and chunks of each cell of an older version."""
    if previous is None or previous.cell_map is None:
        return []
    found: list[_OldCell | None] = []
    for start, count in zip(previous.cell_map.starts, previous.cell_map.counts, strict=True):
        first = bisect_left(previous.starts, start)
        stop = bisect_left(previous.starts, start + count)
        starts = [line - start for line in previous.starts[first:stop]]
        layout = Layout(list(previous.chunks[first:stop]), starts, previous.inside_out)
        found.append((previous.lines.lines[start : start + count], layout))
    return found


def _layouts(texts: list[list[str]], old: list[_OldCell | None]) -> list[Layout]:
    """The chunks of each cell: those of the same cell, moved or not, else of the one in its
    place, each old cell used at most once."""
    taken: dict[int, _OldCell] = {}
    by_text: dict[str, list[int]] = {}
    for place, cell in reversed(list(enumerate(old))):
        if cell is not None:
            by_text.setdefault("\n".join(cell[0]), []).append(place)
    for number, lines in enumerate(texts):
        if same := by_text.get("\n".join(lines)):
            place = same.pop()
            taken[number] = old[place] or ([], Layout())
            old[place] = None
    for number in range(min(len(texts), len(old))):
        candidate = old[number]
        if number not in taken and candidate is not None:
            taken[number], old[number] = candidate, None
    return [rebuild(lines, *taken.get(n, ((), Layout()))) for n, lines in enumerate(texts)]


def _load(text: str) -> Any:
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except ValueError as error:
        return NotebookProblem(f"not a notebook: {error}")
    except (RecursionError, MemoryError):
        return NotebookProblem("not a notebook: too deeply nested")


def _raw_cells(data: Any) -> list[Any] | None:
    """The cells of a notebook of format 4, or of format 3 with its worksheets."""
    if not isinstance(data, dict):
        return None
    if isinstance(data.get("cells"), list):
        return list(data["cells"])
    sheets = data.get("worksheets")
    if not isinstance(sheets, list):
        return None
    lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
    return [cell for cells in lists if isinstance(cells, list) for cell in cells]


def _cell_spans(text: str) -> list[Span]:
    """Where the cells stand in the text of a notebook."""
    whole = members(text, value_at(text, len(text) - len(text.removeprefix("\ufeff")))[0])
    if "cells" in whole and text[whole["cells"][0]] == "[":
        return items(text, whole["cells"][0])
    sheets = [start for start, _ in items(text, whole["worksheets"][0]) if text[start] == "{"]
    lists = [members(text, start).get("cells") for start in sheets]
    return [
        cell for each in lists if each and text[each[0]] == "[" for cell in items(text, each[0])
    ]


def _code(cell: Any) -> str | None:
    """The text of a code cell; None for any other."""
    if not isinstance(cell, dict) or cell.get("cell_type") != "code":
        return None
    source = cell.get("source", cell.get("input"))
    if isinstance(source, list):
        return "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else None


def _language(data: dict[str, Any]) -> str:
    """The notebook's language in lower case, without its version; empty where it is not said."""
    metadata = data.get("metadata")
    for section, key in (("language_info", "name"), ("kernelspec", "language")):
        part = metadata.get(section) if isinstance(metadata, dict) else None
        name = part.get(key) if isinstance(part, dict) else None
        if isinstance(name, str):
            return name.lower().rstrip("0123456789.")
    return ""


def _kept_ends(text: str) -> list[str]:
    """Lines with their ends, as notebooks store them."""
    index = LineIndex(text)
    bounds = [*index.starts, len(text)]
    lines = [text[start:stop] for start, stop in pairwise(bounds)]
    return [line for line in lines if line]
