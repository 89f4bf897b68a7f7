"""What setting or deleting an attribute whose name is not known does to those that there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue, Namespace
from device_lens.domain.guard import Guarded, undecided
from device_lens.domain.heap import Entries, Instance, ModuleObject, Table
from device_lens.domain.presence import either, presence, settle
from device_lens.domain.values import Const, DeviceValue, Tensor, Unknown
from device_lens.interpreter import assignment
from device_lens.interpreter.frames import Frame
from device_lens.models.numbers import start_of
from device_lens.models.open_names import OPEN, hide_some, met_by, named_in, open_to
from device_lens.models.torch import module as torch_module
from device_lens.models.torch import unnamed_parts

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


def set_some(
    machine: Machine, receiver: Any, name: Any, value: Any, node: Any, frame: Frame
) -> None:
    """`setattr(receiver, name, value)`."""
    if assignment.through_own_setter(machine, receiver, name, value, node, frame):
        return
    torch_module.hold(machine, receiver, value)
    if isinstance(receiver, Instance):
        _set_plain(machine, receiver, name, value)
        hide_some(machine.journal, receiver, name, value)
        open_to(machine.journal, receiver.fields, name)
    elif isinstance(receiver, ClassValue | Namespace):
        _set_shared(machine, receiver, name, value)
    if type(receiver) is ModuleObject:
        unnamed_parts.set_part(machine, receiver, name, value)
    elif type(receiver) is Unknown:
        torch_module.part_set(machine, receiver, "", value)
        _set_in_unknown(machine, receiver, name, value)


def delete_some(machine: Machine, receiver: Any, name: Any) -> None:
    """`delattr(receiver, name)`."""
    if type(receiver) is ModuleObject:
        unnamed_parts.delete_some(machine, receiver, name)
    if isinstance(receiver, Instance):
        for each, _ in _meant(receiver, name):
            _settle(machine, receiver, each, False, presence(receiver.fields, each))
    elif isinstance(receiver, ClassValue | Namespace):
        _delete_shared(machine, receiver, start_of(name))


def _delete_shared(machine: Machine, holder: ClassValue | Namespace, start: str) -> None:
    """Of a value that may be gone, and may have hidden another, nothing is known."""
    table: Table = holder.fields if isinstance(holder, ClassValue) else holder.scope.names
    for name, value in list(table.items()):
        if name.startswith(start) and type(value) in (Const, DeviceValue, Guarded, Tensor):
            machine.journal.write(table, name, Unknown(name))


def _set_in_unknown(machine: Machine, receiver: Unknown, asked: Any, given: Any) -> None:
    """What the program has set of something that is not known may be another value."""
    start = start_of(asked)
    for name, value in list((receiver.fields or {}).items()):
        is_meant = isinstance(name, str) and name[:1] != "<" and name.startswith(start)
        met = met_by(name, value, given) if is_meant else value
        if met is not value:
            machine.journal.write(receiver.parts(), name, met)


def _meant(instance: Instance, name: Any) -> Iterator[tuple[str, Any]]:
    """The attributes that there are which a name may mean."""
    start = start_of(name)
    for each, value in list(instance.fields.items()):
        if isinstance(each, str) and each[:1] != "<" and each != OPEN and each.startswith(start):
            yield each, value


def _set_shared(machine: Machine, holder: ClassValue | Namespace, asked: Any, given: Any) -> None:
    """The same of a class, which hides what its bases have, or of a module."""
    start = start_of(asked)
    if isinstance(holder, ClassValue):
        table: Table = holder.fields
        known = named_in(holder, start)
    else:
        table = holder.scope.names
        known = [pair for pair in table.items() if pair[0].startswith(start)]
    for name, value in known:
        met = met_by(name, value, given)
        if met is not value:
            machine.journal.write(table, name, met)


def _set_plain(machine: Machine, instance: Instance, asked: Any, given: Any) -> None:
    """Those that there are may be what is given. One that is not known may be any setting, or
    stand for any tensor; what is set is of the kind that it was."""
    for name, value in _meant(instance, asked):
        met = met_by(name, value, given)
        if met is not value:
            there = presence(instance.fields, name)
            machine.journal.write(instance.fields, name, met)
            _settle(machine, instance, name, True, there)


def _settle(machine: Machine, instance: Instance, name: str, changed: bool, before: Any) -> None:
    """An attribute is there as a change of one that it may be has it, or as it was before."""
    if isinstance(instance.fields, Entries):
        there = either(undecided(), changed, before)
        settle(machine.journal, instance.fields, name, there)
