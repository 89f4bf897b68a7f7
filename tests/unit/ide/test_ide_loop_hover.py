"""The hover on a loop's keyword tells what the loop moves."""

from __future__ import annotations

import pytest

from device_lens.ide.hover import Hover, hover
from device_lens.ide.project import Project
from device_lens.syntax.position import Position

PROGRAM = """\
import torch

noise = torch.randn(256, 1024)
for epoch in range(10):
    for step in range(100):
        x = noise.to("cuda")
        y = noise.to("cuda")
    while y.sum() > 0:
        z = noise.to("cuda")
for name in ["a", "b"]:
    print(name)
"""


@pytest.fixture(scope="module")
def hovers(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Hover | None]:
    """What is shown at the start of each line, its indentation left out."""
    path = tmp_path_factory.mktemp("loops") / "main.py"
    path.write_text(PROGRAM, encoding="utf-8")
    analysis = Project(str(path.parent)).analyse(str(path))
    return {
        number: hover(
            analysis.facts,
            Position(number, len(line) - len(line.lstrip()) + 1),
            analysis.costs,
            analysis.sources,
        )
        for number, line in enumerate(PROGRAM.splitlines())
    }


def test_a_loop_sums_its_transfers_over_an_iteration_and_over_all(
    hovers: dict[int, Hover | None],
) -> None:
    found = hovers[4]
    assert found is not None
    assert found.answer.startswith("each iteration: 2 transfers · 2.1 MB · ≈ ")
    assert " · all 100: ≈ " in found.answer
    assert found.markdown.count('- `noise.to("cuda")`: 1.05 MB') == 2
    assert (found.range.start, found.range.end) == (Position(4, 4), Position(4, 7))


def test_passes_that_are_not_known_are_not_summed(hovers: dict[int, Hover | None]) -> None:
    inner, outer = hovers[7], hovers[3]
    assert inner is not None
    assert inner.answer.startswith("each iteration: 1 transfer · 1.05 MB · ≈ ")
    assert "all" not in inner.answer
    assert outer is not None
    assert outer.answer == "each iteration: 3 transfers"
    assert "100 times" in outer.markdown
    assert "in each pass of a loop within" in outer.markdown


def test_a_loop_that_moves_nothing_has_none(hovers: dict[int, Hover | None]) -> None:
    assert hovers[9] is None
