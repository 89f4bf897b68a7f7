"""Runs an edited stretch of a unit again, from the states in which the unit met it, and tells
whether the rest of the program could see a difference."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

from device_lens.domain.heap import moment
from device_lens.domain.trail import Trail
from device_lens.domain.values import (
    Const,
    DeviceValue,
    DtypeValue,
    External,
    Tensor,
    TupleValue,
    forgetting,
    remind,
)
from device_lens.interpreter.budget import Budget, Exhausted
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.stretch import (
    Stretch,
    Visit,
    Visits,
    copied,
    observed,
    part_of,
)
from device_lens.interpreter.told import Context, context_of

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.unit import Unit
    from device_lens.syntax.chunk import Chunk


def again(machine: Machine, unit: Unit, stretch: Stretch, chunk: Chunk, function: Any) -> bool:
    """Runs an edited stretch of a unit again, in a function of a chunk; False where the whole
    unit must run."""
    visits: Visits | None = unit.visits
    around = stretch.names_around(chunk, function)
    if visits is None or not visits.usable or around is None or not stretch.is_plain:
        return False
    if not visits.each and stretch.block is not function.body:
        return False  # a loop around it may run, and tell of what its text changes
    made: list[tuple[Visit, Visit]] = []
    for visit, context in zip(visits.each, visits.contexts, strict=True):
        new = _replayed(machine, unit, visit, stretch, context, chunk.text)
        if new is None:
            return False
        doubtful = around & _bound(visit, new)
        if doubtful:
            around = around - stretch.only_words(function, doubtful)
        if not _alike(machine, visits, visit, new, around, stretch):
            return False
        made.append((visit, new))
    replaced = {id(visit.part): new.part for visit, new in made}
    parts = (replaced.get(key, part) for key, part in unit.parts.items())
    unit.parts = {id(part): part for part in parts}
    for visit, new in made:
        visit.part = new.part
        unit.asked.update(new.part.asked)
        unit.consulted |= new.part.consulted
        unit.noted |= new.part.noted
    visits.stretch = stretch
    return True


def _bound(old: Visit, new: Visit) -> frozenset[str]:
    """The names that two runs of a stretch bind."""
    outcomes = [each.outcome for each in (old, new) if each.outcome is not None]
    return frozenset().union(*(each.names for each in outcomes))


def _replayed(
    machine: Machine,
    unit: Unit,
    visit: Visit,
    stretch: Stretch,
    before: Context,
    text: str,
) -> Visit | None:
    """A new run of a stretch from the state of an earlier one; None where it does more than that
    did, or tells the code around it something else."""
    journal = machine.journal
    part = part_of(machine, unit)
    part.path, part.active, part.current_call = visit.path, visit.active, visit.current_call
    part.symbolic = visit.part.symbolic
    part.budget = Budget(visit.steps, machine.program.unit(0).budget.cancelled)
    copies: dict[int, Frame] = {}
    part.stack = [copied(each, copies) for each in visit.stack]
    part.shared = dict(visit.shared)
    part.watched = visit.watched.inside(apart=True)
    frame = copied(visit.frame, copies)
    new = copy(visit)
    new.part = part
    known = dict(machine.globals)
    mark = journal.mark()
    present = journal.swap(visit.state)
    machine.globals.update(visit.globals)
    try:
        with forgetting():
            remind(visit.unknowns)
            new.born = moment()
            _, _, new.outcome = observed(machine, new, frame, stretch.body)
    except Exhausted:
        return None
    finally:
        journal.undo(mark)
        journal.swap(present)
        machine.globals.update(known)
    if new.outcome is None:
        return None
    after = context_of(stretch.body, frame, text)
    names = _bound(visit, new)
    return new if before.without(names) == after.without(names) else None


def _alike(
    machine: Machine,
    visits: Visits,
    old: Visit,
    new: Visit,
    around: set[str],
    stretch: Stretch,
) -> bool:
    """Whether the rest of the program cannot tell a run of a stretch from an earlier one."""
    before, after = old.outcome, new.outcome
    if before is None or after is None or before.treated != after.treated:
        return False
    if before.starts != after.starts:
        return False
    if old.part.watched.evidence != new.part.watched.evidence:
        return False
    fresh = (before.names | after.names) - around
    if old.frame.loops and _carries(stretch.body, fresh):
        return False
    names = id(old.frame.scope.names)
    places = {
        place
        for place in before.writes.keys() | after.writes.keys()
        if not (place[0] == names and place[1] in fresh)
    }
    for place in places:
        left, right = before.writes.get(place), after.writes.get(place)
        if left is None or right is None or not _same(left[2], right[2]):
            return False
    return _affordable(machine, visits, old, after.steps - before.steps)


def _affordable(machine: Machine, visits: Visits, visit: Visit, more: int) -> bool:
    """Whether no bound is hit, or missed, by the steps that a stretch takes more than before."""
    most = machine.options.max_spent
    for spent in visit.spent:
        if (spent > most) != (spent + more > most):
            return False
    return visits.steps - more * len(visits.each) >= 0


def _carries(body: Sequence[ast.stmt], names: frozenset[str]) -> bool:
    """Whether one pass of a loop may read what the stretch bound in the pass before."""
    bound: set[str] = set()
    for statement in body:
        read = {
            node.id
            for node in ast.walk(statement)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        if isinstance(statement, ast.AugAssign):
            read.update(_stored(statement))
        if not read.isdisjoint(names - bound):
            return True
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            bound.update(_stored(statement))
    return False


def _stored(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _same(left: Any, right: Any) -> bool:
    """Whether two values say the same of everything."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if type(left) is Tensor:
        return all(
            _same_trail(left.trail, right.trail)
            if name == "trail"
            else getattr(left, name) == getattr(right, name)
            for name in Tensor.__slots__
        )
    if type(left) in (Const, DeviceValue, DtypeValue, External):
        return bool(left == right)
    if type(left) is TupleValue:
        return left.names == right.names and _same(left.items, right.items)
    if type(left) is tuple:
        return len(left) == len(right) and all(map(_same, left, right))
    return False


def _same_trail(left: Trail | None, right: Trail | None) -> bool:
    while left is not right:
        if left is None or right is None:
            return False
        if (left.kind, left.text, left.site) != (right.kind, right.text, right.site):
            return False
        left, right = left.previous, right.previous
    return True
