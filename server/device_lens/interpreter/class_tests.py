"""Tests of the very class of an object that was made with symbols: `type(self) is Base`.

Such an object stands for those of classes that derive from its own too.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from device_lens.domain.heap import Instance
from device_lens.interpreter.expressions import lookup

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine


def asks_class_of_symbol(machine: Machine, node: object, frame: Frame) -> bool:
    """Whether a comparison asks which class, or the class of which name, such an object has."""
    if not machine.symbolic or not isinstance(node, ast.Compare):
        return False
    return any(_is_class_of_symbol(machine, side, frame) for side in (node.left, *node.comparators))


def _is_class_of_symbol(machine: Machine, node: ast.expr, frame: Frame) -> bool:
    match node:
        case ast.Attribute(value=inner, attr="__name__" | "__qualname__"):
            return _is_class_of_symbol(machine, inner, frame)
        case ast.Call(func=ast.Name(id="type"), args=[ast.Name(id=name)], keywords=[]):
            pass
        case ast.Attribute(value=ast.Name(id=name), attr="__class__"):
            pass
        case _:
            return False
    value = lookup(machine, name, frame)
    return isinstance(value, Instance) and value.site is getattr(value.cls, "node", value)
