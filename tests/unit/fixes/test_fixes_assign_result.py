"""The result of a transfer that was thrown away, assigned."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest
from fix_snippets import expected, find, rewritten

from device_lens.fixes.assign_result import assign_result
from device_lens.fixes.edit import Fix
from device_lens.fixes.refill import Known
from device_lens.syntax.source import SourceFile


def _assign(call: str) -> Callable[[SourceFile], Fix | None]:
    def rewrite(source: SourceFile) -> Fix | None:
        called = "(" in call
        kind = ast.Call if called else ast.Attribute
        return assign_result(find(source, call, kind), called, Known(lambda _: None))

    return rewrite


@pytest.mark.parametrize(
    ("before", "call", "after"),
    [
        ("x = f()\nx.to(d)\n", "x.to(d)", "x = f()\nx = x.to(d)\n"),
        ("self.x.to(d)  # why\n", "self.x.to(d)", "self.x = self.x.to(d)  # why\n"),
        ('batch["x"].cuda()\n', 'batch["x"].cuda()', 'batch["x"] = batch["x"].cuda()\n'),
        ("if a: x.to(d)\n", "x.to(d)", "if a: x = x.to(d)\n"),
        ("x.to(d); y()\n", "x.to(d)", "x = x.to(d); y()\n"),
        ("x.to(\n    d,  # c\n)\n", "x.to(", "x = x.to(\n    d,  # c\n)\n"),
        ("x.to(d).half()\n", "x.to(d).half()", "x = x.to(d).half()\n"),
        ("x.cuda\n", "x.cuda", "x = x.cuda()\n"),
        ("def f(n):\n\treturn n.cuda\n", "n.cuda", "def f(n):\n\treturn n.cuda()\n"),
        ("def f(é):\n    é.to(d)\n", "é.to(d)", "def f(é):\n    é = é.to(d)\n"),
        ("[t.to(d) for t in xs]\n", "t.to(d)", "xs = [t.to(d) for t in xs]\n"),
        (
            "[v.to(d) for v in b.values()]\n",
            "v.to(d)",
            "b.update({k: v.to(d) for k, v in b.items()})\n",
        ),
        ("for t in xs:\n    t.to(d)\n", "t.to(d)", "xs = [t.to(d) for t in xs]\n"),
        (
            "for t in xs:\n    t.to(d)\n    f(t)\n",
            "t.to(d)",
            "for t in xs:\n    t = t.to(d)\n    f(t)\n",
        ),
    ],
)
def test_assigned(before: str, call: str, after: str) -> None:
    assert rewritten(before, _assign(call)) == expected(after)


@pytest.mark.parametrize(
    ("before", "call"),
    [
        ("def f():\n    x.to(d)\n", "x.to(d)"),
        ("f(y).to(d)\n", "f(y).to(d)"),
    ],
    ids=["a global name", "nothing to assign to"],
)
def test_not_assigned(before: str, call: str) -> None:
    assert rewritten(before, _assign(call)) is None
