"""Classes outside the workspace, asked of a helper process."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from device_lens.interpreter.protocol import ForeignClass
from device_lens.project.foreign import ForeignClasses

Start = Callable[..., "tuple[ForeignClasses, queue.Queue[str]]"]

ECHO = """\
import json, sys
sys.stdin.readline()
for line in sys.stdin:
    name = json.loads(line)["class"]
    if name == "hang":
        import time
        time.sleep(60)
    if name == "crash":
        sys.exit(3)
    if name == "nonsense":
        print("{", flush=True)
    print(json.dumps({"is_module": name == "Net", "bases": ["B"]}), flush=True)
"""

LIBRARY = {
    "torch/__init__.py": "",
    "torch/nn/__init__.py": "from .modules import *\n",
    "torch/nn/modules/__init__.py": "from .module import Module\nfrom .linear import Linear\n",
    "torch/nn/modules/module.py": "class Module:\n    pass\n",
    "torch/nn/modules/linear.py": "from .module import Module\n\nclass Linear(Module):\n    pass\n",
    "lib/__init__.py": "from .nets import Net, Plain, Odd, Loop\nraise SystemExit('imported')\n",
    "lib/nets.py": (
        "import torch.nn as nn\nfrom missing import Base\n\nclass Mixin:\n    pass\n\n"
        "class Net(Mixin, nn.Linear):\n    pass\n\nclass Plain(Mixin):\n    pass\n\n"
        "class Odd(Base):\n    pass\n\nclass Loop(Loop):\n    pass\n"
    ),
}


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[ForeignClasses] = []

    def begin(**options: object) -> tuple[ForeignClasses, queue.Queue[str]]:
        ready: queue.Queue[str] = queue.Queue()
        search_path = options.pop("search_path", [])
        classes = ForeignClasses(search_path, ready.put, **options)  # type: ignore[arg-type]
        started.append(classes)
        return classes, ready

    yield begin
    for classes in started:
        classes.close()
        assert not classes.is_running


@pytest.fixture
def echo(tmp_path: Path) -> str:
    path = tmp_path / "echo.py"
    path.write_text(ECHO)
    return str(path)


def test_nobody_waits(start: Start, echo: str) -> None:
    classes, ready = start(helper=echo)
    assert not classes.is_running
    assert classes.lookup("Net") is None
    assert ready.get(timeout=30) == "Net"
    assert classes.lookup("Net") == ForeignClass("Net", True, ("B",))
    assert classes.is_running
    assert ready.empty()


def test_the_process_ends_when_idle_and_comes_back(start: Start, echo: str) -> None:
    classes, ready = start(helper=echo, idle_seconds=0.1)
    classes.lookup("A")
    ready.get(timeout=30)
    deadline = time.monotonic() + 30
    while classes.is_running and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not classes.is_running
    classes.lookup("B")
    assert ready.get(timeout=30) == "B"


def test_a_hang_is_ended_and_the_next_question_answered(start: Start, echo: str) -> None:
    classes, ready = start(helper=echo, answer_seconds=2.0)
    classes.lookup("hang")
    classes.lookup("Net")
    assert ready.get(timeout=30) == "Net"
    assert classes.lookup("hang") is None


@pytest.mark.parametrize("name", ["crash", "nonsense"])
def test_a_failure_is_no_answer(start: Start, echo: str, name: str) -> None:
    classes, ready = start(helper=echo)
    classes.lookup(name)
    classes.lookup("A")
    assert ready.get(timeout=30) == "A"
    assert classes.lookup(name) is None


def test_a_helper_that_never_works_is_given_up(start: Start, tmp_path: Path) -> None:
    classes, _ = start(helper=str(tmp_path / "missing.py"))
    for name in "abcd":
        classes.lookup(name)
    deadline = time.monotonic() + 30
    while not classes.has_given_up and time.monotonic() < deadline:
        time.sleep(0.01)
    assert classes.has_given_up
    assert classes.lookup("e") is None


def test_after_close_nothing_is_asked(start: Start, echo: str) -> None:
    classes, ready = start(helper=echo)
    classes.close()
    assert classes.lookup("A") is None
    assert ready.empty()


def test_jedi_knows_modules_without_importing_anything(start: Start, tmp_path: Path) -> None:
    for name, text in LIBRARY.items():
        path = tmp_path / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    classes, ready = start(search_path=[str(tmp_path / "site")])
    names = [
        "lib.Net",
        "lib.Plain",
        "lib.Odd",
        "lib.Loop",
        "lib.none",
        "torch.nn.Module",
        "not a name",
    ]
    for name in names:
        classes.lookup(name)
    for _ in names:
        ready.get(timeout=60)
    module = "torch.nn.modules.module.Module"
    answers = {name: classes.lookup(name) for name in names}
    assert answers["lib.Net"] == ForeignClass(
        "lib.Net", True, ("lib.nets.Mixin", "torch.nn.modules.linear.Linear", module)
    )
    assert answers["lib.Plain"] == ForeignClass("lib.Plain", False, ("lib.nets.Mixin",))
    assert answers["torch.nn.Module"] == ForeignClass("torch.nn.Module", True, ())
    for name in ("lib.Odd", "lib.Loop", "lib.none", "not a name"):
        assert answers[name] == ForeignClass(name, None, None)
