"""The statements that were edited last, run again by themselves where a script has run them.

While a script runs, each visit of these statements is set apart: what they find is a part of its
own, and the state before them is kept. After the next edit of the same place only they run again,
from each of these states. Where they do to the rest of the program what they did before, the
script would find elsewhere what it has found, and need not run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from device_lens.domain.heap import MISSING, Dated, Delta, Table, moment
from device_lens.domain.path import Path
from device_lens.domain.values import (
    Remembered,
    newly_treated,
    remembered,
)
from device_lens.interpreter import scan
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.watched import Watched

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.unit import Unit
    from device_lens.syntax.chunk import Chunk, Splice

MOST_VISITS = 24
"""Visits of the statements in one script whose states are kept."""
_BEYOND = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.Import,
    ast.ImportFrom,
    ast.Global,
    ast.Nonlocal,
    ast.Return,
    ast.Yield,
    ast.YieldFrom,
    ast.Await,
    ast.Break,
    ast.Continue,
    ast.Delete,
    ast.Raise,
)
"""What reaches beyond the statements that it is among."""
_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Some statements of a block."""

    block: list[ast.stmt]
    start: int
    stop: int

    @property
    def body(self) -> list[ast.stmt]:
        return self.block[self.start : self.stop]

    @property
    def is_plain(self) -> bool:
        """Whether nothing in it reaches beyond it."""
        return not any(
            isinstance(node, _BEYOND) for statement in self.body for node in ast.walk(statement)
        )

    def grown(self, splice: Splice) -> Stretch | None:
        """The stretch after an edit of it, or right behind it; None for an edit elsewhere."""
        if any(_has_block(node, splice.block) for each in self.body for node in ast.walk(each)):
            return self
        if splice.block is not self.block or splice.start < self.start:
            return None
        if splice.start + splice.removed > self.stop:
            return None
        return Stretch(self.block, self.start, self.stop + splice.added - splice.removed)

    def names_around(self, chunk: Chunk, function: ast.stmt) -> set[str] | None:
        """What the rest of the function mentions; None where it shares a line with the stretch."""
        lines = chunk.text.split("\n")
        first = function.lineno - chunk.first_line
        last = (function.end_lineno or function.lineno) - chunk.first_line
        if self.start == self.stop:
            return set(_NAME.findall("\n".join(lines[first : last + 1])))
        start = self.block[self.start].lineno - chunk.first_line
        stop = _end(self.block[self.stop - 1]) - chunk.first_line
        if self.start and _end(self.block[self.start - 1]) - chunk.first_line >= start:
            return None
        behind = self.block[self.stop : self.stop + 1]
        if behind and behind[0].lineno - chunk.first_line <= stop:
            return None
        around = (*lines[first:start], *lines[stop + 1 : last + 1])
        return set(_NAME.findall("\n".join(around)))


def _has_block(node: ast.AST, block: list[ast.stmt]) -> bool:
    return any(getattr(node, name, None) is block for name in ("body", "orelse", "finalbody"))


