"""What setting or deleting an attribute whose name is not known does to those that there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from device_lens.domain import perhaps_none
from device_lens.domain.device import UNKNOWN_DEVICE, is_unknown
from device_lens.domain.guard import Guarded, leaves, undecided
from device_lens.domain.heap import Entries, Instance, ModuleObject
from device_lens.domain.presence import either, presence, settle
from device_lens.domain.values import NONE, Const, DeviceValue, Tensor, Unknown
from device_lens.interpreter import assignment
from device_lens.interpreter.frames import Frame
from device_lens.models.numbers import start_of
from device_lens.models.open_names import OPEN, open_to
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
        open_to(machine.journal, receiver.fields, name)
    if type(receiver) is ModuleObject:
        unnamed_parts.set_part(machine, receiver, name, value)
    elif type(receiver) is Unknown:
        torch_module.part_set(machine, receiver, "", value)


def delete_some(machine: Machine, receiver: Any, name: Any) -> None:
    """`delattr(receiver, name)`."""
    if type(receiver) is ModuleObject:
        unnamed_parts.delete_some(machine, receiver, name)
    if isinstance(receiver, Instance):
        for each, _ in _meant(receiver, name):
            _settle(machine, receiver, each, False, presence(receiver.fields, each))


def _meant(instance: Instance, name: Any) -> Iterator[tuple[str, Any]]:
    """The attributes that there are which a name may mean."""
    start = start_of(name)
    for each, value in list(instance.fields.items()):
        if isinstance(each, str) and each[:1] != "<" and each != OPEN and each.startswith(start):
            yield each, value


def _set_plain(machine: Machine, instance: Instance, asked: Any, given: Any) -> None:
    """Those that there are may be what is given. One that is not known may be any setting, or
    stand for any tensor; what is set is of the kind that it was."""
    for name, value in _meant(instance, asked):
        met = _met(name, value, given)
        if met is not value:
            there = presence(instance.fields, name)
            machine.journal.write(instance.fields, name, met)
            _settle(machine, instance, name, True, there)


def _met(name: str, value: Any, given: Any) -> Any:
    if type(given) is Unknown:
        if type(value) is Tensor:
            return value.with_(device=UNKNOWN_DEVICE)
        if _is_placed(given) and all(type(leaf) in _SETTINGS for leaf in leaves(value)):
            return value
        return Unknown(name) if type(value) in (Const, DeviceValue, Guarded) else value
    is_one_kind = (
        NONE in (value, given)
        or type(value) is type(given) is DeviceValue
        or _are_texts(value, given)
        or all(leaf == NONE or type(leaf) is Tensor for leaf in (*leaves(value), *leaves(given)))
    )
    return perhaps_none.either(value, given) if is_one_kind else value


_SETTINGS = (Const, DeviceValue)


def _is_placed(value: Unknown) -> bool:
    """Whether a value is a tensor or module, though nothing else is known of it."""
    return value.tensor_evidence or not is_unknown(value.device)


def _are_texts(*values: Any) -> bool:
    return all(type(each) is Const and isinstance(each.value, str) for each in values)


def _settle(machine: Machine, instance: Instance, name: str, changed: bool, before: Any) -> None:
    """An attribute is there as a change of one that it may be has it, or as it was before."""
    if isinstance(instance.fields, Entries):
        there = either(undecided(), changed, before)
        settle(machine.journal, instance.fields, name, there)
