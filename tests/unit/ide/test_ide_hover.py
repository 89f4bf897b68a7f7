"""What hovers say, and where they say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from ide_programs import LOOP, analysed, position_of

from device_lens.ide.hover import Hover, hover
from device_lens.ide.project import Project
from device_lens.project.files import FileStore


def hovered(folder: Path, text: str, part: str, inside: int = 0) -> Hover | None:
    found = analysed(folder, text)
    at = position_of(text, part, inside)
    return hover(found.facts, at, found.costs, found.sources, lambda place: f"to:{place.range}")


def test_a_transfer_in_a_loop(tmp_path: Path) -> None:
    found = hovered(tmp_path, LOOP, "images.to", 7)
    assert found is not None
    assert found.answer.startswith("cpu → cuda")
    assert "float32 [64, 3, 224, 224] · 38.5 MB · ≈ " in found.answer
    assert found.answer.endswith(" each iteration")
    assert found.markdown.startswith(f"`{found.answer}`")
    assert "when `torch.cuda.is_available()`, else `cpu`\n" in found.markdown
    names = "pageable (this one) | pinned | `non_blocking` | all 100 passes | above the loop saves"
    assert f"\n\n| {names} |\n| :-- | :-- | :-- | :-- | :-- |\n| ≈ " in found.markdown
    assert "Estimated for typical PCIe 4.0 x16." in found.markdown
    assert "main.py:4](<to:" in found.markdown


@pytest.mark.parametrize(
    ("part", "inside", "answer"),
    [
        ("images = ", 0, "cpu · float32 [64, 3, 224, 224] · 38.5 MB"),
        ("images = ", 6, "cpu · float32 [64, 3, 224, 224] · 38.5 MB"),
        ("device)", 0, "device cuda (the current CUDA device)"),
        ("batch.sum", 0, "cuda · float32 [64, 3, 224, 224] · 38.5 MB"),
        ("loss.item", 0, "cuda · float32 [] · 4 B"),
    ],
)
def test_values(tmp_path: Path, part: str, inside: int, answer: str) -> None:
    found = hovered(tmp_path, LOOP, part, inside)
    assert found is not None
    assert found.answer == answer


@pytest.mark.parametrize("part", ["import", "100", "print"])
def test_what_is_no_tensor_says_nothing(tmp_path: Path, part: str) -> None:
    assert hovered(tmp_path, LOOP, part) is None


def test_a_moved_module_is_the_same_module(tmp_path: Path) -> None:
    text = "from torch import nn\n\nmodel = nn.Linear(3, 4)\nm = model.to('cuda')\n"
    found = hovered(tmp_path, text, "model.to", 7)
    assert found is not None
    assert found.answer.startswith("cpu → cuda")
    assert "The same module as `model`" in found.markdown


def test_a_discarded_transfer_says_what_its_diagnostic_does_not(tmp_path: Path) -> None:
    text = "import torch\n\nx = torch.ones(2)\n{}x.to('cuda')\n"
    found = hovered(tmp_path, text.format(""), "x.to", 2)
    kept = hovered(tmp_path, text.format("x = "), "x.to", 2)
    assert found is not None
    assert kept is not None
    assert found.answer.startswith("cpu → cuda")
    assert found.markdown == kept.markdown


def test_text_of_the_program_is_no_markup(tmp_path: Path) -> None:
    text = (
        "import torch\n\n\ndef f(x):\n"
        "    y = x['](command:evil) <b> `tick`'].to('cuda')\n    return y\n"
    )
    found = hovered(tmp_path, text, "y = ")
    assert found is not None
    assert "](command:evil)" not in found.markdown.replace("\\]\\(", "")


OVERLAP = "import torch\n\nx = torch.ones(9){}\ny = x.to('cuda', non_blocking=True)\n"


@pytest.mark.parametrize(
    ("pinned", "said"),
    [(".pin_memory()", "| overlaps |"), ("", "| waits: not pinned |")],
)
def test_non_blocking_is_told_for_what_it_does(tmp_path: Path, pinned: str, said: str) -> None:
    found = hovered(tmp_path, OVERLAP.format(pinned), "x.to", 2)
    assert found is not None
    assert said in found.markdown


def test_a_hover_fits_without_scrolling(tmp_path: Path) -> None:
    """VS Code shows about eleven lines of text; a table's rule takes none of its own."""
    found = hovered(tmp_path, LOOP, "images.to", 7)
    assert found is not None
    lines = [line for line in found.markdown.splitlines() if line and not line.startswith("| :--")]
    assert len(lines) <= 8


@pytest.mark.parametrize("made", ["nn.Linear(2, 2)", "torch.ones(2)"])
def test_of_two_ways_the_usual_one_is_told(tmp_path: Path, made: str) -> None:
    text = (
        "import argparse\n\nimport torch\nfrom torch import nn\n\n"
        "parser = argparse.ArgumentParser()\n"
        'parser.add_argument("--first", action="store_true")\n'
        f"moved = {made}\n"
        "if parser.parse_args().first:\n    moved = moved.cuda(1)\n"
        'else:\n    moved = moved.to("cuda:0")\nprint(moved)\n'
    )
    found = hovered(tmp_path, text, "print(moved", 8)
    assert found is not None
    assert "cuda:0" in found.answer
    assert "[main.py:12](" in found.markdown
    assert "[main.py:10](" not in found.markdown


def test_a_notebooks_cell_is_told_by_the_number_that_messages_have(
    tmp_path: Path,
) -> None:
    path = tmp_path / "book.ipynb"
    store = FileStore()
    store.put_notebook(str(path), 1, ["# Title", "import torch", "x = torch.rand(2)\ny = x + 1"])
    found = Project(str(tmp_path)).analyse(str(path), store.snapshot())
    cells = found.facts.source.cell_map
    assert cells is not None
    at = found.facts.source.lines.position(found.facts.source.text.index("y = x") + 4)
    said = hover(found.facts, at, found.costs, found.sources, None)
    assert said is not None
    assert "(cell 2, line 1)" in said.markdown


@pytest.mark.parametrize(
    ("layers", "answer"),
    [
        ("[nn.Linear(10, 10) for _ in range(30)]", "13.2 kB"),
        ("[nn.Sequential(nn.Linear(10, 10), nn.ReLU()) for _ in range(30)]", "13.2 kB"),
        ("[copy.deepcopy(layer) for _ in range(30)]", "13.2 kB"),
        ("[layer for _ in range(30)]", "cpu"),
        ("[nn.Linear(10, 10) for _ in range(int(input()))]", "cpu"),
        ("[nn.Linear(10, 10) for n in range(30) if n % 2]", "cpu"),
    ],
)
def test_layers_that_a_comprehension_makes_are_counted(
    tmp_path: Path, layers: str, answer: str
) -> None:
    made = "import copy\nfrom torch import nn\nlayer = nn.Linear(10, 10)\n"
    text = f"{made}net = nn.Sequential(*{layers})\n"
    found = hovered(tmp_path, text, "net = ")
    assert found is not None
    assert answer in found.answer
    assert ("kB" in found.answer) is ("kB" in answer)
