"""What the text of a definition shows, and what runs where only findings are asked for."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from device_lens.ide.places import range_of
from device_lens.ide.project import Project
from device_lens.interpreter.evidence import Names, shows
from device_lens.interpreter.relevance import words_in

NAMES = Names({"nn": "torch.nn", "th": "torch", "fresh": "torch.zeros"})

TELLING = {
    "a maker": "def f(n):\n    return torch.zeros(n)",
    "a maker on no device": "def f(n):\n    return torch.zeros(n, device=None)",
    "a maker that is handed on": "def f(xs):\n    return map(torch.tensor, xs)",
    "a move": "def f(x, d):\n    return x.to(d)",
    "a move to a named device": "def f(x):\n    return g(x, 'cuda:0')",
    "a conversion that is dropped": "def f(x):\n    x.to(torch.float16)",
    "a read": "def f(x):\n    return x.item()",
    "a read in a loop": "def f(xs: torch.Tensor):\n    for x in xs:\n        print(x.mean())",
    "a test in a loop": "def f(xs: torch.Tensor):\n"
    "    for x in xs:\n        if x.any():\n            break",
    "a maker of a module of another name": "def f(n):\n    return th.zeros(n)",
    "a maker of another name": "def f(n):\n    return fresh(n)",
    "another name of its own": "def f(n):\n    import torch as t\n    return t.zeros(n)",
    "a maker of its own, renamed": "def f(n):\n    from torch import ones as o\n    return o(n)",
    "a name in a loop": "def f(xs: torch.Tensor):\n    for n, x in xs:\n        print(f'{n}')",
    "a mask in a loop": "def f(xs: torch.Tensor, keep: torch.Tensor):\n"
    "    for x in xs:\n        g(x[keep])",
    "a time in a loop": "def f(t, end):\n    while t < end:\n        t = g(t)",
    "rows in a loop": "def f(xs: torch.Tensor):\n"
    "    for x in xs:\n        g(x.nonzero(as_tuple=True))",
    "a sum in a loop": "def f(xs: torch.Tensor):\n    t = 0\n    for x in xs:\n        t +"
    "= x\n        print(t)",
    "an import of its own": "def f(n):\n    from torch import zeros\n    return zeros(n)",
}
SILENT = {
    "arithmetic": "def f(x, y):\n    return x @ y.transpose(1, 2) + x.mean()",
    "a maker where another tensor is": "def f(x):\n    return torch.zeros(3, device=x.device)",
    "a conversion": "def f(x):\n    return x.to(torch.float32) * x.to(dtype=x.dtype)",
    "numbers of a range": "def f(n):\n    return [x.item() for x in torch.linspace(0, 1, n)]",
    "a counter as an index": "def f(n, x):\n    i = 0\n    while i < n.size(0):\n        g(x[i])\n"
    "        idx = i + 1\n        i += 1\n        g(x[idx])",
    "names of parts": "def f(m):\n    for name, part in m.named_children():\n"
    "        print(name, name.split('.')[0])",
    "numbers that are given": "def f(xs, scale=1.0, n: int = 3):\n    for x in xs:\n"
    "        g(f'{scale * n}', x)",
    "an error": "def f(xs):\n    for x in xs:\n        raise ValueError(f'{x}')",
    "an exception": "def f(xs):\n    for x in xs:\n        try:\n            g(x)\n"
    "        except ValueError as error:\n            print(error)",
    "a list of numbers": "def f(xs):\n    sizes = []\n    for x in xs:\n"
    "        sizes.append(len(x))\n        print(sizes[-1] / 2.0, sum(sizes))",
    "what nothing is known of": "def f(xs, keep):\n"
    "    for x in xs:\n        print(x.mean(), x[keep])",
    "numbers of a type": "def f(xs: list[tuple[int, ...]]):\n    for x in xs:\n"
    "        print(x[0] * 2.0)",
    "a count in a loop": "def f(n):\n    for i in range(n):\n        print(f'{i + 1}')",
}
TELLING_OF_MODULES = {
    "a tensor that no move finds": "self.x = torch.zeros(3)",
    "a list of parts": "self.parts = [Part() for _ in range(3)]",
    "a tensor of a part": "self.tied = self.layer.weight.t()",
    "what a part gives": "self.size = 3 * self.pool.features()",
    "a part's tensors": "self.kept = list(self.layer.parameters())",
}
SILENT_OF_MODULES = {
    "a parameter": "self.x = nn.Parameter(torch.zeros(3))",
    "a buffer": "self.register_buffer('x', torch.zeros(3))",
    "parts": "self.parts = nn.ModuleList([Part() for _ in range(3)])",
    "a place of a part": "self.ends = [self.names.index(name) for name in self.taps]",
    "numbers of a part": "self.size = 3 * self.pool.count()",
    "a compiled part": "self.layer = torch.compile(self.layer)",
    "what depends on a number": "self.layer = self.makers[self.number()](3)",
    "a list of numbers": "self.sizes = [dict(size=n) for n in range(3)]",
}


def shown(text: str, in_module: bool = False) -> bool:
    node = ast.parse(text).body[0]
    return shows(text, words_in(text), node, in_module, NAMES, lambda name: name == "number")


@pytest.mark.parametrize("what", TELLING)
def test_what_shows_something_of_devices(what: str) -> None:
    assert shown(TELLING[what])


@pytest.mark.parametrize("what", SILENT)
def test_what_can_tell_nothing_by_itself(what: str) -> None:
    assert not shown(SILENT[what])


def test_what_is_nested_too_deep_to_look_at() -> None:
    chain = " + ".join(["x"] * 2_000)
    assert shown(f"def f(x):\n    return g({chain}, x.mean().to(torch.float32))")


@pytest.mark.parametrize("what", TELLING_OF_MODULES | SILENT_OF_MODULES)
def test_what_a_constructor_keeps(what: str) -> None:
    line = (TELLING_OF_MODULES | SILENT_OF_MODULES)[what]
    text = f"class A(nn.Module):\n    def __init__(self):\n        {line}"
    assert shown(text, in_module=True) is (what in TELLING_OF_MODULES)


CLASS = """
class A:
    def __init__(self, stride: int = 2, x=None):
        self.stride = stride
        self.names = []
        self.x = x
        self.grown = 0

    def f(self, items):
        for item in items:
            print(f"{READ}")
            self.names.append(item.name.split(".")[0] if self.stride else "")

    def g(self, y):
        self.grown += y
