"""Statements that are typed at the top level of a script run by themselves, as long as the rest of
the file cannot tell; what is said is what a first look says."""

from __future__ import annotations

from pathlib import Path

import pytest
from ide_editing import Editing, modules_run

from device_lens.interpreter.rarer_facts import LoopVariableTransfer

SCRIPT = """\
import torch
from torch import nn

scale = 2
# first
device = torch.device("cuda:0")
model = nn.Linear(4, 4).to(device)


def prepare(batch):
    # function
    new = batch * scale
    return new.to(device)


def unused(x):
    # unused
    return x + torch.zeros(4)


if scale > 3:
    # dead
    scale = 3
for step in range(10):
    batch = torch.zeros(4)
    batch = prepare(batch)
    # loop
    out = model(batch)
# last
print(out)
"""
GUARDED = """\
import torch
from torch import nn


def prepare(batch):
    # function
    return batch.cuda()


if __name__ == "__main__":
    model = nn.Linear(4, 4).cuda()
    # guard
    for step in range(3):
        batch = prepare(torch.zeros(4))
        # loop
        model(batch)
"""
USER = """\
from guarded import prepare
import torch

prepare(torch.ones(3))
"""


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modules and scripts whose top levels run as a whole."""
    return modules_run(monkeypatch)


def typed(editing: Editing, name: str, mark: str, statement: str, runs: list[str]) -> list[str]:
    """Types a statement before a comment, letter by letter; what ran as a whole for it."""
    line = next(line for line in editing.texts[name].split("\n") if line.strip() == mark)
    indent = line[: len(line) - len(mark)]
    editing.said(name)
    whole = []
    for end in range(len(statement)):
        before = f"{indent}{statement[:end]}\n{line}" if end else line
        editing.edit(name, before, f"{indent}{statement[: end + 1]}\n{line}")
        runs.clear()
        mine = editing.said(name)
        whole += runs
        assert mine == editing.said(name, editing.fresh()), statement[: end + 1]
    return whole


@pytest.mark.parametrize("mark", ["# first", "# dead", "# loop", "# last"])
@pytest.mark.parametrize(
    "statement",
    [
        "new = torch.ones",
        "x = nn.Linear",
        "x = batch",
        "if scale: x = 'cuda:1'",
    ],
)
def test_a_statement_for_itself_runs_nothing_else(
    tmp_path: Path, runs: list[str], mark: str, statement: str
) -> None:
    """Names of functions are not those of the top level."""
    editing = Editing(tmp_path, {"train": SCRIPT})
    assert typed(editing, "train", mark, statement, runs) == []


@pytest.mark.parametrize("mark", ["# first", "# dead", "# loop", "# last"])
@pytest.mark.parametrize(
    "statement",
    [
        "new = torch.ones(4).to('cuda:1')",
        "scale = torch.ones(4, device='cuda:1')",
        "device = 'cpu'",
        "batch = batch.cpu()",
        "model.cpu()",
        "torch.set_default_device('cuda:1')",
        "import os; os.environ['CUDA_VISIBLE_DEVICES'] = '1'",
        "def prepare(batch): return batch",
        "prepare(torch.ones(4, device='cuda:1'))",
        "del scale; exec('x')",
        "print(globals()['scale'])",
        "out = unused(torch.ones(4, device='cuda:1'))",
        "with torch.no_grad(): model(torch.ones(4))",
        "raise SystemExit",
        "break",
        "x = [scale for scale in (1, 2)]; y = lambda: scale",
        "out = model(torch.ones(4)); out.sum().backward()",
    ],
)
def test_what_the_rest_can_tell(tmp_path: Path, runs: list[str], mark: str, statement: str) -> None:
    """Each letter is held against a first look; most of these run the script again."""
    editing = Editing(tmp_path, {"train": SCRIPT})
    typed(editing, "train", mark, statement, runs)


def test_functions_of_a_script_without_a_guard(tmp_path: Path, runs: list[str]) -> None:
    editing = Editing(tmp_path, {"train": SCRIPT})
    assert typed(editing, "train", "# function", "other = torch.ones(4)", runs) == []
    assert typed(editing, "train", "# unused", "other = torch.ones(4)", runs) == []


@pytest.mark.parametrize("mark", ["# first", "# loop", "# last"])
def test_what_is_typed_after_the_last_place_sees_it(
    tmp_path: Path, runs: list[str], mark: str
) -> None:
    """What nobody calls runs on the module as it was before names were typed."""
    editing = Editing(tmp_path, {"train": SCRIPT})
    assert typed(editing, "train", mark, "new = torch.ones", runs) == []
    assert typed(editing, "train", "# unused", "x = x + new(4, device='cuda')", runs) != []
    typed(editing, "train", "# function", "print(new)", runs)
    typed(editing, "train", "# last", "out = new(3).cuda() + torch.ones(3)", runs)


def test_statements_one_after_the_other(tmp_path: Path, runs: list[str]) -> None:
    """Words that say nothing move the statements below them."""
    editing = Editing(tmp_path, {"train": SCRIPT})
    assert typed(editing, "train", "# last", "new = torch.ones", runs) == []
    assert typed(editing, "train", "# last", "other = new", runs) == []
    assert typed(editing, "train", "# first", "word", runs) == []
    assert typed(editing, "train", "# last", "more = scale", runs) == []
    editing.edit("train", "word\n", "")
    editing.agree()
    editing.edit("train", "other = new", "other = 2 * new")
    editing.agree()


@pytest.mark.parametrize("mark", ["# guard", "# loop"])
def test_what_stands_under_the_guard_is_nothing_to_the_module(
    tmp_path: Path, runs: list[str], mark: str
) -> None:
    editing = Editing(tmp_path, {"guarded": GUARDED, "user": USER})
    editing.said("user")
    assert typed(editing, "guarded", mark, "new = torch.ones", runs) == []
    whole = typed(editing, "guarded", mark, "model.cpu()", runs)
    assert whole
    assert set(whole) == {"__main__"}
    editing.agree()


def test_a_module_that_others_import_runs_again(tmp_path: Path, runs: list[str]) -> None:
    editing = Editing(tmp_path, {"guarded": GUARDED, "user": USER})
    editing.said("user")
    editing.edit("guarded", "def prepare", "size = 3\n\n\ndef prepare")
    editing.agree()
    editing.edit("user", "prepare(torch", "from guarded import size\nprepare(size * torch")
    editing.agree()


def test_a_file_that_is_no_script_for_a_moment(tmp_path: Path, runs: list[str]) -> None:
    """What the module knows of its own top level is older than what was typed there."""
    text = "import torch\n\nx = torch.ones(3).cuda()\n\n\ndef unused():\n    return x\n\n\n# end\n"
    editing = Editing(tmp_path, {"train": text})
    typed(editing, "train", "# end", "print(x); y = x.cpu()", runs)
    editing.edit("train", "print(x); y = x.cpu()", "y = x.cpu()")
    typed(editing, "train", "# end", "z = y + x", runs)
    editing.edit("train", "y = x.cpu()", "print(x)")
    editing.agree()


def test_a_script_that_somebody_imports_later(tmp_path: Path, runs: list[str]) -> None:
    editing = Editing(tmp_path, {"train": SCRIPT, "user": "x = 1\n"})
    typed(editing, "train", "# last", "new = torch.ones", runs)
    editing.said("user")
    editing.edit("user", "x = 1", "from train import new\nprint(new(3))")
    editing.agree()
    editing.edit("train", "new = torch.ones", "new = torch.zeros")
    editing.agree()


@pytest.mark.parametrize("held", ["if made(x", "y = ("])
def test_what_a_later_turn_of_a_loop_does_not_know(tmp_path: Path, held: str) -> None:
    text = (
        "import torch\nfrom nowhere import disturb, made\n\nx = torch.ones(3)\n"
        "state = torch.ones(3, device='cuda')\nfor step in range(10):\n"
        f"    {held}\n    state = disturb(state * 2)\n"
    )
    editing = Editing(tmp_path, {"train": text})
    editing.said("train")
    editing.edit("train", held, "y = 1")
    editing.agree()
    editing.edit("train", "y = 1", "y = state")
    editing.agree()
    editing.edit("train", "y = state", "y = state + 1")
    editing.agree()


ALIKE = """\
import sys
import torch


