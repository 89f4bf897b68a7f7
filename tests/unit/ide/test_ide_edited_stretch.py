"""Statements that are typed in a function of a script run by themselves, as long as the rest of the
program cannot tell; what is said is what a first look says."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from ide_editing import SCRIPT, Editing, scripts_run, typed

from device_lens.interpreter.budget import Cancelled

MANY = """\
import torch
from torch import nn


def deep(layer, left):
    # deep
    if left:
        deep(layer, left - 1)
    return layer


def main():
    layers = [nn.Linear(1, 1), nn.Linear(2, 2), nn.Linear(3, 3), nn.Linear(4, 4)]
    layers += [nn.Linear(5, 5), nn.Linear(6, 6), nn.Linear(7, 7), nn.Linear(8, 8)]
    seen = []
    for layer in layers:
        # many
        seen.append(layer)
    deep(layers[0], 9)
    return seen[0], seen[7], layers[0].weight


if __name__ == "__main__":
    main()
"""


RESIDUAL = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        # forward
        x = x + self.layer(x)
        return x


def main():
    model = Block().cuda()
    for step in range(1000):
        y = model(torch.ones(2, 3, device="cuda"))
        print(y.detach().shape)


if __name__ == "__main__":
    main()
"""


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return scripts_run(monkeypatch)


@pytest.mark.parametrize("mark", ["# here", "# loop", "# end"])
@pytest.mark.parametrize(
    "statement",
    [
        "new = torch.ones(4).to('cuda:1')",
        "new = batch + torch.ones(4)",
        "new, other = batch.cpu(), 1",
        "print(batch.shape)",
        "if batch is not None: new = batch.sum()",
    ],
)
def test_a_statement_for_itself_runs_by_itself(
    tmp_path: Path, scripts: list[str], mark: str, statement: str
) -> None:
    editing = Editing(tmp_path, {"train": SCRIPT})
    assert typed(editing, mark, statement, scripts) == 0


@pytest.mark.parametrize("mark", ["# here", "# loop", "# end"])
@pytest.mark.parametrize(
    "statement",
    [
        "batch = batch.cpu()",
        "device = 'cpu'",
        "batch += 1; batch = None",
        "return None",
        "seen.append(batch)",
        "model.cpu()",
        "raise ValueError",
        "batch.to('cpu')",
        "import os; os = batch",
        "prepare(batch, 'cuda:1')",
        "torch.set_default_device('cuda:1')",
        "for step in [batch]: model(step)",
        "total = total + batch",
        "def main(): pass",
        "with torch.no_grad(): batch = model(batch)",
        "(lambda: batch.cuda())()",
        "batch: torch.Tensor = model.weight",
        "for each in range(8): new = batch + each",
        "import os; os.environ['CUDA_VISIBLE_DEVICES'] = '1'",
        "new = torch.ones(4, device='cuda'); print(new)",
    ],
)
def test_what_the_rest_can_tell_runs_the_script(
    tmp_path: Path, scripts: list[str], mark: str, statement: str
) -> None:
    """Each letter is held against a first look; most of these run the script again."""
    editing = Editing(tmp_path, {"train": SCRIPT})
    typed(editing, mark, statement, scripts)


def test_a_statement_beside_a_sum_of_a_module_runs_by_itself(
    tmp_path: Path, scripts: list[str]
) -> None:
    """What a `forward` adds up in a name of its own gathers nothing from call to call."""
    editing = Editing(tmp_path, {"train": RESIDUAL})
    assert typed(editing, "# forward", "new = torch.ones(4)", scripts) <= 1


@pytest.mark.parametrize("mark", ["# many", "# deep"])
def test_a_statement_that_tells_how_to_run_what_is_around_it(
    tmp_path: Path, scripts: list[str], mark: str
) -> None:
    """A loop that moves something runs for each object, and a function that does so and is called
    too deep leaves its arguments somewhere."""
    editing = Editing(tmp_path, {"train": MANY})
    typed(editing, mark, "new = [1]; new.apply(len)", scripts)


