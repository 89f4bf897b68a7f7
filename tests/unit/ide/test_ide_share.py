"""How much of the local accelerator a module takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from device_lens.ide.costs import Costs
from device_lens.ide.hover import hover
from device_lens.ide.project import Project
from device_lens.syntax.position import Position

GIB = 1 << 30


@pytest.mark.parametrize(
    ("size", "device", "said"),
    [
        (GIB // 2, "cuda:0", "2 % of cuda:0's memory"),
        (GIB // 2, "cuda", "2 % of cuda:0's memory"),
        (GIB // 2, "cpu", "2 % of cuda:0's memory"),
        (30 * GIB, "cuda:0", "more than cuda:0 holds"),
        (GIB, "cuda:1", None),
        (GIB, "mps", None),
    ],
)
def test_the_share_of_a_device(size: int, device: str, said: str | None) -> None:
    assert Costs(memory={"cuda:0": 25 * GIB, "cuda:2": 0}).share(size, device) == said


def test_the_hover_of_a_module_tells_its_share(tmp_path: Path) -> None:
    path = tmp_path / "main.py"
    path.write_text("from torch import nn\n\nnet = nn.Linear(1024, 1024)\n", encoding="utf-8")
    project = Project(str(tmp_path))
    project.memory = {"cuda:0": GIB}
    analysis = project.analyse(str(path))
    found = hover(analysis.facts, Position(2, 1), analysis.costs, analysis.sources)
    assert found is not None
    assert found.answer == "module on cpu · 1.05 M parameters · 4.2 MB · 0.39 % of cuda:0's memory"
