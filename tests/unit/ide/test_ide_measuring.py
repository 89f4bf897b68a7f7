"""Costs that were measured, and what is said where there is no measurement."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from ide_programs import LOOP, analysed, position_of

from device_lens.cost.transfer import TransferCost
from device_lens.ide.costs import Measurable
from device_lens.ide.hover import Hover, hover
from device_lens.ide.measuring import Standing, standing_note

WANTED = Measurable("cpu", "cuda", 64 * 3 * 224 * 224 * 4, "pageable")
MODULE = "from torch import nn\n\nmodel = nn.Linear(3000, 4000)\nmodel.to('cuda')\n"
FREE = "import torch\n\nx = torch.ones(300, device='cuda')\ny = x.to('cuda')\n"
COST = TransferCost(10_000.0, "measured", "a [GPU], 2026-01-02", (9_000.0, 11_000.0))


def hovered(folder: Path, text: str, part: str, inside: int, memory: str = "") -> Hover | None:
    """The hover where transfers from one kind of memory are measured."""
    found = analysed(folder, text)

    def measured(wanted: Measurable) -> TransferCost | None:
        return COST if wanted == replace(WANTED, memory=memory) else None

    costs = replace(found.costs, measured=measured)
    return hover(found.facts, position_of(text, part, inside), costs, found.sources)


def test_a_measurement_is_told_with_its_spread_and_place(tmp_path: Path) -> None:
    found = hovered(tmp_path, LOOP, "images.to", 7, "pageable")
    assert found is not None
    assert found.measurable == WANTED
    assert found.answer.endswith(" · 10 ms measured each iteration")
    names, _, values = (each for each in found.markdown.splitlines() if each.startswith("|"))
    assert names.startswith("| pageable (this one) | pinned | `non_blocking` | all 100 passes | ")
    assert values.startswith("| 10 ms | ≈ ")
    assert " | 1.0 s | " in values
    assert "Measured on a \\[GPU\\], 2026-01-02: 9.0 ms to 11 ms in three of five runs." in (
        found.markdown
    )


def test_another_memory_is_another_transfer(tmp_path: Path) -> None:
    found = hovered(tmp_path, LOOP, "images.to", 7, "pinned")
    assert found is not None
    assert "≈ " in found.answer
    assert " | 10 ms | off: waits | " in found.markdown


@pytest.mark.parametrize(("text", "part"), [(MODULE, "to('cuda')"), (FREE, "to('cuda')")])
def test_what_is_not_one_copy_is_not_measured(tmp_path: Path, text: str, part: str) -> None:
    found = hovered(tmp_path, text, part, 0)
    assert found is not None
    assert found.measurable is None


@pytest.mark.parametrize(
    ("standing", "note"),
    [
        (Standing(), ""),
        (Standing(is_running=True, link="command:x"), "*measuring…*"),
        (Standing(link="command:x?1"), "[Measure this transfer](<command:x?1>)"),
        (
            Standing(problem="`/a_b_c/python` has no PyTorch."),
            "`/a_b_c/python` has no PyTorch.",
        ),
        (
            Standing(problem="It sees no GPU.", lacks_device=True),
            "No CUDA device to measure with: It sees no GPU.",
        ),
        (
            Standing(problem="It sees no GPU.", lacks_device=True, is_running=True),
            "No CUDA device to measure with: It sees no GPU.",
        ),
        (
            Standing(doubts=("it was slow", "others were at work")),
            "Not a number to trust, because it was slow and others were at work.",
        ),
    ],
)
def test_what_is_said_below(standing: Standing, note: str) -> None:
    assert standing_note(WANTED, standing) == note


def test_a_copy_in_host_memory_is_called_what_it_is() -> None:
    note = standing_note(WANTED, Standing(host_copy=COST))
    assert "a plain copy of 38.5 MB in host memory takes 10 ms (9.0 ms to 11 ms; " in note
    assert "says nothing of a transfer to an accelerator" in note
