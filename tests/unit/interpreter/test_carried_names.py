"""Which names a loop hands from pass to pass, told from its text."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any

import pytest

from device_lens.interpreter import carried


def names_of(text: str) -> set[str] | None:
    """The names that the first loop of a function with this body hands on."""
    lines = "\n".join("    " + line for line in text.strip().split("\n"))
    function = ast.parse(f"def f(items, flag):\n{lines}\n").body[0]
    loop: Any = next(node for node in ast.walk(function) if isinstance(node, ast.For | ast.While))
    frame: Any = SimpleNamespace(function=SimpleNamespace(node=function))
    found = carried.names(loop, frame)
    return None if found is None else set(found)


@pytest.mark.parametrize(
    ("text", "handed"),
    [
        ("for x in items:\n    y = x + 1\n    z = y", set()),
        ("for x in items:\n    z = y\n    y = x", {"y"}),
        ("for x in items:\n    y += x", {"y"}),
        ("for x in items:\n    if flag:\n        y = x\n    print(y)", {"y"}),
        (
            "for x in items:\n    if flag:\n        y = x\n    else:\n        y = 1\n    print(y)",
            set(),
        ),
        (
            "for x in items:\n    if flag:\n        break\n    else:\n        y = 1\n    print(y)",
            set(),
        ),
        ("for x in items:\n    for z in x:\n        y = z\n    print(y)", {"y"}),
        ("for x in items:\n    with x as y:\n        z = y\n    print(z)", set()),
        ("for x in items:\n    with suppress(E):\n        z = x\n    print(z)", {"z"}),
        (
            "for x in items:\n    try:\n        y = x\n    except E:\n        pass\n    print(y)",
            {"y"},
        ),
        (
            "for x in items:\n    try:\n        y = x\n    except E:\n        break\n    print(y)",
            set(),
        ),
        (
            "for x in items:\n    try:\n        pass\n    finally:\n        y = x\n    print(y)",
            set(),
        ),
        ("while y:\n    y = 1", {"y"}),
        ("for x in items:\n    match x:\n        case [a, *b]:\n            print(a, b)", set()),
        ("for x in items:\n    a, (b, *c) = x\n    print(a, b, c)", set()),
        ("for x in items:\n    y = x\n    k = lambda: y", {"y"}),
        ("for x in items:\n    y = x\n    del y", {"y"}),
        ("def g():\n    return y\nfor x in items:\n    y = x", {"y"}),
        ("for x in items:\n    y = x\n    print(locals())", None),
    ],
)
def test_names_that_a_pass_may_read_before_it_binds_them(
    text: str, handed: set[str] | None
) -> None:
    assert names_of(text) == handed