class Stage:
    def __init__(self, last):
        self.last = last

    def run(self, x, step):
        for a in (1, 2, 3, 4, 5, 6):
            for b in (1, 2, 3, 4, 5, 6):
                x = x + a * b
        if step == self.last:
            return x.cpu()
        return x


# stage
# data
# first
# more
same = late.run(x, 0)
"""


def test_calls_alike_count_over_the_statements_that_are_typed(tmp_path: Path) -> None:
    """What a function gave before and within these statements answers the calls behind them."""
    editing = Editing(tmp_path, {"train": ALIKE})
    editing.agree()
    calls = "for _ in range(2):\n    late.run(x, 0)"
    for mark, text in (
        ("# stage", "late = Stage(4)"),
        ("# data", 'x = torch.ones(len(sys.argv), device="cuda")'),
        ("# first", calls),
        ("# more", calls),
    ):
        editing.edit("train", mark, text)
        editing.agree()


MOVING = """\
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
batch = {"a": torch.zeros(3), "name": "b"}
for key, value in batch.items():
    if torch.is_tensor(value):
        # beside
        value = value.to(device)
"""


def test_a_loop_that_moves_its_items_and_does_more_is_not_rewritten(tmp_path: Path) -> None:
    """Its fix, for which nobody waits while somebody types, would leave out the rest."""
    editing = Editing(tmp_path, {"train": MOVING})
    editing.agree()
    editing.edit("train", "# beside", "torch.ones")
    editing.agree()
    path = str(tmp_path / "train.py")
    others = editing.project.analyse(path, editing.snapshot()).facts.others
    assert [each.alone for each in others if isinstance(each, LoopVariableTransfer)] == [False]


UNBOUND = """\
import torch

# first
j = 0
# second
x = torch.ones(1, device="cuda")
y = torch.ones(1)
"""


def test_what_is_typed_before_what_was_typed_elsewhere_runs(tmp_path: Path) -> None:
    """The statement behind it has been put in too, and knows no state from the run."""
    editing = Editing(tmp_path, {"train": UNBOUND})
    editing.agree()
    editing.edit("train", "# second", "# third\ny + y")
    editing.agree()
    editing.edit("train", "# first", "loss = 1")
    editing.agree()
    editing.edit("train", "# third", "x = x.to('cpu')")
    editing.agree()


BEFORE_FUNCTION = """\
import torch

x = torch.ones(2, 6).cuda()
with torch.no_grad():
    new = image(x)
# before


def picture(image):
    image
"""


def test_what_is_typed_before_an_edited_function_runs(tmp_path: Path) -> None:
    editing = Editing(tmp_path, {"train": BEFORE_FUNCTION})
    editing.agree()
    editing.edit("train", "    image\n", "    new = 1\n    return torch.zeros(2)\n")
    editing.agree()
    editing.edit("train", "# before", "new = x.cu")
    editing.agree()
