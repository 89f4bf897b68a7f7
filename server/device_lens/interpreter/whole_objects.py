"""Assignments that make another object of one: `obj.__class__ = Other`, `obj.__dict__ = table`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue
from device_lens.domain.heap import Dated, DictObject, Instance, ModuleObject
from device_lens.domain.presence import put_all
from device_lens.domain.values import Const, External, Unknown
from device_lens.models import registry
from device_lens.models.open_names import OPEN, of_class, open_to
from device_lens.models.python import dict_classes
from device_lens.models.torch.unnamed_parts import lose_parts

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_CELL, _CLASS = "<class>", "class"
_ANY_CLASS = External("builtins.object.<any class>")
"""What an object is of whose class hangs on a condition, or is not known."""


class _Cell(Dated):
    """A table with one entry, the class of an object: whoever writes it, or takes that back, gives
    the object another class. It is as old as the object, so that it counts where that does."""

    __slots__ = ("owner",)

    def __init__(self, owner: Instance) -> None:
        super().__init__()
        self.born = getattr(owner.fields, "born", -1)
        self.owner = owner
        dict.__setitem__(self, _CLASS, owner.cls)

    def __setitem__(self, key: Any, value: Any) -> None:
        dict.__setitem__(self, key, value)
        self.owner.cls = _class_for(self.owner.cls, value)


def _class_for(before: Any, value: Any) -> Any:
    """The class that an object gets. One of the program's stays one, though it may have nothing."""
    if type(value) is ClassValue:
        return value
    library = value if type(value) is External else _ANY_CLASS
    if type(before) is not ClassValue:
        return library
    made = ClassValue(before.name, before.node, before.chunk, before.namespace, (library,))
    made.foreign = (library.name, *registry.bases(library.name))
    made.is_module = before.is_module
    return made


def set_whole(machine: Machine, receiver: Instance, name: str, value: Any, source: Any) -> bool:
    """Carries out an assignment to `__class__` or `__dict__`; whether it is one."""
    if name == "__class__":
        cell = receiver.fields.get(_CELL)
        if type(cell) is not _Cell or cell.owner is not receiver:
            cell = _Cell(receiver)
            machine.journal.write(receiver.fields, _CELL, cell)
        machine.journal.write(cell, _CLASS, value)
        return True
    if name != "__dict__":
        return False
    if type(receiver) is Instance and value is receiver:
        machine.journal.write(receiver.fields, dict_classes.AS_ATTRIBUTES, Const(True))
        return True
    _empty(machine, receiver)
    is_new = isinstance(source, ast.Dict | ast.Call)  # any other dict may be changed as a dict
    if type(value) is DictObject and is_new and OPEN not in value.fields and value.rest is None:
        put_all(machine.journal, value.entries, receiver.fields)
    else:
        open_to(machine.journal, receiver.fields, Unknown("a name"))
        _hide_class(machine, receiver)
    return True


def _empty(machine: Machine, receiver: Instance) -> None:
    """Takes all attributes from an object, with the parts of a module."""
    for name in [each for each in receiver.fields if isinstance(each, str) and each[:1] != "<"]:
        machine.journal.delete(receiver.fields, name)
    if isinstance(receiver, ModuleObject):
        lose_parts(machine, receiver)


def _hide_class(machine: Machine, receiver: Instance) -> None:
    """What the class has under a name the object may have, too."""
    for name, _ in of_class(receiver, ""):
        machine.journal.write(receiver.fields, name, Unknown(name))