def test_a_change_that_matters_runs_the_script(tmp_path: Path, scripts: list[str]) -> None:
    editing = Editing(tmp_path, {"train": SCRIPT})
    assert typed(editing, "# loop", "batch = batch.cpu()", scripts) > 0
    _, found = editing.said("train")
    assert "module-input-mismatch" in [rule for rule, *_ in found]


def test_comments_and_blank_lines_run_nothing(tmp_path: Path, scripts: list[str]) -> None:
    editing = Editing(tmp_path, {"train": SCRIPT})
    editing.agree()
    for old, new in (("# loop", "# a loop"), ("# here", "# here\n\n"), ("    # end\n", "")):
        editing.edit("train", old, new)
        scripts.clear()
        mine = editing.said("train")
        assert not scripts
        assert mine == editing.said("train", editing.fresh())


def test_a_letter_that_is_cancelled_leaves_the_rest_usable(tmp_path: Path) -> None:
    editing = Editing(tmp_path, {"train": SCRIPT})
    path = str(tmp_path / "train.py")
    editing.said("train")
    before = "    # here"
    for number, letter in enumerate("new = torch.ones(4).cuda(); other = batch + new"):
        after = before.replace("# here", f"{letter}# here")
        editing.edit("train", before, after)
        before = after
        left = [number % 7]

        def cancelled(left: list[int] = left) -> bool:
            left[0] -= 1
            return left[0] < 0

        try:
            editing.project.analyse(path, editing.snapshot(), cancelled)
        except Cancelled:
            if number % 3 == 0:
                editing.agree()
    editing.agree()


@pytest.mark.parametrize("mark", ["# here", "# loop", "# end"])
def test_statements_one_after_the_other_run_without_the_script(
    tmp_path: Path, scripts: list[str], mark: str
) -> None:
    """Lines between them that say nothing do not part them, and one that is typed already may be
    edited again, also inside of its block."""
    editing = Editing(tmp_path, {"train": SCRIPT})
    line = next(line for line in editing.texts["train"].split("\n") if line.strip() == mark)
    indent = line[: len(line) - len(mark)]
    typed(editing, mark, "new = torch.ones(4)", scripts)
    whole = []
    for text in ("", "# more", "other = new + 1", "", "if other: last = new.cpu()", "x"):
        for end in range(len(text) + 1):
            before = line if not end else f"{indent}{text[: end - 1]}\n{line}"
            editing.edit("train", before, f"{indent}{text[:end]}\n{line}")
            mine = editing.said("train")
            whole += [text[:end]] * len(scripts)
            assert mine == editing.said("train", editing.fresh())
            scripts.clear()
    assert whole == []
    for old, new in (("last = new", "last = 2 * new"), ("torch.ones(4)\n", "torch.ones(5)\n")):
        editing.edit("train", old, new)
        assert editing.said("train") == editing.said("train", editing.fresh())


def test_a_script_that_an_edit_took_runs_to_its_end(tmp_path: Path, scripts: list[str]) -> None:
    """Each letter cancels the look at the letter before it, and half a run would be lost."""
    editing = Editing(tmp_path, {"train": SCRIPT})
    path = str(tmp_path / "train.py")
    typed(editing, "# here", "n", scripts)
    typed(editing, "# end", "m", scripts)
    editing.edit("train", "    n\n", "    ne\n")
    scripts.clear()
    with suppress(Cancelled):
        editing.project.analyse(path, editing.snapshot(), lambda: bool(scripts))
    assert scripts == [path]
    scripts.clear()
    editing.edit("train", "    ne\n", "    new\n")
    mine = editing.said("train")
    assert scripts == []
    assert mine == editing.said("train", editing.fresh())


