"""One run of some statements within a unit: the state before it, and what it did to the rest."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from device_lens.domain.heap import Table, moment
from device_lens.domain.history import History
from device_lens.domain.journal import Delta
from device_lens.domain.path import Path
from device_lens.domain.shallow import shallow
from device_lens.domain.values import Remembered, remembered
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.told import Context
from device_lens.interpreter.watched import Sight

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.stretch import Stretch
    from device_lens.interpreter.unit import Unit

MOST_VISITS = 64
"""Visits of a place in one unit whose states are kept."""


@dataclass(slots=True)
class Visit:
    """One run of a stretch: the state before it, and what it found (`part`). `logged` is the mark
    of that moment in the history of the run, `born` when it was; `steps` were left by then, and
    those for a script's own statements."""

    path: Path
    globals: Table
    stack: list[Frame]
    frame: Frame
    active: Any
    current_call: Any
    symbolic: bool
    shared: dict[Any, Any]
    steps: tuple[int, int]
    unknowns: Remembered
    watched: Sight
    logged: int
    born: int
    part: Unit
    outcome: Outcome | None = None
    spent: list[int] = field(default_factory=list)
    """Steps that each function on the stack took in the whole script."""
    asked: list[int] = field(default_factory=list)
    """The same for each moment when it hung on them whether one of these was followed."""
    state: Delta = field(default_factory=dict)
    """What must be written to the heap to have the state before the stretch, once the script is
    over."""
    head: Visit | None = None
    """The state behind the first statements of the stretch, with what these did, once it has run
    again."""
    body: tuple[ast.stmt, ...] = ()
    """The statements of the stretch that lead to this state, where it is a head."""

    def take_down(self, spent: Counter[Any], asked: dict[Any, set[int]]) -> None:
        """Takes down what the functions on the stack have spent by the end of the unit, and when
        it mattered."""
        from device_lens.interpreter.functions import ASIDE, PROCESS, counted_as

        counted = [
            counted_as(frame.function, (frame.self_value,))
            for frame in self.stack
            if frame.function is not None
        ]
        keys = [key for each in counted for key in (each, (each, PROCESS), (each, ASIDE))]
        self.spent = [spent[key] for key in keys]
        self.asked = [steps for key in keys for steps in asked.get(key, ())]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a stretch did to the rest of the program: changes of what was there before it, unknowns
    that it treats as tensors, and the steps that it took. `names` are those that it bound;
    `starts` tells that CUDA first starts in it."""

    writes: Delta
    names: frozenset[str]
    treated: set[int]
    steps: int
    starts: bool

    def then(self, other: Outcome) -> Outcome:
        """What both did, one after the other."""
        return Outcome(
            {**self.writes, **other.writes},
            self.names | other.names,
            self.treated | other.treated,
            self.steps + other.steps,
            self.starts or other.starts,
        )


@dataclass(slots=True)
class Visits:
    """All runs of a stretch in one unit. Without `usable` they tell too little to do without the
    unit's own run."""

    stretch: Stretch
    usable: bool = True
    each: list[Visit] = field(default_factory=list)
    contexts: list[Context] = field(default_factory=list)
    steps: int = 0
    """Steps that were left at the end of the unit."""
    asks_start: bool = False
    """Whether anything in the unit looked at where CUDA was started."""
    silent: bool = False
    """Whether the text of the stretch tells nothing where it does not run."""
    names: frozenset[str] = frozenset()
    """What the stretch has bound, in any of its versions."""

    def close(self, unit: Unit) -> None:
        """Takes down what the whole unit has spent, at its end."""
        watched = unit.watched
        if watched.kept_graphs or watched.bypasses or unit.budget.is_over():
            self.usable = False
        if any(each.watched.mask is not watched.mask for each in self.each):
            self.usable = False  # what sets the mask asks where CUDA was started
        if not self.usable:
            self.each = []
        self.steps = unit.budget.spare()
        self.asks_start = watched.asks_start
        for visit in self.each:
            visit.take_down(unit.spent, unit.alikes.asked)

    def finish(self, history: History) -> None:
        """Works out the states of the visits, once all that happened is undone."""
        states = history.states((visit.logged, visit.born) for visit in self.each)
        for visit, state in zip(self.each, states, strict=True):
            visit.state = state


def part_of(machine: Machine, unit: Unit) -> Unit:
    """A unit for one run of a stretch, where the machine is now."""
    part = machine.program.unit(0)
    part.within = True
    part.standalone, part.symbolic_depth = unit.standalone, unit.symbolic_depth
    part.own = unit.own
    part.recorder.settled = unit.recorder.settled
    part.recorder.whole = unit.recorder.whole
    part.path, part.active = machine.path, machine.active
    part.current_call = machine.current_call
    return part


def state_of(
    machine: Machine,
    frame: Frame,
    part: Unit,
    logged: int,
    unknowns: Remembered | None = None,
    callers: dict[int, Frame] | None = None,
) -> Visit:
    """The state in which the machine is now, before a stretch that runs in a part. `unknowns`: what
    is remembered of them, and `callers`: copies of frames, where somebody keeps that."""
    copies = {} if callers is None else callers
    return Visit(
        machine.path,
        dict(machine.globals),
        [copied(each, copies) for each in machine.stack],
        copied(frame, copies),
        machine.active,
        machine.current_call,
        machine.symbolic,
        dict(machine.shared),
        (machine.budget.steps, machine.budget.own),
        remembered() if unknowns is None else unknowns,
        machine.watched.seen(),
        logged,
        moment(),
        part,
    )


def copied(frame: Frame, copies: dict[int, Frame]) -> Frame:
    """A frame as it is now, with its callers as they are."""
    found = copies.get(id(frame))
    if found is None:
        found = copies[id(frame)] = shallow(frame)
        found.loops = [shallow(loop) for loop in frame.loops]
        for loop in found.loops:
            loop.breaks, loop.continues, loop.mark, loop.start = [], [], 0, 0
        found.exits, found.entry_mark = [], 0
        found.yields = None if frame.yields is None else []
        found.waits, found.between = [], []
        if frame.parent is not None:
            found.parent = copied(frame.parent, copies)
    return found
