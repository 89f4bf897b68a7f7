"""What a statement that is typed means to what is around it: other programs, devices that are
hidden later on, the steps that a script has left."""

from __future__ import annotations

from pathlib import Path

import pytest
from ide_editing import SCRIPT, Editing, scripts_run, typed


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return scripts_run(monkeypatch)


LIBRARY = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)

    def forward(self, x):
        y = self.first(x)
        # here
        return y


if __name__ == "__main__":
    net = Net()
    # end
    net(torch.ones(1, 3))
"""
PROGRAM = """\
import torch

from library import Net

model = Net().cuda()
print(model(torch.ones(1, 3).cuda()))
"""


@pytest.mark.parametrize("mark", ["# here", "# end"])
def test_what_a_file_tries_out_does_not_count_where_it_is_typed(tmp_path: Path, mark: str) -> None:
    editing = Editing(tmp_path, {"library": LIBRARY, "program": PROGRAM})
    editing.agree()
    line = next(line for line in LIBRARY.split("\n") if line.strip() == mark)
    indent = line[: len(line) - len(mark)]
    for statement in ("new = y if y else net", "other = torch.optim.SGD(net.parameters(), 1)"):
        before = line
        for end in range(1, len(statement) + 1):
            after = f"{indent}{statement[:end]}\n{line}"
            editing.edit("library", before, after)
            before = after
            assert editing.said("library") == editing.said("library", editing.fresh())


HOST = """\
import os
import torch


def main():
    kept = torch.ones(3)
    # here
    return kept


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("asks", [False, True])
def test_a_statement_that_starts_cuda_matters_to_what_hides_devices(
    tmp_path: Path, scripts: list[str], asks: bool
) -> None:
    later = "    main()\n    os.environ['CUDA_VISIBLE_DEVICES'] = '0'\n"
    text = HOST.replace("    main()\n", later) if asks else HOST
    editing = Editing(tmp_path, {"train": text})
    whole = typed(editing, "# here", "new = torch.ones(4).cuda()", scripts)
    assert (whole > 0) is asks
    _, found = editing.said("train")
    assert ("visible-devices" in [rule for rule, *_ in found]) is asks


BURN = """\
def burn(x):
    for a in (1, 2, 3, 4, 5, 6):
        for b in (1, 2, 3, 4, 5, 6):
            for c in (1, 2, 3, 4, 5, 6):
                for d in (1, 2, 3, 4, 5, 6):
                    for e in (1, 2, 3, 4, 5, 6):
                        x = x + a * b * c * d * e
    return x
"""


def test_what_is_typed_does_not_decide_where_steps_run_out(
    tmp_path: Path, scripts: list[str]
) -> None:
    (tmp_path / "burn.py").write_text(BURN, encoding="utf-8")
    burning = SCRIPT.replace("    seen = []\n", "    burn(torch.ones(3))\n    seen = []\n")
    editing = Editing(tmp_path, {"train": f"from burn import burn\n{burning}"})
    assert typed(editing, "# end", "a = 1", scripts) <= 1
    analysis = editing.project.analyse(str(tmp_path / "train.py"), editing.snapshot())
    assert any("not followed any more" in each for each in analysis.limits)


LAZY = """\
import torch
from torch import nn


def main():
    nets = [nn.Linear(2, 2), nn.Linear(2, 2)]
    for net in (each.to("cuda") for each in nets):
        print(net)
        # here
    return nets[1].weight


if __name__ == "__main__":
    main()
"""


def test_a_loop_that_is_left_early_does_not_ask_for_all(tmp_path: Path) -> None:
    editing = Editing(tmp_path, {"lazy": LAZY})
    editing.agree()
    before = "        # here"
    for typed_so_far in ("b", "brea", "break", "brea", "break"):
        after = f"        {typed_so_far}"
        editing.edit("lazy", before, after)
        before = after
        assert editing.said("lazy") == editing.said("lazy", editing.fresh())
