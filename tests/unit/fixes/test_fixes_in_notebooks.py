"""What a fix leaves of the value that a notebook shows below a cell."""

from __future__ import annotations

import ast

import pytest
from fix_snippets import find

from device_lens.fixes.assign_result import assign_result
from device_lens.fixes.edit import Safety, apply_edits
from device_lens.fixes.refill import Known
from device_lens.fixes.remove_transfer import remove_transfer
from device_lens.syntax.notebook import notebook_of_texts, parse_notebook


@pytest.mark.parametrize(
    ("cell", "after"),
    [
        ("y\nh.to(d)", "y\nh"),
        ("y = 1\nh.to(d);", "y = 1"),
        ("y\nh = h.to(d)", "y\npass"),
        ("print(y)\nh = h.to(d)  # c", "print(y)\n# c"),
        ("y = 1\nh = h.to(d);  # c", "y = 1\n# c"),
        ("h = h.to(d)\ny", "y"),
    ],
)
def test_what_a_cell_shows_stays(cell: str, after: str) -> None:
    notebook = parse_notebook("a.ipynb", notebook_of_texts(["f(h)", cell]))
    fix = remove_transfer(find(notebook, "h.to(d)", ast.Call))
    assert fix is not None
    assert apply_edits(notebook.text, fix.edits) == f"f(h)\n{after}"


@pytest.mark.parametrize(
    ("cell", "kept", "after"),
    [
        ("y = 1\nh.to(d)  # c", "h.to(d)", "y = 1\nh = h.to(d)  # c\nh"),
        ("y = 1; h.to(d)", "h.to(d)", "y = 1; h = h.to(d); h"),
        ("h.to(d);", "h.to(d)", "h = h.to(d);"),
        ("h.to(d), y.to(d)", "h.to(d)", "h, y = h.to(d), y.to(d)\nh, y"),
        ("h.to(d)\ny", "h.to(d)", "h = h.to(d)\ny"),
    ],
)
def test_what_a_cell_shows_it_shows_still(cell: str, kept: str, after: str) -> None:
    notebook = parse_notebook("a.ipynb", notebook_of_texts(["f(h)", cell]))
    fix = assign_result(find(notebook, kept, ast.Call), True, Known(lambda _: "list"))
    assert fix is not None
    assert fix.safe
    assert apply_edits(notebook.text, fix.edits) == f"f(h)\n{after}"


def test_a_shown_container_is_not_filled_anew_silently() -> None:
    notebook = parse_notebook("a.ipynb", notebook_of_texts(["hs = [h]", "[h.to(d) for h in hs]"]))
    fix = assign_result(find(notebook, "h.to(d)", ast.Call), True, Known(lambda _: "list"))
    assert fix is not None
    assert fix.safety is Safety.UNSAFE
