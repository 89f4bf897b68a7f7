"""What a block does at its end, done on each path that left it by `return`, `break` or
`continue`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from device_lens.interpreter.frames import Exit, Frame

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

MOST_LEFT = 12
"""Paths out of one block for which its end is run: each costs what the block has written."""

Known = list[tuple[list[Exit], int, int]]
"""The ways out of what is around a block, each with the mark that its changes count from and how
many had left by the time that the block began."""


def ways_out(frame: Frame) -> Known:
    """The ways out of the activation, and of each of its loops that runs."""
    loops = [(ways, each.mark) for each in frame.loops for ways in (each.breaks, each.continues)]
    around = [(frame.exits, frame.entry_mark), *loops]
    return [(exits, mark, len(exits)) for exits, mark in around]


def finish(machine: Machine, frame: Frame, known: Known, mark: int, end: Callable[[], int]) -> bool:
    """Runs the `end` of a block that began at `mark` from the state of each path that left it
    since; a path that does not get through it is no way out. Whether there is any."""
    left = [(exits, base, exits[count:]) for exits, base, count in known if len(exits) > count]
    if not left or sum(len(new) for _, _, new in left) > MOST_LEFT:
        return False
    for exits, _, new in left:
        del exits[-len(new) :]
    journal, path = machine.journal, machine.path
    present = journal.changes(mark)
    frame.try_depth += 1  # a `return` of the end keeps what its own path changed
    for exits, base, new in left:
        for way, value, changes in new:
            if changes is not None:
                journal.undo(mark)
                machine.apply(changes)
                machine.path = way
                if end():
                    continue
                way, changes = machine.path, journal.changes(base)
            exits.append((way, value, changes))
    frame.try_depth -= 1
    journal.undo(mark)
    machine.apply(present)
    machine.path = path
    return True
