"""Notebooks as one file, and the way back to their cells."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from device_lens.syntax.cells import CellPosition, CellRange
from device_lens.syntax.magics import plain_lines
from device_lens.syntax.notebook import (
    NotebookProblem,
    NotebookSource,
    notebook_of_texts,
    parse_notebook,
    read_notebook,
    replace_cells,
)
from device_lens.syntax.position import Position, span
from device_lens.syntax.source import SourceFile


def _ipynb(cells: list[tuple[str, Any]], indent: int | None = 1, **metadata: Any) -> str:
    raw = [{"cell_type": kind, "metadata": {}, "source": source} for kind, source in cells]
    data = {"cells": raw, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(data, indent=indent, ensure_ascii=False) + "\n"


def _read(text: str) -> NotebookSource:
    notebook = read_notebook(text)
    assert isinstance(notebook, NotebookSource)
    return notebook


@pytest.mark.parametrize(
    ("cell", "plain"),
    [
        ("%matplotlib inline\nx = 1", ["", "x = 1"]),
        ("if a:\n    !ls\n", ["if a:", "    pass", ""]),
        ("%%time\nx = 1", ["", "x = 1"]),
        ("\n# note\n%%capture out\nx = 1", ["", "# note", "", "x = 1"]),
        ("%%bash\necho 'x\nls", ["", "", ""]),
        ("%time y = f(x)", ["0    ;y = f(x)"]),
        ("    %timeit -n 10 f(x)", ["    0            ;f(x)"]),
        ("files = !ls *.py", ["files = ..."]),
        ("x?\n?x\nx.y??", ["", "", ""]),
        ("'''\n%d items\n!no\n'''", ["'''", "%d items", "!no", "'''"]),
        ("x = (a\n% b)\ny = a %b", ["x = (a", "% b)", "y = a %b"]),
        ("!pip install \\\n  torch\nx = 1", ["", "", "x = 1"]),
        ("x != y\nz = a != b", ["x != y", "z = a != b"]),
    ],
)
def test_magics(cell: str, plain: list[str]) -> None:
    assert plain_lines(cell) == plain


def test_cells_of_every_kind_are_counted() -> None:
    text = _ipynb(
        [("markdown", "# hi"), ("code", ["x = 1\n", "y = 2"]), ("raw", ""), ("code", "z = x")]
    )
    file = parse_notebook("a.ipynb", _read(text))
    assert file.text == "x = 1\ny = 2\nz = x"
    cell_map = file.cell_map
    assert cell_map is not None
    assert cell_map.to_cell(Position(2, 4)) == CellPosition(3, Position(0, 4))
    assert cell_map.from_cell(CellPosition(1, Position(1, 0))) == Position(1, 0)
    assert cell_map.from_cell(CellPosition(0, Position(0, 0))) is None
    assert cell_map.from_cell(CellPosition(1, Position(2, 0))) is None
    assert cell_map.range_to_cell(span(2, 0, 2, 5)) == CellRange(3, span(0, 0, 0, 5))
    assert cell_map.range_to_cell(span(1, 0, 2, 5)) is None
    assert cell_map.range_from_cell(CellRange(3, span(0, 0, 0, 5))) == span(2, 0, 2, 5)
    assert cell_map.cell_of_line(1) == 1


def test_a_broken_cell_leaves_the_others_alone() -> None:
    file = parse_notebook("a.ipynb", notebook_of_texts(["x = (", "'''", "y = 1", None, "await z"]))
    assert [len(chunk.body) for chunk in file.chunks] == [1, 1, 1, 1]
    assert [problem.range.start.line for problem in file.problems] == [0, 1]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "nope", '{"cells": 3}', "[" * 100_000, '{"worksheets": [3]}', "\x00"],
)
def test_what_is_no_notebook(text: str) -> None:
    result = read_notebook(text)
    assert isinstance(result, NotebookProblem) or result.cells == ()


def test_old_format_and_other_languages() -> None:
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1"]}]}]}
    assert [cell.text for cell in _read(json.dumps(old)).cells] == ["x = 1"]
    r = _ipynb([("code", "x <- 1")], kernelspec={"language": "R"})
    assert _read(r).cells == ()


@pytest.mark.parametrize("indent", [1, 4, None])
def test_replacing_cells_keeps_the_rest(indent: int | None) -> None:
    text = _ipynb([("markdown", "# é"), ("code", ["x = 1\n", "y = 2"]), ("code", "z")], indent)
    new = replace_cells(text, {1: "x = 3\ny = 2"})
    assert new == text.replace("x = 1", "x = 3")
    assert replace_cells(text, {2: "w"}) == text.replace('"z"', '"w"')
    assert isinstance(replace_cells(text, {0: ""}), NotebookProblem)
    assert isinstance(replace_cells("x", {}), NotebookProblem)


def test_replacing_cells_keeps_line_ends() -> None:
    text = _ipynb([("code", ["x = 1\n", "y = 2"])], 1).replace("\n", "\r\n") + "\r\n"
    assert replace_cells(text, {0: "x = 3\ny = 2"}) == text.replace("x = 1", "x = 3")


def test_replacing_cells_keeps_what_is_written() -> None:
    """Outputs, escapes and the form of each list stay, whoever wrote them."""
    text = (
        '\ufeff{"nbformat":4, "metadata": {"a": [ ], "b": {}},\n "cells" : [\n'
        '  {"cell_type": "markdown", "source": [ ]},\n'
        '  {"source": [ "x = 1\\n",   "y = \\"\\u00e9\\"\\n", "z" ], "cell_type": "code",\n'
        '   "outputs": [{"text": [ ], "n": 1.0e3}]},\n'
        '  {"cell_type": "code", "source": ["one"], "outputs": []},\n'
        '  {"cell_type": "code", "source": "s\\u0041"} ] }\n'
    )
    assert replace_cells(text, {1: 'x = 1\ny = "é"\nz', 3: "sA"}) == text
    changed = replace_cells(text, {1: 'x = 2\ny = "é"\nz', 3: "sA"})
    assert changed == text.replace("x = 1", "x = 2")
    longer = replace_cells(text, {1: 'x = 1\ny = "é"\nw\nz'})
    assert longer == text.replace('"z" ]', '"w\\n",   "z" ]')
    shorter = replace_cells(text, {1: "x = 1\nz"})
    assert shorter == text.replace('"y = \\"\\u00e9\\"\\n", "z"', '"z"')
    assert replace_cells(text, {1: 'x = 1\ny = "é"\n'}) == text.replace(', "z" ]', " ]")
    assert replace_cells(text, {2: "one\ntwo"}) == text.replace('["one"]', '["one\\n", "two"]')
    assert replace_cells(text, {2: ""}) == text.replace('["one"]', "[]")


CELLS = st.lists(
    st.sampled_from(
        ["x = 1", "def f():\n    return x\n", "%time f()", "'''", "x = (\n", "", "a\n\nb"]
    ),
    max_size=6,
)


def _picture(file: SourceFile) -> list[Any]:
    return [file.text, file.problems, file.starts, file.cell_map] + [
        [ast.dump(one) for one in chunk.body] for chunk in file.chunks
    ]


@settings(deadline=None)
@given(CELLS, CELLS)
def test_edits_equal_a_fresh_parse(before: list[str], after: list[str]) -> None:
    old = parse_notebook("a.ipynb", notebook_of_texts(before))
    new = parse_notebook("a.ipynb", notebook_of_texts(after), old)
    assert _picture(new) == _picture(parse_notebook("a.ipynb", notebook_of_texts(after)))
    assert len(set(map(id, new.chunks))) == len(new.chunks)


@given(CELLS)
def test_places_survive_the_way_through_the_cells(cells: list[str]) -> None:
    file = parse_notebook("a.ipynb", notebook_of_texts(["x", None, *cells]))
    assert file.cell_map is not None
    for number, line in enumerate(file.lines.lines):
        for column in range(len(line) + 1):
            place = file.cell_map.to_cell(Position(number, column))
            assert place is not None
            assert file.cell_map.from_cell(place) == Position(number, column)


def test_moved_cells_keep_their_chunks() -> None:
    old = parse_notebook("a.ipynb", notebook_of_texts(["x = 1", "y = 2", "z = 3"]))
    new = parse_notebook("a.ipynb", notebook_of_texts(["z = 3", "x = 1", "y = 4"]), old)
    assert new.chunks[0] is old.chunks[2]
    assert new.chunks[1] is old.chunks[0]


def test_very_many_cells_are_parsed_again_one_by_one() -> None:
    texts = [f"x{number} = {number}" for number in range(4_000)]
    before = parse_notebook("a.ipynb", notebook_of_texts(texts))
    texts[2_000] = "y = 1"
    after = parse_notebook("a.ipynb", notebook_of_texts(texts), before)
    assert (
        sum(mine is not theirs for mine, theirs in zip(before.chunks, after.chunks, strict=True))
        == 1
    )


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        '{"cells": ' + "[" * 200_000,
        '{"cells": [{"cell_type": "code", "source": ' + "9" * 100_000 + "}]}",
        '{"a":' * 100_000 + "1" + "}" * 100_000,
    ],
)
def test_a_file_made_to_be_expensive_is_no_notebook(text: str) -> None:
    found = read_notebook(text)
    assert isinstance(found, NotebookProblem)
