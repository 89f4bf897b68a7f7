"""The JSON of `explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ide_programs import LOOP, analysed, position_of

from device_lens.ide.explain import explain
from device_lens.ide.locations import Printer
from device_lens.syntax.position import Position

NOTEBOOK = """\
{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
 {"cell_type": "markdown", "metadata": {}, "source": "# Title"},
 {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": null,
  "source": ["import torch\\n", "x = torch.ones(3)"]},
 {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": null,
  "source": ["\\n", "y = x.cuda()"]}
]}
"""


def explained(
    folder: Path, text: str, name: str = "main.py", position: Position | None = None
) -> dict[str, Any]:
    found = analysed(folder, text, name)
    printer = Printer(str(folder), found.sources)
    return explain(found.facts, found.sources, found.costs, printer, position)


def span(line: int, column: int, end_line: int, end_column: int) -> dict[str, dict[str, int]]:
    return {
        "start": {"line": line, "column": column},
        "end": {"line": end_line, "column": end_column},
    }


def test_an_expression(tmp_path: Path) -> None:
    found = explained(tmp_path, LOOP)
    assert found["version"] == 1
    assert found["file"] == "main.py"
    (batch,) = [each for each in found["expressions"] if each["range"] == span(6, 5, 6, 10)]
    trail = batch.pop("trail")
    assert batch == {
        "range": span(6, 5, 6, 10),
        "text": "batch",
        "kind": "tensor",
        "device": "cuda",
        "condition": "torch.cuda.is_available()",
        "alternatives": [{"condition": "not torch.cuda.is_available()", "device": "cpu"}],
        "shape": [64, 3, 224, 224],
        "dtype": "float32",
        "bytes": 38535168,
    }
    assert [(each["file"], each["cell"], each["range"]["start"]["line"]) for each in trail] == [
        ("main.py", None, 4),
        ("main.py", None, 6),
    ]


def test_a_transfer_and_a_synchronisation(tmp_path: Path) -> None:
    found = explained(tmp_path, LOOP)
    (transfer,) = found["transfers"]
    assert transfer.pop("estimate_us") > 1000
    assert transfer == {
        "range": span(6, 13, 6, 30),
        "from": "cpu",
        "to": "cuda",
        "bytes": 38535168,
        "loop_depth": 1,
        "loop_invariant": True,
        "estimate_source": "typical",
    }
    waits = {each["what"]: each["loop_depth"] for each in found["synchronizations"]}
    assert waits[".item()"] == 1


def test_entries_are_in_order(tmp_path: Path) -> None:
    starts = [each["range"]["start"] for each in explained(tmp_path, LOOP)["expressions"]]
    assert starts == sorted(starts, key=lambda each: (each["line"], each["column"]))


def test_a_position_names_the_innermost_expression(tmp_path: Path) -> None:
    at = position_of(LOOP, "images.to", 8)
    found = explained(tmp_path, LOOP, position=at)
    assert [each["text"] for each in found["expressions"]] == ["images.to(device)"]
    assert len(found["transfers"]) == 1
    at = position_of(LOOP, "images.to", 1)
    found = explained(tmp_path, LOOP, position=at)
    assert [each["text"] for each in found["expressions"]] == ["images"]
    assert found["transfers"] == []


def test_a_parameter_is_its_bare_name(tmp_path: Path) -> None:
    text = "import torch\n\n\ndef move(größe: torch.Tensor, d):\n    return größe.to(d)\n"
    found = explained(tmp_path, text)
    (parameter,) = [each for each in found["expressions"] if each["range"]["start"]["line"] == 4]
    assert (parameter["text"], parameter["range"]) == ("größe", span(4, 10, 4, 15))
    assert parameter["device"] is None


def test_lines_count_inside_a_notebooks_cell(tmp_path: Path) -> None:
    found = explained(tmp_path, NOTEBOOK, "book.ipynb")
    (y,) = [each for each in found["expressions"] if each["text"] == "y"]
    assert (y["cell"], y["range"]) == (2, span(2, 1, 2, 2))
    assert [(each["cell"], each["range"]["start"]["line"]) for each in y["trail"]] == [
        (1, 2),
        (2, 2),
    ]
