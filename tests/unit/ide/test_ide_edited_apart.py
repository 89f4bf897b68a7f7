"""What an edit must not make run: a whole script, where only its own statements matter."""

from __future__ import annotations

from pathlib import Path

import pytest
from ide_editing import SCRIPT, Editing, scripts_run, typed


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return scripts_run(monkeypatch)


def test_an_edit_of_two_functions_at_once_does_not_hold_those_after_it(
    tmp_path: Path, scripts: list[str]
) -> None:
    """Somebody who types fast, or saves after a rename, changes two places in one step: no part
    of the script can run by itself for that, but for the next letter it can."""
    editing = Editing(tmp_path, {"train": SCRIPT})
    editing.said("train")
    editing.edit("train", "    # here\n", "")
    editing.edit("train", "# end", "# the end")
    editing.edit("train", "seen = []\n", "seen = []\n    # there\n")
    assert typed(editing, "# there", "new = torch.ones(4).to('cuda:1')", scripts) == 0


OFTEN = """\
import torch
from torch import nn


def deep(layer, left):
    # text
    if left:
        deep(layer, left - 1)
    return 1


def main():
    layer = nn.Linear(4, 4)
    deep(layer, 99)
    return layer.weight


if __name__ == "__main__":
    main()
"""


def test_what_a_call_that_is_not_followed_may_move_is_asked_alone(
    tmp_path: Path, scripts: list[str]
) -> None:
    """Of a function that is called too deep only that is read; the rest of its text matters where
    it runs."""
    editing = Editing(tmp_path, {"train": OFTEN})
    assert typed(editing, "# text", "new = torch.ones(4)", scripts) == 0
    assert typed(editing, "# text", "layer.cuda()", scripts) > 0


def test_a_script_does_not_rest_on_its_own_file_as_a_module(tmp_path: Path) -> None:
    """As a module, which is looked at for functions that nobody calls, it sets no default."""
    text = """\
import torch

if __name__ == "__main__":
    torch.set_default_tensor_type("torch.cuda.FloatTensor")
    if n > 5:
        pass
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
batch = Batch(x=torch.ones(2)).to(device)


def render(poses):
    found.append((poses * 2).cpu().numpy())
"""
    editing = Editing(tmp_path, {"main": text})
    editing.agree()
    editing.edit("main", "n > 5", "n > False")
    editing.agree()


THROWN_AWAY = """\
import torch


def both(x, y, device):
    # here
    return x.to(device), y.to(device)


x, y = torch.ones(3), torch.ones(3)
both(x, y, "cuda:0")
print(x + torch.ones(3, device="cuda:0"))
"""


@pytest.mark.parametrize("statement", ["print(y)", "new = x"])
def test_whether_a_call_is_made_for_its_copies_hangs_on_what_is_typed_in_it(
    tmp_path: Path, statement: str
) -> None:
    """What a function does besides may be what it is called for."""
    editing = Editing(tmp_path, {"train": THROWN_AWAY})
    editing.said("train")
    editing.edit("train", "# here", statement)
    editing.agree()
    _, found = editing.said("train")
    thrown = any(rule == "discarded-transfer" for rule, *_ in found)
    assert thrown is (statement == "new = x")


MAKERS = """\
import sys
import torch
from torch import nn
def small(**given):
    return nn.Sequential(nn.Linear(2, 2), **given)
def middle(**given):
    return nn.Sequential(nn.Linear(3, 3), **given)
def there():
    return nn.Linear(1, 7).to("cuda:1")
"""


def test_a_choice_rests_on_the_text_of_what_it_takes_for_alike(tmp_path: Path) -> None:
    """Of many functions that differ in constants alone two stand for all; one that is edited is
    none of these any more."""
    names = [f"make{number}" for number in range(7)]
    makers = "".join(
        f"def {name}():\n    # {name}\n    return nn.Linear(1, {size})\n"
        for size, name in enumerate(names, 2)
    )
    table = ", ".join(f'"{name}": {name}' for name in (*names, "small", "middle"))
    text = f"""\
{MAKERS}{makers}
many = {{{table}}}
net = many[sys.argv[1]]()
some = {{**many, "there": there}}
other = some[sys.argv[1]]()
"""
    editing = Editing(tmp_path, {"train": text})
    editing.agree()
    editing.edit("train", "    # make1\n", "    new = torch.ones(3).to(where)\n")
    found = [
        project.analyse(str(tmp_path / "train.py"), editing.snapshot()).facts.expressions
        for project in (editing.project, editing.fresh())
    ]
    line = editing.texts["train"].split("\n").index("    new = torch.ones(3).to(where)") + 1
    edited, afresh = (
        {str(each.device) for each in one if each.site.node.lineno == line} for one in found
    )
    assert edited == afresh