@pytest.mark.parametrize("first", ["# here", "# loop", "# end"])
@pytest.mark.parametrize("second", ["# here", "# loop", "# end"])
def test_a_statement_at_another_place_runs_by_itself_too(
    tmp_path: Path, scripts: list[str], first: str, second: str
) -> None:
    editing = Editing(tmp_path, {"train": SCRIPT})
    assert typed(editing, first, "new = torch.ones(4).to('cuda:1')", scripts) == 0
    assert typed(editing, second, "print(torch.zeros(4))", scripts) == 0
    assert typed(editing, "# end", "more = torch.ones(4)", scripts) == 0


@pytest.mark.parametrize(("mark", "other"), [("# here", "# end"), ("# loop", "# here")])
def test_a_statement_sees_what_was_typed_before_it(
    tmp_path: Path, scripts: list[str], mark: str, other: str
) -> None:
    """The states before the statements that were there are older than what is typed."""
    editing = Editing(tmp_path, {"train": SCRIPT})
    typed(editing, mark, "new = torch.ones(4).to('cuda:1')", scripts)
    assert typed(editing, other, "print()", scripts) == 0
    assert typed(editing, mark, "other = new + torch.ones(4, device='cuda:0')", scripts) > 0
    _, found = editing.said("train")
    assert "device-mismatch" in [rule for rule, *_ in found]


def test_the_end_of_a_block_is_a_place_too(tmp_path: Path, scripts: list[str]) -> None:
    editing = Editing(tmp_path, {"train": SCRIPT})
    line = "        seen.append(out.detach())\n"
    editing.edit("train", line, f"{line}        # last\n")
    assert typed(editing, "# last", "new = torch.ones(4).to('cuda:1')", scripts) == 0


NESTED = """\
import torch
from torch import nn


def main():
    device = torch.device("cuda:0")
    model = nn.Linear(4, 4).to(device)
    last = torch.zeros(1)

    def forward(batch):
        nonlocal last
        batch = batch.to(device)
        # within
        out = model(batch)
        last = out.sum()
        return out

    for step in range(10):
        out = forward(torch.zeros(4))
        last.item()
    return out


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("statement", "runs"),
    [
        ("new = torch.ones(4).to('cuda:1')", False),
        ("print(batch.shape, last)", False),
        ("new = batch + torch.ones(4)", False),
        ("batch = batch.cpu()", True),
        ("last = batch.cpu()", True),
        ("model.cpu()", True),
    ],
)
def test_a_function_in_a_function_is_a_place_too(
    tmp_path: Path, scripts: list[str], statement: str, runs: bool
) -> None:
    editing = Editing(tmp_path, {"train": NESTED})
    assert (typed(editing, "# within", statement, scripts) > 0) is runs


LOOP = """\
import torch


def main():
    batch = torch.zeros(4, device="cuda:0")
    for step in range(3):
        # first
        batch = batch.cpu()
        last = step
        # last
    return batch


if __name__ == "__main__":
    main()
"""


def test_the_end_of_a_block_is_not_its_beginning(tmp_path: Path, scripts: list[str]) -> None:
    editing = Editing(tmp_path, {"train": LOOP})
    assert typed(editing, "# first", "batch = torch.ones(4).cuda()", scripts) > 0
    assert typed(editing, "# last", "new = batch + torch.ones(4)", scripts) == 0


THERE_AND_BACK = """\
import torch


def main():
    batch = torch.zeros(4)
    for step in range(3000):
        batch = batch.to("cpu")
        # back


main()
"""


def test_a_copy_that_came_down_before_what_is_typed_comes_back_in_it(tmp_path: Path) -> None:
    editing = Editing(tmp_path, {"train": THERE_AND_BACK})
    editing.said("train")
    for statement in ("batch = batch.to('cuda')", "batch + batch"):
        editing.edit("train", "        # back", f"        {statement}\n        # back")
        assert editing.said("train") == editing.said("train", editing.fresh())
