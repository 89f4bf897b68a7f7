"""Attributes and items that are read, set and deleted by the methods and functions that do so, as
`object.__setattr__(obj, name, value)` and `operator.setitem(table, key, value)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.heap import ModuleObject
from device_lens.domain.values import NONE, Const, Tensor
from device_lens.interpreter import assignment, unnamed_attributes
from device_lens.interpreter.dispatch import INTRINSICS
from device_lens.interpreter.frames import Frame
from device_lens.models.call import constant

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

SETTER, DELETER, GETTER = "__setattr__", "__delattr__", "__getattribute__"
WRITERS = (SETTER, DELETER)
METHODS = (*WRITERS, GETTER)
"""Methods that every object has for that."""


def by_method(machine: Machine, name: str, args: tuple[Any, ...], node: Any, frame: Frame) -> Any:
    """What such a method of a class of Python's or a library's gives; None where it is none."""
    method = name.rpartition(".")[2]
    if method == SETTER:
        return set_by_call(machine, name, args, node, frame)
    if method == DELETER:
        return _delattr(machine, args, {}, node, frame)
    if method == GETTER and len(args) == 2:
        return INTRINSICS["builtins.getattr"](machine, args, {}, node, frame)
    return None


def set_by_call(
    machine: Machine, setter: str, args: tuple[Any, ...], node: Any, frame: Frame
) -> Any:
    """`object.__setattr__(obj, name, value)`. What is put into a module so is registered nowhere:
    it stays where it is when the module moves."""
    if len(args) == 3 and isinstance(name := constant(args[1]), str):
        is_plain = setter.endswith("object.__setattr__") and name[:2] != "__"
        if type(args[0]) is ModuleObject and is_plain:
            machine.journal.write(args[0].fields, name, args[2])
        else:
            assignment.set_attribute(machine, args[0], name, args[2], node, frame, None)
    elif len(args) == 3:
        _setattr(machine, args, {}, node, frame)
    return NONE


def _setattr(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    if len(args) == 3 and type(args[1]) is Const and isinstance(args[1].value, str):
        is_plain = isinstance(node, ast.Call) and len(node.args) == 3
        held, source = (node.args[0], node.args[2]) if is_plain else (None, None)
        if type(args[0]) is Tensor:
            assignment.set_on_tensor(machine, held, args[1].value, args[0], args[2], node, frame)
        else:
            assignment.set_attribute(machine, args[0], args[1].value, args[2], node, frame, source)
    elif len(args) == 3:
        unnamed_attributes.set_some(machine, args[0], args[1], args[2], node, frame)
    return NONE


def _delattr(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    if len(args) == 2 and type(args[1]) is Const and isinstance(args[1].value, str):
        assignment.delete_attribute(machine, args[0], args[1].value)
    elif len(args) == 2:
        unnamed_attributes.delete_some(machine, args[0], args[1])
    return NONE


def _set_item(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    """`operator.setitem(table, key, value)`."""
    from device_lens.interpreter.item_stores import set_item

    if len(args) == 3:
        set_item(machine, *args, node, frame)
    return NONE


def _delete_item(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    """`operator.delitem(table, key)`."""
    from device_lens.interpreter.item_stores import delete_item

    if len(args) == 2:
        delete_item(machine, *args, node, frame)
    return NONE


INTRINSICS.update(
    {
        "builtins.setattr": _setattr,
        "builtins.delattr": _delattr,
        "operator.setitem": _set_item,
        "operator.delitem": _delete_item,
    }
)
