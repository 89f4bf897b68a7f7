"""Nodes that stand for another one at the same place, and move with it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

from device_lens.syntax.walking import walk

_TWIN = "_twin"
Node = TypeVar("Node", bound=ast.AST)


def twin(node: ast.AST, make: Callable[[], Node]) -> Node:
    """The node that stands for another one, made once."""
    known: Node | None = node.__dict__.get(_TWIN)
    if known is None:
        known = node.__dict__[_TWIN] = make()
    return known


def move(node: ast.AST, lines: int) -> None:
    """Moves a node with all that it has, and with what stands for them, down by some lines."""
    for inner in walk(node):
        for each in (inner, inner.__dict__.get(_TWIN)):
            if isinstance(each, ast.AST) and "lineno" in each.__dict__:
                each.__dict__["lineno"] += lines
                each.__dict__["end_lineno"] += lines
