"""Which statements leave the value of an expression what it was."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest
from fix_snippets import find, source_of

from device_lens.fixes.same_value import Between, Program

BEFORE = """\
import torch
from helpers import setup

def choose():
    global chosen
    chosen = torch.device("cuda")

class Net:
    def __init__(self):
        self.device = torch.device("cuda")

    def forward(self, x):
        above(x)
"""


@pytest.mark.parametrize(
    ("target", "statement", "kept"),
    [
        ("device", "other = 1", True),
        ("device", "device = 1", False),
        ("device", "choose()", True),
        ("chosen", "choose()", False),
        ("chosen", "torch.manual_seed(0)", True),
        ("x.device", "run(x)", True),
        ("x.device", "x.data = y", False),
        ("net.weight.device", "print(1)", True),
        ("net.weight.device", "net.to(device)", False),
        ("net.weight.device", "setup(net)", False),
        ("net.weight.device", "setup(device)", True),
        ("self.device", "y = run(x)", True),
        ("self.device", "self.device = 1", False),
        ("cfg.device", "run(x)", False),
        ("cfg['device']", "torch.zeros(2)", True),
        ("cfg['device']", "cfg['device'] = 1", False),
        ("cfg['device']", "x[0] = 1", True),
        ("where()", "x = 1", True),
        ("where()", "run()", False),
        ("torch.device('cuda')", "run()", True),
    ],
)
def test_the_value_is_kept(target: str, statement: str, kept: bool) -> None:
    source = source_of(f"{BEFORE}        {statement}\n        below({target})\n")
    below = find(source, "below(", ast.Call)
    between = [find(source, statement, ast.stmt).node]
    program = Program([source], lambda node: isinstance(node, ast.Name) and node.id == "x")
    assert isinstance(below.node, ast.Call)
    assert Between(below, between, program).keeps(below.node.args) is kept


@pytest.mark.parametrize(
    ("statement", "kept"),
    [
        ("torch.cuda.set_device(1)", False),
        ("start()", False),
        ("torch.zeros(2)", True),
        ("x = 1", True),
    ],
)
def test_the_current_device_is_kept(statement: str, kept: bool) -> None:
    start = "import torch\n\ndef start():\n    torch.cuda.set_device(1)\n\n"
    source = source_of(dedent(f"{start}if True:\n    {statement}\n    below()\n"))
    nth = 1 if statement.startswith("torch.cuda") else 0
    between = [find(source, statement, ast.stmt, nth).node]
    program = Program([source], lambda node: False)
    assert Between(find(source, "below(", ast.Call), between, program).keeps_current_device is kept
