"""Generators are run where they are made, though their bodies run where they are read: where
factories create elsewhere by then, nothing is known of what they give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.device import CPU, UNKNOWN_DEVICE, Device
from device_lens.domain.heap import ListObject
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_FIELD = "<made under>"
_USUAL = (CPU, CPU, Device("cuda"))
"""Where factories create before a program sets anything: the default device, that of the default
type, and what `cuda` stands for."""


def made(machine: Machine, generator: ListObject) -> ListObject:
    """Marks a generator with where factories create while it is made."""
    under = _devices(machine)
    if under != _USUAL:
        generator.fields[_FIELD] = under
    return generator


def is_read_elsewhere(machine: Machine, generator: ListObject) -> bool:
    """Whether factories create elsewhere than when it was made. What its body shows then says
    nothing of how it is run."""
    under = generator.fields.get(_FIELD, _USUAL)
    if under[0] is UNKNOWN_DEVICE or under == _devices(machine):
        return False
    recorder = machine.recorder
    for node in walk(generator.site):
        if node in recorder.seen:
            recorder.see_unknown(node, machine.path.named)
    return True


def _devices(machine: Machine) -> tuple[Any, ...]:
    state = machine.globals
    return state["default_device"], state["default_type"], state["current_cuda"]
