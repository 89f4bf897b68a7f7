"""What the iterations of a loop begin anew: sums and lists that keep the graphs of one step."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any


def starts_anew(loop: Any, accumulator: str) -> bool:
    """Whether the loop's own iterations begin the sum or list: it keeps those of one."""
    base = base_of(accumulator)
    for node in ast.walk(loop):
        if not isinstance(node, ast.Assign) or base not in set[str | None](_bound(node.targets)):
            continue
        if not any(isinstance(each, ast.Name) and each.id == base for each in ast.walk(node.value)):
            return True
    return False


def is_of_one_step(loop: Any, accumulator: str) -> bool:
    """Whether the iterations of a loop that trains begin the sum or list: the backward pass of
    each frees what it keeps, or what that was computed from."""
    return has_backward(loop) and starts_anew(loop, accumulator)


def has_backward(loop: Any) -> bool:
    calls = (each.func for each in ast.walk(loop) if isinstance(each, ast.Call))
    return any(isinstance(func, ast.Attribute) and func.attr == "backward" for func in calls)


def _bound(targets: list[ast.expr]) -> Iterator[str]:
    """The names that targets bind, also in tuples."""
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id
        elif isinstance(target, ast.Tuple | ast.List):
            yield from _bound(target.elts)


def base_of(text: str) -> str | None:
    """The local name that holds the sum or list; None for an attribute, which outlives it."""
    node: ast.AST = ast.parse(text, mode="eval").body
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
