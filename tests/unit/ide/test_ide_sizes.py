"""The sizes that are shown of an expression are those of every time that it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from device_lens.ide.project import Project
from device_lens.interpreter.facts import Kind

LOOPS = {
    "twice as long": ("torch.zeros(3)", "torch.cat([value, value])", (None,)),
    "one shorter": ("torch.zeros(8)", "value[:-1]", (None,)),
    "one axis more": ("torch.zeros(3, 4)", "value.unsqueeze(0)", None),
    "one of two": ("torch.zeros(3, 4)", "torch.cat([value, value])", (None, 4)),
    "an array": ("np.zeros((2, 2))", "np.concatenate([value, value])", (None, None)),
    "the same": ("torch.zeros(3, 4)", "value * 2", (3, 4)),
}


def shapes(tmp_path: Path, text: str) -> dict[str, Any]:
    """The shapes of the expressions of a program, by line and text."""
    path = tmp_path / "program.py"
    path.write_text(text, encoding="utf-8")
    found = Project(str(tmp_path)).analyse(str(path))
    source = text.split("\n")
    expressions = {}
    for each in found.facts.expressions:
        node = each.site.node
        part = source[node.lineno - 1][node.col_offset : node.end_col_offset]
        expressions[f"{node.lineno} {part}"] = each.shape
    return expressions


@pytest.mark.parametrize(("first", "step", "shape"), LOOPS.values(), ids=LOOPS)
@pytest.mark.parametrize("loop", ["for _ in range(10):", "for _ in unknown:", "while unknown():"])
def test_a_size_that_changes_in_a_loop_is_not_known(
    tmp_path: Path, first: str, step: str, shape: Any, loop: str
) -> None:
    head = "import numpy as np\nimport torch\nfrom elsewhere import unknown\n"
    text = f"{head}value = {first}\n{loop}\n    value = {step}\nend = torch.as_tensor(value)\n"
    found = shapes(tmp_path, text)
    assert found["7 end"] == shape
    assert found.get(f"6 {step}", shape) == shape  # arrays are none of the expressions


def test_a_function_has_the_sizes_of_all_its_calls(tmp_path: Path) -> None:
    text = """\
import torch


def double(value):
    return value * 2


double(torch.zeros(8, 3))
double(torch.zeros(5, 3))
"""
    found = shapes(tmp_path, text)
    assert found["5 value * 2"] == (None, 3)
    assert found["8 torch.zeros(8, 3)"] == (8, 3)


def test_a_module_that_nobody_calls_for_has_its_size(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    text = "from torch import nn\n\n\ndef made():\n    return nn.Linear(1, 7)\n"
    path.write_text(text, encoding="utf-8")
    found = Project(str(tmp_path)).analyse(str(path))
    (module,) = (each for each in found.facts.expressions if each.kind is Kind.MODULE)
    assert (module.bytes, module.parameter_count) == (56, 14)