def _end(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


@dataclass(frozen=True, slots=True)
class Context:
    """What the text of a stretch tells the code around it, by which that may find something else:
    what is special about its function, what that puts elsewhere where it is not followed, what the
    loops around it change, whether they move what they go through, which of their variables it
    mentions, and whether it has a loop or a backward pass."""

    function: scan.FunctionInfo | None
    moved: frozenset[str] | None
    loops: tuple[scan.LoopInfo, ...] = ()
    changing: tuple[bool, ...] = ()
    mentioned: frozenset[str] = frozenset()
    nested: bool = False
    backward: bool = False

    def without(self, names: frozenset[str]) -> Context:
        """The same, were it not for some names."""
        loops = tuple(
            scan.LoopInfo(
                loop.names - names, _without(loop.places, names), _without(loop.mutated, names)
            )
            for loop in self.loops
        )
        return replace(self, loops=loops)


def _without(texts: Iterable[str], names: frozenset[str]) -> frozenset[str]:
    return frozenset(text for text in texts if names.isdisjoint(_NAME.findall(text)[:1]))


def context_of(body: Sequence[ast.stmt], frame: Frame, text: str) -> Context:
    """What a stretch tells the code around it in a frame; `text` is that of its chunk."""
    from device_lens.interpreter import effects

    function = frame.function
    info = None if function is None else scan.function_info(function.node, text)
    moved = None if function is None else effects.moved_by(function.node)
    records = [loop for loop in frame.loops if isinstance(loop.node, ast.stmt)]
    if not records:
        return Context(info, moved)
    loops = [record.node for record in records]
    over = [loop for loop in loops if isinstance(loop, ast.For | ast.AsyncFor)]
    many = [record.node for record in records if record.many]
    nodes = [node for statement in body for node in ast.walk(statement)]
    targets = {
        name.id for loop in over for name in ast.walk(loop.target) if isinstance(name, ast.Name)
    }
    return Context(
        info,
        moved,
        tuple(map(scan.loop_info, loops)),
        tuple(effects.changes_items(loop, loop.target, loop.body) for loop in many),
        frozenset(n.id for n in nodes if isinstance(n, ast.Name) and n.id in targets),
        any(isinstance(node, ast.For | ast.While) for node in nodes),
        any(isinstance(node, ast.Attribute) and node.attr == "backward" for node in nodes),
    )


@dataclass(slots=True)
class Visit:
    """One run of a stretch: the state before it, and what it found (`part`)."""

    path: Path
    globals: Table
    stack: list[Frame]
    frame: Frame
    active: Any
    current_call: Any
    shared: dict[Any, Any]
    steps: int
    unknowns: Remembered
    watched: Watched
    logged: int
    born: int
    part: Unit
    outcome: Outcome | None = None
    spent: list[int] = field(default_factory=list)
    """Steps that each function on the stack took in the whole script."""
    state: Delta = field(default_factory=dict)
    """What must be written to the heap to have the state before the stretch, once the script is
    over."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a stretch did to the rest of the program: changes of what was there before it, unknowns
    that it treats as tensors, and the steps that it took. `names` are those that it bound."""

    writes: Delta
    names: frozenset[str]
    treated: set[int]
    steps: int


@dataclass(slots=True)
class Visits:
    """All runs of a stretch in one script. Without `usable` they tell too little to do without the
    script."""

    stretch: Stretch
    usable: bool = True
    each: list[Visit] = field(default_factory=list)
    contexts: list[Context] = field(default_factory=list)
    steps: int = 0
    """Steps that were left at the end of the script."""

    def finish(self, machine: Machine, unit: Unit) -> None:
        """Works out the states of the visits, once the script is over and undone."""
        from device_lens.interpreter.functions import counted_as

        log = machine.journal.log or []
        watched = unit.watched
        if watched.kept_graphs or watched.bypasses or unit.budget.steps < 0:
            self.usable = False
        if not self.usable:
            self.each = []
            return
        self.steps = unit.budget.steps
        later: Delta = {}
        position = len(log)
        for visit in reversed(self.each):
            visit.spent = [
                unit.spent[counted_as(frame.function, (frame.self_value,))]
                for frame in visit.stack
                if frame.function is not None
            ]
            for entry in reversed(log[visit.logged : position]):
                later[id(entry[0]), entry[1]] = entry
            position = visit.logged
            visit.state = {
                place: entry
                for place, entry in later.items()
                if not isinstance(entry[0], Dated) or entry[0].born < visit.born
            }


def run(machine: Machine, stretch: Stretch, frame: Frame) -> int:
    """Runs a block that has the stretch in it."""
    block = stretch.block
    return (
        machine.execute_all(block[: stretch.start], frame)
        or _visit(machine, stretch, frame)
        or machine.execute_all(block[stretch.stop :], frame)
    )


def _visit(machine: Machine, stretch: Stretch, frame: Frame) -> int:
    """Runs a stretch apart, and takes down what is needed to run it again."""
    unit = machine.unit
    visits, log = unit.visits, machine.journal.log
    if visits is None or log is None or visits.stretch is not stretch:
        return machine.execute_all(stretch.body, frame)
    if len(visits.each) >= MOST_VISITS or not stretch.is_plain or _is_nested(frame):
        visits.usable = False
    if not visits.usable:
        return machine.execute_all(stretch.body, frame)
    part = part_of(machine, unit)
    part.budget = unit.budget
    for name in ("memory", "activations", "spent", "shared", "stack", "defined", "classes"):
        setattr(part, name, getattr(unit, name))
    part.watched = unit.watched.inside()
    visit = _state(machine, frame, part, len(log))
    visits.each.append(visit)
    visits.contexts.append(context_of(stretch.body, frame, frame.chunk.text))
    flow, machine.path, visit.outcome = observed(machine, visit, frame, stretch.body)
    unit.use(part)
    unit.noted |= part.noted
    unit.watched.take_notes(part.watched)
    unit.watched.mask, unit.watched.started = part.watched.mask, part.watched.started
    if visit.outcome is None:
        # What others see of the same code comes before or after it, as in any other run.
        visits.usable = False
        del unit.parts[id(part)]
        unit.recorder.take(part.recorder)
        unit.findings.take(part.findings)
        unit.watched.take(part.watched)
    return flow


def _is_nested(frame: Frame) -> bool:
    """Whether the function stands in another one, which its text is a part of."""
    function = frame.function
    return function is not None and function.scope is not function.namespace.scope


def part_of(machine: Machine, unit: Unit) -> Unit:
    """A unit for one run of a stretch, where the machine is now."""
    part = machine.program.unit(0)
    part.standalone, part.symbolic = unit.standalone, machine.symbolic
    part.path, part.active = machine.path, machine.active
    part.current_call = machine.current_call
    return part


def _state(machine: Machine, frame: Frame, part: Unit, logged: int) -> Visit:
    copies: dict[int, Frame] = {}
    return Visit(
        machine.path,
        dict(machine.globals),
        [copied(each, copies) for each in machine.stack],
        copied(frame, copies),
        machine.active,
        machine.current_call,
        dict(machine.shared),
        machine.budget.steps,
        remembered(),
        machine.watched.inside(apart=True),
        logged,
        moment(),
        part,
    )


def copied(frame: Frame, copies: dict[int, Frame]) -> Frame:
    """A frame as it is now, with its callers as they are."""
    found = copies.get(id(frame))
    if found is None:
        found = copies[id(frame)] = copy(frame)
        found.loops = [copy(loop) for loop in frame.loops]
        for loop in found.loops:
            loop.breaks, loop.continues, loop.mark = [], [], 0
        found.exits, found.entry_mark = [], 0
        found.yields = None if frame.yields is None else []
        if frame.parent is not None:
            found.parent = copied(frame.parent, copies)
    return found


def observed(
    machine: Machine, visit: Visit, frame: Frame, body: list[ast.stmt]
) -> tuple[int, Path, Outcome | None]:
    """Runs a stretch in its part. Gives no outcome where it did more than an outcome can tell."""
    part, mark = visit.part, machine.journal.mark()
    with machine.apart(part):
        before = _surroundings(machine, frame)
        flow = machine.execute_all(body, frame)
        path = machine.path
        calm = not flow and path is visit.path and _surroundings(machine, frame) == before
        steps = visit.steps - machine.budget.steps
    if not calm or part.activated or part.imports or not part.watched.is_tame():
        return flow, path, None
    writes: Delta = {}
    names: set[str] = set()
    for place, (table, key, old) in machine.journal.value_at(mark).items():
        new = table.get(key, MISSING)
        if (isinstance(table, Dated) and table.born >= visit.born) or new is old:
            continue
        writes[place] = (table, key, new)
        if table is frame.scope.names and isinstance(key, str):
            names.add(key)
    outcome = Outcome(writes, frozenset(names), newly_treated(visit.unknowns), steps)
    return flow, path, outcome


def _surroundings(machine: Machine, frame: Frame) -> list[Any]:
    """What a stretch must leave as it is."""
    watched = machine.watched
    ways = [(len(loop.breaks), len(loop.continues)) for loop in frame.loops]
    return [
        list(map(id, machine.globals.values())),
        (len(frame.exits), frame.yields and len(frame.yields), frame.raised, frame.deferring),
        (frame.branch_depth, frame.try_depth, ways, len(machine.stack)),
        (id(watched.mask), id(watched.started), list(map(id, watched.contexts))),
        (len(watched.steps) if watched.open_calls else 0, len(machine.budget.limits)),
        set(machine.shared),
    ]