"""


@pytest.mark.parametrize(
    ("read", "tells"),
    [("self.stride", False), ("self.x", True), ("self.grown", True), ("self.other", True)],
)
def test_attributes_that_are_numbers(read: str, tells: bool) -> None:
    assert shown(CLASS.replace("READ", read)) is tells


LIBRARY = """
import torch
from torch import nn


class Grid(nn.Module):
    def forward(self, n):
        return torch.arange(n)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.grid = Grid()

    def forward(self, x):
        return self.layer(x) + self.grid(3)


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x) + x
"""


def ran(root: Path, only_findings: bool) -> set[str]:
    """The names of what runs alone in a library."""
    path = root / "library.py"
    path.write_text(LIBRARY, encoding="utf-8")
    project = Project(str(root))
    project.index([str(path)])
    (analysis,) = project.analyse_together([str(path)], only_findings=only_findings)
    source = analysis.facts.source
    read = [source.text_of(range_of(source, each.site)) for each in analysis.facts.expressions]
    returned = {"Grid": "torch.arange(n)", "Block": "self.grid(3)", "Plain": "self.layer(x) + x"}
    return {name for name, text in returned.items() if text in read}


def test_what_uses_a_tensor_that_another_gives_runs_too(tmp_path: Path) -> None:
    assert ran(tmp_path, only_findings=False) == {"Grid", "Block", "Plain"}
    assert ran(tmp_path, only_findings=True) == {"Grid", "Block"}
