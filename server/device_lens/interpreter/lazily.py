"""Generators are run where they are made, though their bodies run where they are read: where
factories create elsewhere by then, nothing is known of what they give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from device_lens.domain.device import UNKNOWN_DEVICE
from device_lens.domain.heap import MADE_UNDER, ListObject
from device_lens.interpreter.ambient import devices, initial
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_USUAL = devices(initial())


def made(machine: Machine, generator: ListObject) -> ListObject:
    """Marks a generator with where factories create while it is made."""
    under = devices(machine.globals)
    if under != _USUAL:
        generator.fields[MADE_UNDER] = under
    return generator


def applied(machine: Machine, made_now: ListObject) -> ListObject:
    """Marks another iterator whose items are made when it is read, as those of `map`."""
    made_now.fields[MADE_UNDER] = devices(machine.globals)
    return made_now


def is_read_elsewhere(machine: Machine, generator: ListObject) -> bool:
    """Whether factories create elsewhere than when it was made. What its body shows then says
    nothing of how it is run."""
    under = generator.fields.get(MADE_UNDER, _USUAL)
    if under[0] is UNKNOWN_DEVICE or under == devices(machine.globals):
        return False
    recorder = machine.recorder
    for node in walk(generator.site):
        if node in recorder.seen:
            recorder.see_unknown(node, machine.path.named)
    return True
