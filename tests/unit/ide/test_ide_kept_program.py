"""What an editor keeps between the versions of a file: modules stay loaded, and whatever changes
says the same as a project that sees the files for the first time."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from ide_editing import SCRIPT, Editing, modules_run

from device_lens.domain.heap import ModuleObject
from device_lens.ide.places import range_of
from device_lens.ide.project import Analysis
from device_lens.interpreter import former, program
from device_lens.interpreter.budget import Cancelled
from device_lens.interpreter.landmarks import Landmarks
from device_lens.syntax.position import Position

LAYERS = """\
import torch
from torch import nn

WIDTH = 4


class Mask(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(WIDTH, WIDTH)

    def mask(self, x):
        return torch.ones(WIDTH)

    def forward(self, x):
        return self.fc(x) + self.mask(x)


def place(x):
    return x.to("cuda:0")
"""
NET = """\
from layers import Mask, place


def build():
    return Mask()


def put(x):
    y = place(x)
    return y
"""
TRAIN = """\
import torch
from net import build, put


def main():
    model = build().to("cuda:0")
    x = put(torch.zeros(4))
    out = model(x)


if __name__ == "__main__":
    main()
"""
FILES = {"layers": LAYERS, "net": NET, "train": TRAIN}


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modules whose top levels run, by their names."""
    return modules_run(monkeypatch)


def test_typing_in_a_function_runs_no_module_again(tmp_path: Path, ran: list[str]) -> None:
    editing = Editing(tmp_path, FILES)
    before = editing.said("layers")
    ran.clear()
    editing.edit("layers", "torch.ones(WIDTH)", "torch.ones(WIDTH, device=x.device)")
    assert editing.said("layers") != before
    assert ran == ["__main__"]
    editing.agree()


def test_another_method_is_not_run_for_it(tmp_path: Path) -> None:
    editing = Editing(tmp_path, {"layers": LAYERS})
    editing.said("layers")
    kept = next(iter(editing.project._programs.values()))[0]
    before = {node.name: unit for node, unit in kept.units.items()}
    editing.edit("layers", 'x.to("cuda:0")', 'x.to("cuda:1")')
    editing.said("layers")
    after = {node.name: unit for node, unit in kept.units.items()}
    assert after["forward"] is before["forward"]
    assert after["place"] is not before["place"]
    editing.agree()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("WIDTH = 4", "WIDTH = 8"),
        ("def mask(self, x):", "def mask(self, x, much=1):"),
        ("class Mask(nn.Module):", "class Mask(nn.Identity):"),
        ("    return x.to", "\n    return x.to"),
        ('x.to("cuda:0")', 'x.to("cuda:'),
        ("    def forward", "    # a comment\n    def forward"),
        ("def place(x):", "def put_somewhere(x):"),
        ("def place(x):", "def place(x, device='cuda'):\n    torch.ones(1, device=device)"),
        ("import torch\n", "import torch\n\ntorch.set_default_device('cuda:1')\n"),
        ("super().__init__()", "super().__init__()\n        self.seen = torch.zeros(1)"),
    ],
)
def test_any_edit_says_what_a_first_look_says(tmp_path: Path, old: str, new: str) -> None:
    editing = Editing(tmp_path, FILES)
    editing.agree()
    editing.edit("layers", old, new)
    editing.agree()
    editing.edit("layers", new, old)
    editing.agree()


def test_what_one_script_changes_another_does_not_see(tmp_path: Path) -> None:
    """A module that sets the default device does so for the script that imports it alone."""
    plain = "import torch\n\nif __name__ == '__main__':\n    x = torch.zeros(1)\n"
    moved = f"import settings\n{plain}"
    files = {"settings": "import torch\n\ntorch.set_default_device('cuda')\n"}
    editing = Editing(tmp_path, {**files, "first": moved, "second": plain})
    first, second = str(editing.said("first")), str(editing.said("second"))
    assert "'cuda'" in first
    assert "cuda" not in second
    editing.agree()


def test_a_cancelled_look_leaves_the_rest_usable(tmp_path: Path) -> None:
    editing = Editing(tmp_path, FILES)
    for after in range(0, 40, 3):
        left = [after]

        def cancelled(left: list[int] = left) -> bool:
            left[0] -= 1
            return left[0] < 0

        try:
            editing.project.analyse(str(tmp_path / "train.py"), editing.snapshot(), cancelled)
        except Cancelled:
            editing.agree()
        editing.edit("layers", "return", "return  ")


