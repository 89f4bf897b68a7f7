"""What is done once in each case in which a condition decides whether there is anything to do it
with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from device_lens.domain.guard import Guarded
from device_lens.interpreter.frames import Frame
from device_lens.models.python.sequence_cases import may_be_empty

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


def each_case(machine: Machine, frame: Frame, iterable: Any, run: Callable[[Any], int]) -> int:
    """Runs a loop over a sequence, or each side of a condition over its own where one of them may
    have no items and the other has some."""
    if type(iterable) is not Guarded or not may_be_empty(iterable):
        return run(iterable)
    condition = machine.decide(Guarded(iterable.atom, True, False))
    each = partial(each_case, machine, frame)
    if type(condition) is bool:
        return each(iterable.yes if condition else iterable.no, run)
    yes, no = partial(each, iterable.yes, run), partial(each, iterable.no, run)
    return machine.fork(condition, frame, yes, no)
