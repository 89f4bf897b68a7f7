"""What a program's text tells of gradients: computed, or cleared and not computed since."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from device_lens.interpreter.frames import Frame
from device_lens.syntax.walking import walk

Told = tuple[tuple[tuple[int, int], bool], ...]
"""The calls that clear (True) or compute (False) gradients, each with its place."""
_TOLD = "_gradients_told"
"""The entry of a node under which these are kept, for as long as the node lives."""


def cleared_before(node: Any, frame: Frame) -> bool:
    """Whether the text of the function (or of the top-level statement) around a call clears
    gradients before it, and computes none in between."""
    if not hasattr(node, "lineno"):
        return False
    around = frame.chunk.body if frame.function is None else (frame.function.node,)
    told = (each for part in around for each in _told_within(part))
    return _last(told, (node.lineno, node.col_offset)) is True


def clears(nodes: Iterable[ast.AST]) -> bool | None:
    """Whether the last call that clears or computes gradients clears them; None: there is none."""
    return _last(_told(nodes))


def _told_within(node: Any) -> Told:
    known: Told | None = node.__dict__.get(_TOLD)
    if known is None:
        known = node.__dict__[_TOLD] = tuple(_told(walk(node)))
    return known


def _told(nodes: Iterable[ast.AST]) -> Iterator[tuple[tuple[int, int], bool]]:
    for node in nodes:
        told = _clears(node) if isinstance(node, ast.Call) else None
        if told is not None and isinstance(node, ast.Call):
            yield (node.lineno, node.col_offset), told


def _last(
    told: Iterable[tuple[tuple[int, int], bool]], before: tuple[int, int] | None = None
) -> bool | None:
    """What the last call tells, of those before a place."""
    last: tuple[int, int] | None = None
    found: bool | None = None
    for place, clearing in told:
        if (before is None or place < before) and (last is None or place > last):
            last, found = place, clearing
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
