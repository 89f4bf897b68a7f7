"""Statements that are typed at the top level run nothing as long as they say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from ide_editing import Editing

from device_lens.interpreter import imports

NET = """\
import torch
from torch import nn

scale = 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.inner = scale

    def forward(self, x):
        return self.layer(x) + torch.ones(3)


# here
def move(x, device):
    return x.to(device)
"""
TRAIN = """\
import torch
from net import Net, move
import net


def main():
    model = move(Net(), "cuda")
    return model(torch.ones(3)) * net.scale, getattr(net, "late", None)


if __name__ == "__main__":
    main()
"""


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files whose top levels run."""
    names: list[str] = []
    original = imports.run_module

    def run(machine, namespace, top=None):  # type: ignore[no-untyped-def]
        names.append(Path(namespace.path).name)
        original(machine, namespace, top)

    monkeypatch.setattr(imports, "run_module", run)
    return names


def typed(editing: Editing, statement: str, ran: list[str]) -> list[str]:
    """Types a statement, letter by letter; the letters after which something ran."""
    editing.agree()
    before, whole = "# here\n", []
    for end in range(1, len(statement) + 1):
        after = f"{statement[:end]}\n# here\n"
        editing.edit("net", before, after)
        ran.clear()
        mine = {name: editing.said(name) for name in editing.texts}
        if ran:
            whole.append(statement[:end])
        for name, said in mine.items():
            assert said == editing.said(name, editing.fresh())
        before = after
    return whole


@pytest.mark.parametrize("statement", ["def helper(x):", "count = 3", "with open("])
def test_what_says_nothing_runs_nothing(tmp_path: Path, ran: list[str], statement: str) -> None:
    editing = Editing(tmp_path, {"net": NET, "train": TRAIN})
    assert typed(editing, statement, ran) == []


@pytest.mark.parametrize(
    ("statement", "letters"),
    [
        ("scale = 4", ["scale"]),
        ("Net = 1", ["Net"]),
        ("late = 3", ["late ="]),
        ("move = 3", ["move"]),
        ("one = 'cuda'", ["one = 'cuda'"]),
        ("torch = None", ["torch"]),
        ("if scale: pass", ["if scale: pass"]),
    ],
)
def test_what_others_may_see_runs(
    tmp_path: Path, ran: list[str], statement: str, letters: list[str]
) -> None:
    editing = Editing(tmp_path, {"net": NET, "train": TRAIN})
    assert set(letters) <= set(typed(editing, statement, ran))


def test_taking_it_out_again_runs_nothing(tmp_path: Path, ran: list[str]) -> None:
    editing = Editing(tmp_path, {"net": NET.replace("# here", "# here\nword"), "train": TRAIN})
    editing.agree()
    editing.edit("net", "word", "")
    ran.clear()
    mine = editing.said("net")
    assert ran == []
    assert mine == editing.said("net", editing.fresh())
