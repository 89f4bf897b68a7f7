"""Runs an edited stretch of a unit again, from the states in which the unit met it, and tells
whether the rest of the program could see a difference."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from operator import is_not
from typing import TYPE_CHECKING, Any

from device_lens.domain.heap import MISSING, moment
from device_lens.domain.shallow import shallow
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
from device_lens.interpreter.budget import Budget, Cancelled, Exhausted, never
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.stretch import Around, Stretch, observed
from device_lens.interpreter.told import Text
from device_lens.interpreter.visits import Visit, Visits, copied, part_of, state_of
from device_lens.interpreter.watched import Watched
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.unit import Unit
    from device_lens.syntax.chunk import Splice


def again(
    machine: Machine, unit: Unit, stretch: Stretch, text: Text, around: Around, splice: Splice
) -> bool:
    """Runs a stretch of a unit again, after an edit of it; False where the whole unit must run."""
    visits: Visits | None = unit.visits
    if visits is None or not visits.usable or not around.fits(stretch):
        return False
    landmarks = unit.landmarks
    if landmarks is not None and landmarks.misses(text.names):
        return False
    is_dead = visits.silent and text.is_silent and around.is_in_branch(stretch.block)
    if not visits.each and not is_dead and not around.is_whole(stretch.block):
        return False  # a loop around it may run, and tell of what its text changes
    unchanged = stretch.unchanged(splice)
    made: list[tuple[Visit, Visit]] = []
    for visit in visits.each:
        for loop in visit.frame.loops[:1]:
            loop.sights.clear()  # all its turns run again, and count from the first on
    for visit, context in zip(visits.each, visits.contexts, strict=True):
        new = _replayed(machine, unit, visit, stretch.body, unchanged)
        if new is None:
            return False
        names = _bound(visit, new)
        if context.without(names) != text.context(new.frame).without(names):
            return False
        fresh = names - around.mentioned(stretch, names)
        if not _alike(machine, visits, visit, new, fresh, stretch):
            return False
        made.append((visit, new))
    replaced = {id(visit.part): new.part for visit, new in made}
    parts = (replaced.get(key, part) for key, part in unit.parts.items())
    unit.parts = {id(part): part for part in parts}
    for visit, new in made:
        bound = _bound(visit, new)
        visits.names |= bound
        if landmarks is not None:
            landmarks.bound |= bound
        visit.part = new.part
        unit.asked.update(new.part.asked)
        unit.take_questions(new.part)
        unit.noted |= new.part.noted
    if landmarks is not None:
        landmarks.replace(stretch)
    visits.stretch, visits.silent = stretch, text.is_silent
    return True


def begun(
    machine: Machine, unit: Unit, stretch: Stretch, text: Text, around: Around, splice: Splice
) -> bool:
    """Runs statements that were put between others in a unit by themselves; False where the whole
    unit must run."""
    if unit.landmarks is None or not around.fits(stretch):
        return False
    unit.visits = unit.landmarks.visits(machine, unit, stretch, splice)
    if not again(machine, unit, stretch, text, around, splice):
        return False
    unit.landmarks.put_in(stretch)
    return True


def _bound(old: Visit, new: Visit) -> frozenset[str]:
    """The names that two runs of a stretch bind."""
    outcomes = [each.outcome for each in (old, new) if each.outcome is not None]
    return frozenset().union(*(each.names for each in outcomes))


def _replayed(
    machine: Machine, unit: Unit, visit: Visit, body: list[ast.stmt], unchanged: int
) -> Visit | None:
    """A new run of a stretch from the state of an earlier one; None where it does more than that
    did. The statements before the edit are `unchanged`: the state behind them is kept, and they
    do not run at the next edit of the same statement."""
    start = visit.head or visit
    count = len(start.body)
    if count > unchanged or any(map(is_not, start.body, body)):
        visit.head, start, count = None, visit, 0
    if unchanged > count:
        head = _run_from(machine, unit, start, body[count:unchanged], is_head=True)
        if head is None:
            return None
        visit.head = start = head
    return _run_from(machine, unit, start, body[len(start.body) :])


def _run_from(
    machine: Machine, unit: Unit, start: Visit, body: list[ast.stmt], is_head: bool = False
) -> Visit | None:
    """Runs statements from a kept state. Gives what they and those that lead to the kept state
    did, for a head with the state behind them; None where that is more than an outcome can tell."""
    journal = machine.journal
    part = part_of(machine, unit)
    part.path, part.active, part.current_call = start.path, start.active, start.current_call
    part.symbolic = start.symbolic
    # A function that is entered needs the whole unit; all else is short, and the next version
    # needs it too.
    steps, own = start.steps
    part.budget = Budget(steps, lambda: bool(part.activated), own)
    copies: dict[int, Frame] = {}
    part.stack = [copied(each, copies) for each in start.stack]
    part.shared = dict(start.shared)
    part.watched = Watched.over(start.watched)
    frame = copied(start.frame, copies)
    found = shallow(start)
    found.part = part
    known = dict(machine.globals)
    mark, began = journal.mark(), moment()
    present = journal.swap(start.state)
    machine.globals.update(start.globals)
    try:
        with forgetting():
            remind(start.unknowns)
            if not start.body:
                found.born = moment()
            _, _, outcome = observed(machine, found, frame, body, [])
            if outcome is not None and is_head:
                found = _behind(machine, found, frame, mark)
    except (Cancelled, Exhausted):
        return None
    finally:
        journal.settle(mark, began)  # what was made is shown as it is
        journal.undo(mark)
        journal.swap(present)
        machine.globals.update(known)
        part.budget.cancelled = never  # nothing may lead back to the part itself
    if outcome is None:
        return None
    found.body = (*start.body, *body)
    found.outcome = outcome
    if start.body and start.outcome is not None:
        found.outcome = start.outcome.then(outcome)
        part.use(start.part)
        part.noted |= start.part.noted
    return found


def _behind(machine: Machine, visit: Visit, frame: Frame, mark: int) -> Visit:
    """The state behind some statements that have run from a kept one since a mark."""
    with machine.apart(visit.part):
        found = state_of(machine, frame, visit.part, 0)
    found.born = visit.born
    found.state = dict(visit.state)
    for place, (table, key, _) in machine.journal.value_at(mark).items():
        found.state[place] = table, key, table.get(key, MISSING)
    return found


def _alike(
    machine: Machine,
    visits: Visits,
    old: Visit,
    new: Visit,
    fresh: frozenset[str],
    stretch: Stretch,
) -> bool:
    """Whether the rest of the program cannot tell a run of a stretch from an earlier one. It does
    not know of `fresh` names."""
    before, after = old.outcome, new.outcome
    if before is None or after is None or before.treated != after.treated:
        return False
    if before.starts != after.starts and (visits.asks_start or new.part.watched.asks_start):
        return False
    if old.part.watched.evidence != new.part.watched.evidence:
        return False
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
    least, most_more = machine.options.min_spent, more * len(visits.each)
    if any((spent > least) != (spent + most_more > least) for spent in visit.asked):
        return False
    return visits.steps - most_more >= 0


def _carries(body: Sequence[ast.stmt], names: frozenset[str]) -> bool:
    """Whether one pass of a loop may read what the stretch bound in the pass before."""
    bound: set[str] = set()
    for statement in body:
        read = {
            node.id
            for node in walk(statement)
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
    for node in walk(statement):
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
            _tell_the_same(left.trail, right.trail)
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


def _tell_the_same(left: Trail | None, right: Trail | None) -> bool:
    return right is None if left is None else left.tells_the_same(right)
