"""Classes of the program that are enumerations: their members, and finding one by its value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue, Function
from device_lens.domain.guard import Guarded
from device_lens.domain.heap import Instance
from device_lens.domain.join import join
from device_lens.domain.values import TRUE, Const, External, Unknown

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_MEMBER = "<member>"


def is_enumeration(cls: ClassValue) -> bool:
    return any(name.startswith("enum.") for name in cls.foreign)


def make_members(machine: Machine, cls: ClassValue) -> None:
    """Turns the values in a class body into members."""
    for name, value in list(cls.fields.items()):
        if name.startswith("_") or isinstance(value, Function | ClassValue | External):
            continue
        member = Instance(cls, cls.node)
        member.fields.update({"name": Const(name), "value": value, _MEMBER: TRUE})
        machine.journal.write(cls.fields, name, member)


def members(cls: ClassValue) -> tuple[Instance, ...]:
    """In the order of their definition."""
    return tuple(value for value in cls.fields.values() if is_member(value))


def is_member(value: Any) -> bool:
    return type(value) is Instance and _MEMBER in value.fields


def member_of_value(cls: ClassValue, value: Any) -> Any:
    """`Color(value)`."""
    if type(value) is Guarded:
        condition = Guarded(value.atom, True, False)
        return join(condition, member_of_value(cls, value.yes), member_of_value(cls, value.no))
    if is_member(value):
        return value
    found = [member for member in members(cls) if member.fields["value"] == value]
    return found[0] if type(value) is Const and found else Unknown(cls.name)


def member_named(cls: ClassValue, name: Any) -> Any:
    """`Color["RED"]`."""
    if type(name) is Guarded:
        condition = Guarded(name.atom, True, False)
        return join(condition, member_named(cls, name.yes), member_named(cls, name.no))
    found = cls.fields.get(name.value) if type(name) is Const else None
    return found if is_member(found) else Unknown(cls.name)
