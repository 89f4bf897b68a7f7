"""What the iterations of a loop begin anew: sums and lists that keep the graphs of one step."""

from __future__ import annotations

import ast
from itertools import pairwise
from typing import Any

from device_lens.interpreter import scan
from device_lens.syntax.walking import walk


def starts_anew(loop: Any, accumulator: str) -> bool:
    """Whether the loop's own iterations begin the sum or list: it keeps those of one."""
    base = base_of(accumulator)
    for node in walk(loop):
        if not isinstance(node, ast.Assign) or base not in _bound(node):
            continue
        if not any(isinstance(each, ast.Name) and each.id == base for each in walk(node.value)):
            return True
    return False


def is_of_one_step(loops: list[Any], accumulator: str) -> bool:
    """Whether one of some loops around a place, outermost first, begins the sum or list in each of
    its iterations, which is a step of the training: it runs the backward pass or the optimizer
    around the loops within. The list keeps what that step needs anyway, or what its backward pass
    has freed."""
    for loop, inner in pairwise(loops):
        if starts_anew(loop, accumulator) and _trains_around(loop, inner):
            return True
    return False


def _trains_around(loop: Any, inner: Any) -> bool:
    within = {id(node) for node in walk(inner)}
    return any(_is_of_training(node) for node in walk(loop) if id(node) not in within)


def _is_of_training(node: ast.AST) -> bool:
    function = node.func if isinstance(node, ast.Call) else None
    if not isinstance(function, ast.Attribute):
        return False
    is_step = function.attr == "step" and "optim" in ast.unparse(function.value).lower()
    return is_step or function.attr == "backward"


def _bound(node: ast.Assign) -> set[str | None]:
    return {name for target in node.targets for name in scan.names_bound(target)}


def has_backward(loop: Any) -> bool:
    """Whether the text of a loop runs a backward pass."""
    calls = (each.func for each in walk(loop) if isinstance(each, ast.Call))
    return any(isinstance(func, ast.Attribute) and func.attr == "backward" for func in calls)


def base_of(text: str) -> str | None:
    """The local name that holds the sum or list; None for an attribute, which outlives it."""
    node: ast.AST = ast.parse(text, mode="eval").body
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
