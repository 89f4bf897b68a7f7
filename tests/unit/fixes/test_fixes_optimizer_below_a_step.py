"""No model is moved above what runs it where it was before its move."""

from __future__ import annotations

from pathlib import Path

import pytest

from device_lens.ide.project import Project

TEXT = """\
import torch
from torch import nn


def train(net, opt, device):
    net(torch.randn(4, 3, device=device)).sum().backward()
    opt.step()


net = nn.Linear(3, 2)
opt = torch.optim.{optimizer}(net.parameters())
{before}
net.cuda()
net(torch.randn(4, 3, device="cuda")).sum().backward()
opt.step()
"""
LOADED = 'opt.load_state_dict(torch.load("opt.pt", map_location="cpu"))'


def _titles(tmp_path: Path, optimizer: str, before: str) -> list[str]:
    path = tmp_path / "train.py"
    path.write_text(TEXT.format(optimizer=optimizer, before=before), encoding="utf-8")
    found = Project(str(tmp_path)).analyse(str(path)).findings
    (finding,) = [each for each in found if each.rule == "optimizer-before-move"]
    return [fix.title for fix in finding.fixes]


@pytest.mark.parametrize("optimizer", ["Adam", "Adagrad"])
@pytest.mark.parametrize(
    "step",
    ["net(torch.randn(4, 3)).sum().backward()\nopt.step()", 'train(net, opt, "cpu")'],
)
def test_a_step_keeps_the_model_where_it_is(tmp_path: Path, optimizer: str, step: str) -> None:
    assert _titles(tmp_path, optimizer, step) == []


def test_what_only_looks_at_the_model_does_not(tmp_path: Path) -> None:
    before = f"{LOADED}\nprint(net, len(list(net.parameters())))"
    assert _titles(tmp_path, "Adam", before) == ["Move the model above line 11"]


def test_what_calls_it_before_does(tmp_path: Path) -> None:
    assert _titles(tmp_path, "Adam", f"{LOADED}\nprint(net(torch.randn(4, 3)))") == []
