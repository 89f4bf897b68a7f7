"""Statements that are typed in code that no script runs: what runs it with symbols need not run
again either, as long as nothing else can tell."""

from __future__ import annotations

from pathlib import Path

import pytest
from ide_editing import Editing

from device_lens.interpreter import standalone

LIBRARY = """\
import torch
import torch.distributed as dist
from torch import nn


class Part(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = self.chosen(size)
        self.layer = nn.Linear(self.size, self.size)
        self.register_buffer("table", torch.zeros(3))
        # made

    def chosen(self, size):
        wide = size * 2
        # chosen
        return wide

    def forward(self, x):
        y = self.layer(x)
        # forward
        return y + self.table


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part(4)
        self.kept = nn.Parameter(torch.ones(2))

    def forward(self, x):
        return self.part(x) * self.kept

    def reset(self, source: nn.Module):
        torch.save(source.state_dict(), "state.pt")
        # reset


def follow(whole: Whole, x):
    if dist.get_rank():
        # follow
        return whole(x)
    return whole.part.chosen(3)
"""

MARKS = ["# made", "# chosen", "# forward", "# follow", "# reset"]


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions and instances that run with symbols as a whole."""
    names: list[str] = []
    run, make = standalone.run_function, standalone._made

    def run_function(machine, function):  # type: ignore[no-untyped-def]
        names.append(function.name)
        run(machine, function)

    def made(machine, cls):  # type: ignore[no-untyped-def]
        names.append(cls.name)
        return make(machine, cls)

    monkeypatch.setattr(standalone, "run_function", run_function)
    monkeypatch.setattr(standalone, "_made", made)
    return names


def typed(editing: Editing, mark: str, statement: str, runs: list[str]) -> list[str]:
    """Types a statement before a comment, letter by letter; what ran as a whole after the first
    letter."""
    line = next(line for line in editing.texts["library"].split("\n") if line.strip() == mark)
    indent = line[: len(line) - len(mark)]
    editing.said("library")
    editing.edit("library", line, f"{indent}{statement[0]}\n{line}")
    editing.said("library")
    whole: list[str] = []
    for end in range(1, len(statement)):
        before = f"{indent}{statement[:end]}\n{line}"
        editing.edit("library", before, f"{indent}{statement[: end + 1]}\n{line}")
        runs.clear()
        mine = editing.said("library")
        whole += runs
        assert mine == editing.said("library", editing.fresh())
    return whole


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize(
    "statement",
    ["new = torch.ones(4).to('cuda:1')", "new = torch.zeros(2) + torch.ones(2).cuda()", "print(1)"],
)
def test_a_statement_for_itself_runs_by_itself(
    tmp_path: Path, runs: list[str], mark: str, statement: str
) -> None:
    editing = Editing(tmp_path, {"library": LIBRARY})
    whole = typed(editing, mark, statement, runs)
    # The letter with which CUDA starts may be told elsewhere, and `follow` rests on the text of
    # what it calls too deep. There are two functions of some names.
    assert all(whole.count(name) <= 4 for name in set(whole) - {"follow"})


@pytest.mark.parametrize(
    ("mark", "statement", "rerun"),
    [
        ("# made", "self.extra = torch.ones(3)", {"Part", "forward"}),
        ("# made", "self.layer.cuda()", {"Part", "forward"}),
        ("# chosen", "wide = wide.cpu()", {"Part"}),
        ("# forward", "y = y.cpu()", {"forward"}),
        ("# forward", "self.kept = y", {"forward"}),
        ("# reset", "self.part.to('cuda')", {"reset"}),
        ("# reset", "source.load_state_dict(torch.load('state.pt'))", set()),
        ("# reset", "self.load_state_dict(torch.load('other.pt'))", set()),
        ("# follow", "x = x.cuda()", {"follow"}),
        ("# follow", "del x.grad", {"follow"}),
        ("# follow", "follow(whole.part, x)", {"follow"}),
    ],
)
def test_what_others_can_tell_runs_as_a_whole(
    tmp_path: Path, runs: list[str], mark: str, statement: str, rerun: set[str]
) -> None:
    editing = Editing(tmp_path, {"library": LIBRARY})
    assert rerun <= set(typed(editing, mark, statement, runs))


def test_an_object_made_anew_is_seen_by_all_who_use_it(tmp_path: Path) -> None:
    editing = Editing(tmp_path, {"library": LIBRARY})
    editing.said("library")
    before = "        # chosen"
    for end in range(1, len("size.cuda()") + 1):
        after = "        " + "size.cuda()"[:end] + "\n        # chosen"
        editing.edit("library", before, after)
        editing.agree()
        before = after
    editing.edit("library", "torch.zeros(3)", 'torch.zeros(3, device="cuda")')
    editing.agree()
    editing.edit("library", "nn.Parameter(torch.ones(2))", "nn.Parameter(torch.ones(2).cuda())")
    editing.agree()
    editing.edit("library", "        # chosen", "        wide = wide + 1\n        # chosen")
    editing.agree()


def test_a_word_that_changes_how_deep_calls_are_followed_runs_the_function(
    tmp_path: Path, runs: list[str]
) -> None:
    text = "def shallow(one, two):\n    # shallow\n    return one(two)\n"
    editing = Editing(tmp_path, {"library": LIBRARY + "\n\n" + text})
    assert "shallow" in typed(editing, "# shallow", "two.cuda()", runs)
