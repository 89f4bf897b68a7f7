"""Tests of whether two tensors have one shape.

A module that keeps what it was given last, to tell whether its next input is the same, begins with
something of another shape: the two never meet, wherever they are.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine


def text_of(node: Any, frame: Frame) -> str:
    """How a comparison of two shapes is called, whichever stands first; nothing for others, and
    where the program ends unless they are equal: that is what they are expected to be."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or _insists(frame.statement):
        return ""
    left, right = _shape_of(node.left), _shape_of(node.comparators[0])
    return _named(left, right) if left and right else ""


def are_alike(machine: Machine, left: str, right: str) -> bool:
    """Whether what two expressions stand for was found to have one shape, though another one would
    have done."""
    asked = _named(left, right)
    return any(value and atom.text == asked for atom, value in machine.path.literals)


def _named(left: str, right: str) -> str:
    first, second = sorted((left, right))
    return f"{first}.shape == {second}.shape"


def _shape_of(node: ast.expr) -> str:
    """The text of what an expression is the shape of."""
    if isinstance(node, ast.Call) and not node.args and not node.keywords:
        is_size = isinstance(node.func, ast.Attribute) and node.func.attr == "size"
        return ast.unparse(node.func.value) if is_size else ""  # type: ignore[attr-defined]
    is_shape = isinstance(node, ast.Attribute) and node.attr == "shape"
    return ast.unparse(node.value) if is_shape else ""  # type: ignore[attr-defined]


def _insists(statement: Any) -> bool:
    """Whether a statement raises where its test fails."""
    if isinstance(statement, ast.If):
        return isinstance(statement.body[-1], ast.Raise)
    return isinstance(statement, ast.Assert)