def test_a_file_that_comes_is_found(tmp_path: Path) -> None:
    train = "import torch\nfrom late import d\n\nx = torch.ones(1, device=d)\n"
    editing = Editing(tmp_path, {"train": train})
    assert "cuda" not in str(editing.said("train"))
    late = tmp_path / "late.py"
    late.write_text("d = 'cuda:1'\n", encoding="utf-8")
    editing.project.forget([str(late)])
    assert "cuda:1" in str(editing.said("train"))


def test_a_default_that_names_a_device_moves_with_its_text(tmp_path: Path) -> None:
    text = "import torch\n\n\ndef place(x, device='cuda'):\n    return x.to(device)\n"
    editing = Editing(tmp_path, {"layers": text})
    editing.agree()
    editing.edit("layers", "place(x, device", "place(x,   device")
    editing.agree()
    editing.edit("layers", "return x", "return   x")
    editing.agree()


def test_a_script_s_own_functions_are_those_of_its_module(tmp_path: Path) -> None:
    """A script runs as `__main__`; what it does not reach runs in the module of the same file."""
    text = TRAIN.replace(
        "\n\nif", "\n\ndef unused(x):\n    y = torch.ones(2)\n    return x + y\n\n\nif"
    )
    editing = Editing(tmp_path, {**FILES, "train": text})
    editing.agree()
    editing.edit("train", "torch.ones(2)", "torch.ones(2, device='cuda')")
    editing.agree()
    editing.edit("train", "torch.zeros(4)", "torch.zeros(8)")
    editing.agree()


