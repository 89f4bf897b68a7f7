"""What a program's text tells of gradients: computed, or cleared and not computed since."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from device_lens.interpreter.frames import Frame
from device_lens.syntax.walking import walk


def cleared_before(node: Any, frame: Frame) -> bool:
    """Whether the text of the function (or of the top-level statement) around a call clears
    gradients before it, and computes none in between."""
    if not hasattr(node, "lineno"):
        return False
    around = frame.chunk.body if frame.function is None else (frame.function.node,)
    nodes = (each for part in around for each in walk(part))
    return clears(nodes, (node.lineno, node.col_offset)) is True


def clears(nodes: Iterable[ast.AST], before: tuple[int, int] | None = None) -> bool | None:
    """Whether the last call that clears or computes gradients clears them; None: there is none."""
    last: tuple[int, int] | None = None
    found: bool | None = None
    for node in nodes:
        told = _clears(node) if isinstance(node, ast.Call) else None
        if told is None or not isinstance(node, ast.Call):
            continue
        place = (node.lineno, node.col_offset)
        if (before is None or place < before) and (last is None or place > last):
            last, found = place, told
    return found


def _clears(node: ast.Call) -> bool | None:
    func = node.func
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    if "backward" in name:
        return False
    return True if name == "zero_grad" and not _keeps_zeros(node) else None


def _keeps_zeros(node: ast.Call) -> bool:
    """`zero_grad(set_to_none=False)`: gradients are there still, all zero."""
    given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "set_to_none")]
    return any(isinstance(value, ast.Constant) and value.value is False for value in given)
