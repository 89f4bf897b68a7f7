"""What setting or deleting an attribute whose name is not known does to those that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.device import UNKNOWN_DEVICE
from device_lens.domain.guard import Guarded
from device_lens.domain.heap import Instance, ModuleObject
from device_lens.domain.join import join_blind
from device_lens.domain.values import Const, DeviceValue, Tensor, Unknown
from device_lens.interpreter import assignment
from device_lens.interpreter.frames import Frame
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
        _set_plain(machine, receiver, value)
    if type(receiver) is ModuleObject:
        unnamed_parts.set_part(machine, receiver, name, value)
    elif type(receiver) is Unknown:
        torch_module.part_set(machine, receiver, "", value)


def delete_some(machine: Machine, receiver: Any, name: Any) -> None:
    """`delattr(receiver, name)`."""
    if type(receiver) is ModuleObject:
        unnamed_parts.delete_some(machine, receiver, name)


def _set_plain(machine: Machine, instance: Instance, given: Any) -> None:
    """One that is not known may be any setting, or stand for any tensor; a tensor may be any of
    those that are there."""
    unknown = type(given) is Unknown
    for name, value in list(instance.fields.items()):
        if name[:1] == "<":
            continue
        if type(value) is Tensor and (unknown or type(given) is Tensor):
            met = value.with_(device=UNKNOWN_DEVICE) if unknown else join_blind(value, given)
            machine.journal.write(instance.fields, name, met)
        elif unknown and type(value) in (Const, DeviceValue, Guarded):
            machine.journal.write(instance.fields, name, Unknown(name))
