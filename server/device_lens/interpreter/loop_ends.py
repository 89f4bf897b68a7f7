"""Where a loop may end: after which passes, and what is known then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from device_lens.domain.journal import Delta
from device_lens.domain.path import Path
from device_lens.interpreter.dispatch import NEXT
from device_lens.interpreter.frames import Frame, LoopRecord
from device_lens.interpreter.passes import join_state, or_as_before

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


def or_not_at_all(machine: Machine, record: LoopRecord, frame: Frame, path: Path, flow: int) -> int:
    """The state after a loop over what need not be there: names may be what they were before. What
    it does to objects counts as done, since most of them are what it goes through."""
    if flow:
        record.ends = True
        return with_ends(machine, record.start, [({}, record.began)], path, flow)
    machine.path = machine.path.meet(path)
    or_as_before(machine, record.start, frame.scope.names)
    return NEXT


def may_end(record: LoopRecord, passes: int) -> bool:
    """Whether a loop may be over after some passes."""
    return record.trip_count is None or record.trip_count <= passes


End = tuple[Delta, int]
"""What had changed since the start of a loop at a moment at which it may be over."""


def end_of_pass(machine: Machine, start: int, over: tuple[int, int]) -> End:
    """The end of a pass, of which the mark and the moment are given."""
    return machine.journal.changes_at(start, over[0]), over[1]


def with_ends(machine: Machine, start: int, ends: list[End], path: Path, flow: int) -> int:
    """Joins the ends of the passes before the last ones, as what had changed since the start, with
    the state after the loop; `flow` tells that there is none."""
    if flow:
        machine.journal.undo(start)  # whoever comes here has not run the last pass
        machine.path = path
        machine.apply(ends[0][0])
    machine.path = machine.path.meet(path)
    for changes, at in ends[1 if flow else 0 :]:
        join_state(machine, start, changes, at)
    return NEXT