def test_a_program_that_starts_afresh_in_between_says_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a module did to others cannot always be taken back."""
    settings = "import torch\n\ntorch.set_default_device('cuda')\n"
    layers = LAYERS + "\n\ndef unused(x):\n    return x + torch.ones(3)\n"
    train = f"import settings\n{TRAIN}"
    files = {"net": NET, "layers": layers, "settings": settings, "train": train}
    editing = Editing(tmp_path, files)
    whole = editing.said("layers")
    monkeypatch.setattr(program, "undo", lambda effects, journal: False)
    assert editing.said("layers", editing.fresh()) == whole
    editing.edit("layers", "WIDTH = 4", "WIDTH = 8")
    editing.agree()


def test_a_script_that_runs_again_calls_as_often_as_before(tmp_path: Path) -> None:
    calls = "".join(f"x{number} = place(torch.zeros({number + 1}))\n" for number in range(40))
    script = f"import torch\nfrom layers import place\n\nSCALE = 0\n{calls}"
    editing = Editing(tmp_path, {"layers": LAYERS, "train": script})
    editing.agree()
    for number in range(4):
        editing.edit("train", f"SCALE = {number}", f"SCALE = {number + 1}")
        editing.agree()


def test_what_is_not_known_between_methods_moves_with_them(tmp_path: Path) -> None:
    net = (
        "import torch\n\nclass Net:\n"
        "    def one(self):\n        return 1\n\n"
        "    made = unheard(torch)\n\n"
        "    def two(self):\n        return 2\n"
    )
    editing = Editing(tmp_path, {"net": net})
    editing.agree()
    longer = net.replace("        return 1", "        x = 1\n        return x")
    editing.edit("net", net, longer.replace("return 2", "return 3"))
    facts = editing.project.analyse(str(tmp_path / "net.py"), editing.snapshot()).facts
    (skipped,) = facts.skipped
    assert range_of(facts.source, skipped.site).start == Position(7, 11)


def test_typing_for_long_starts_nothing_afresh(tmp_path: Path) -> None:
    """What a version leaves goes with it, so that a program need not start again and again."""
    editing = Editing(tmp_path, {"layers": LAYERS})
    editing.said("layers")
    known = next(iter(editing.project._programs.values()))[0]
    before = known.watched
    for number in range(former.MOST_FORMER + 50):
        editing.edit("layers", f"cuda:{number % 2}", f"cuda:{1 - number % 2}")
        editing.project.analyse(str(tmp_path / "layers.py"), editing.snapshot())
    assert known.watched is before
    gc.collect()
    assert len(known.former) < 20
    assert len(known.relevance._words) < 20


def test_a_method_that_stays_may_come_to_stand_for_another_one(tmp_path: Path) -> None:
    """Of two methods of one name the later one counts, whichever of them an edit leaves alone."""
    net = (
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n"
        "    def make(self):\n        return 1\n\n"
        "    def one(self, x):\n        return x.cpu()\n\n"
        "    def one(self, x):\n        return x.cuda()\n"
    )
    editing = Editing(tmp_path, {"net": net})
    editing.agree()
    first = "    def one(self, x):\n        return x.cpu()\n\n"
    shorter = net.replace(first, "").replace("return 1\n", "return 1\n\n\n\n")
    editing.edit("net", net, shorter + "\n    def one(self, x):\n        return x\n")
    editing.agree()


def test_the_way_of_a_module_is_what_it_was_when_it_was_seen(tmp_path: Path) -> None:
    """Another file moves it later: what is said of the place where it is made stays."""
    parts = (
        "from transformers import AutoModelForCausalLM\n\n"
        'net = AutoModelForCausalLM.from_pretrained("name", device_map="auto")\nprint(net)\n'
    )
    editing = Editing(tmp_path, {"parts": parts, "run": "from parts import *\n"})
    editing.said("run")
    editing.edit("run", "import *\n", "import *\n\nnet.to('cuda')\n")
    assert editing.said("parts") == editing.said("parts", editing.fresh())


def test_what_an_edit_replaces_is_held_by_no_note(tmp_path: Path) -> None:
    """The modules that a class makes with symbols go with the text that made them."""
    text = (
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n"
        "        self.layer = nn.Linear(3, 3)\n        self.cuda()\n"
        "        self.late = nn.Linear(3, 3)\n        self.device = torch.device('cuda')\n\n"
        "    def forward(self, x):\n        return self.late(self.layer(x))\n"
    )
    editing = Editing(tmp_path, {"net": text})

    def modules() -> int:
        gc.collect()
        return sum(type(each) is ModuleObject for each in gc.get_objects())

    editing.said("net")
    editing.edit("net", "late = nn.Linear(3, 3)", "late = nn.Linear(3, 3, 1)")
    editing.said("net")
    before = modules()
    for size in range(20):
        editing.edit("net", "late = nn.Linear(3, 3", f"late = nn.Linear(3, 3, {size} + 0")
        editing.said("net")
        editing.edit("net", f"late = nn.Linear(3, 3, {size} + 0", "late = nn.Linear(3, 3")
        editing.said("net")
    assert modules() <= before + 3


def test_the_states_of_a_run_go_with_it(tmp_path: Path) -> None:
    """What was said of a file is kept by whoever asked, here of each version: not with the states
    before all statements, which only a run that stands needs."""
    text = SCRIPT
    editing = Editing(tmp_path, {"run": text})
    path = str(tmp_path / "run.py")

    def look() -> Analysis:
        return editing.project.analyse(path, editing.snapshot())

    def kept() -> int:
        gc.collect()
        return sum(type(each) is Landmarks for each in gc.get_objects())

    analyses = [look()]
    before = kept()
    for size in range(5, 10):
        editing.edit("run", f"nn.Linear({size - 1}, 4)", f"nn.Linear({size}, 4)")
        analyses.append(look())
    assert kept() == before > 0
    assert len({id(each.facts) for each in analyses}) == 6


CACHED = """\
import functools
import os


@functools.lru_cache(maxsize=None)
def is_there(name):
    return os.path.exists(name)
"""
ASKS = """\
import torch
from cached import is_there

if torch.rand(1) > 0.5:
    DEPTH = 1 if is_there("{}") else 2
    WIDTH = 1 if is_there("weights") else 2
"""
USER = """\
import first
import second


def twice(x):
    return x * 2
"""


def test_a_module_that_asks_a_cached_function_under_a_condition_stays(
    tmp_path: Path, ran: list[str]
) -> None:
    (tmp_path / "cached.py").write_text(CACHED, encoding="utf-8")
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text(ASKS.format(name), encoding="utf-8")
    editing = Editing(tmp_path, {"train": USER})
    editing.said("train")
    ran.clear()
    editing.edit("train", "x * 2", "x * 3")
    mine = editing.said("train")
    assert ran == []
    assert mine == editing.said("train", editing.fresh())
