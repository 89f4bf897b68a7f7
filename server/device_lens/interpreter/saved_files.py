"""The files that a program saves: what it saves only where there is an accelerator has come from
another machine where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from device_lens.models.call import constant

if TYPE_CHECKING:
    from device_lens.domain.code import Function
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.watched import LibraryCall


SAVES = "saves"
"""Evidence that a program saves what it loads."""


def accelerator_is_there(machine: Machine) -> bool:
    """Whether what runs does so only where there is an accelerator."""
    return any(atom.kind == "accelerator" and value for atom, value in machine.path.literals)


def saved(machine: Machine, seen: LibraryCall) -> None:
    """`torch.save(x, path)`, with a path that is known."""
    name = constant(seen.get(1, "f"))
    if isinstance(name, str):
        there = accelerator_is_there(machine)
        machine.watched.note(_evidence(name, there), machine.stack[0].namespace.path)


def left_out(machine: Machine, function: Function) -> None:
    """A call is not followed of what may save a file, for all that call this."""
    if "torch.save(" in function.chunk.text:
        for frame in machine.stack:
            machine.watched.note(SAVES, frame.namespace.path)


def needs_accelerator(machine: Machine, seen: LibraryCall) -> bool:
    """Whether `torch.load(path)` runs where there may be no accelerator, and reads what the program
    has saved nowhere but where there is one."""
    name, entry = constant(seen.get(0, "f")), (machine.stack[0].namespace.path,)
    if not isinstance(name, str) or accelerator_is_there(machine):
        return False
    shows = machine.watched.shows
    return shows(_evidence(name, True), entry) and not shows(_evidence(name, False), entry)


def _evidence(name: str, there: bool) -> str:
    return f"saves to {name} {'with an accelerator' if there else 'anywhere'}"
