"""Loops, run until what they say of devices does not change any more."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from device_lens.domain.atom import WHICH_ITEM
from device_lens.domain.guard import undecided
from device_lens.domain.heap import ListObject, moment
from device_lens.domain.kinds import kinds
from device_lens.domain.lengths import surely_held
from device_lens.domain.objects import any_object
from device_lens.domain.optional_items import where_present
from device_lens.domain.path import Path
from device_lens.interpreter import every_item, item_effects, numbered, of_many, reports, scan
from device_lens.interpreter.assignment import assign
from device_lens.interpreter.by_length import each_case
from device_lens.interpreter.conditions import truth
from device_lens.interpreter.dispatch import DEAD, EXECUTORS, NEXT
from device_lens.interpreter.draws import drawn
from device_lens.interpreter.first_turns import of_first, turns_apart
from device_lens.interpreter.frames import Frame, LoopRecord
from device_lens.interpreter.iteration import (
    any_of,
    how_many_surely,
    is_hot,
    kinds_of,
    most_keys,
    most_objects,
    surely_runs_over,
    trip_count,
)
from device_lens.interpreter.live import Live, use_up
from device_lens.interpreter.loop_ends import End, end_of_pass, may_end, or_not_at_all, with_ends
from device_lens.interpreter.passes import (
    give_up,
    join_state,
    let_vary,
    read_after,
    seen_later,
    settled,
    stop_counting,
    stop_counting_members,
)
from device_lens.interpreter.passes_apart import PassesApart
from device_lens.interpreter.suspended import gone_through
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

MAX_PASSES = 4
"""Passes over a body before what still changes is given up."""
MAX_UNROLLED = 6
"""Items of a literal for which the body is run one by one."""


def _for(machine: Machine, node: ast.For | ast.AsyncFor, frame: Frame) -> int:
    """A loop for each case in which there is something to go through, or nothing."""
    found = machine.evaluate(node.iter, frame)
    places, frame.between = frame.between, []
    flow = each_case(machine, frame, found, partial(_over, machine, node, frame))
    if places and not flow:
        gone_through(machine, places)
    return flow


def _over(machine: Machine, node: ast.For | ast.AsyncFor, frame: Frame, iterable: Any) -> int:
    iterable = numbered.one_by_one(node, iterable, MAX_UNROLLED)
    use_up(machine, node, iterable)
    live = Live(machine, node, iterable, frame)
    items, rest = live.started
    reports.iterated(machine, node, iterable, frame)
    count, hot = trip_count(items, rest, iterable), is_hot(node.iter, iterable, rest)
    record = LoopRecord(node, frame.chunk, count, hot, machine.journal.mark(), frame.open_branches)
    if not items and rest is None:
        return machine.execute(node.orelse, frame)

    path = machine.path
    since = frame.loops[0].start if frame.loops else record.start
    untold = item_effects.untold(iterable, rest)

    def bind(value: Any) -> Callable[[], None]:
        if untold and value is rest:
            return lambda: assign(machine, node.target, any_object(untold), frame, node.iter)
        return lambda: assign(machine, node.target, drawn(machine, value, since), frame, node.iter)

    record.replaces = every_item.replacement(node)
    record.many = len(items) > MAX_UNROLLED or (rest is not None and bool(items))
    changes = record.many and item_effects.changes_items(node, node.target, node.body, items)
    limit = MAX_UNROLLED
    if len(items) > limit and numbered.goes_by_name(node, node.body):
        limit = numbered.MAX_NAMED
    few = len(items) <= max(most_keys(items), most_objects(items), limit)
    if rest is None and (few or (changes and item_effects.one_by_one(items))):
        flow = _unrolled(machine, record, node.body, frame, live, bind)
    else:
        watch = item_effects.watch(machine, node, items, rest) if changes else None
        begin: Sequence[Any] = items[:1] or (rest,)
        further: Sequence[Any]
        second = item_effects.another(node, iterable, rest)
        turns = turns_apart(node, iterable, rest)
        if second is not None:
            further = (second,)
        elif turns is not None:
            begin, further = turns[:1], turns[1:]
        elif watch is None or watch.first is None:
            further = _further(machine, node, items[1:], rest)
        else:
            begin, further = watch.first, watch.more
        first = [bind(each) for each in begin]
        more = [live.bound(node, bind, each) for each in further]
        if turns is not None:
            first, more = [of_first(record, first[0], True)], [of_first(record, more[0], False)]
        surely_runs = second is not None or surely_runs_over(iterable, items)
        steady = not items and second is None and turns is None
        apart = PassesApart(node, frame, rest, second)
        flow = _repeat(
            machine, record, node.body, frame, first, more, surely_runs, steady, apart=apart
        )
        if watch is not None:
            watch.forget_moved(machine, items)
        item_effects.settle(machine, record, iterable, items if record.many else (), rest, apart)
    every_item.settle(machine, record, frame)
    if items and not how_many_surely(iterable, items):
        flow = or_not_at_all(machine, record, frame, path, flow)
    return flow or _otherwise(machine, record, node.orelse, frame)


def _otherwise(machine: Machine, record: LoopRecord, orelse: list[ast.stmt], frame: Frame) -> int:
    """What a loop does that no `break` left; where one may have, it is done or not."""
    if not record.ends:
        return NEXT
    if not record.breaks or not orelse:
        return machine.execute(orelse, frame)
    condition = undecided()
    return machine.fork(condition, frame, lambda: machine.execute(orelse, frame), lambda: NEXT)


def _further(machine: Machine, node: Any, items: tuple[Any, ...], rest: Any) -> list[Any]:
    """What the items after the first are: modules by their kinds, one for each, if a body goes on
    to its end with each of them; else one value for all."""
    straight: bool | None = node.__dict__.get(_TO_ITS_END)
    if straight is None:
        inner = (each for statement in node.body for each in walk(statement))
        straight = node.__dict__[_TO_ITS_END] = not any(isinstance(e, _WAYS_OUT) for e in inner)
    known = [] if rest is None else kinds(rest)
    if not straight or known is None:
        return [any_of(items, rest)]
    each = kinds_of(machine, (*items, *known), scan.attributes_compared(node))
    return [any_of(items, rest)] if each is None else each


_TO_ITS_END = "_runs_to_its_end"
_WAYS_OUT = (ast.Return, ast.Break, ast.Continue, ast.Raise, ast.Yield)


def _while(machine: Machine, node: ast.While, frame: Frame) -> int:
    record = LoopRecord(node, frame.chunk, None, True, machine.journal.mark(), frame.open_branches)
    frame.loops.append(record)  # the test runs in each iteration, as the body does
    try:
        value = machine.evaluate(node.test, frame)
        reports.tested(machine, node.test, value, frame)
    finally:
        frame.loops.pop()
    condition = machine.decide(truth(value))
    if condition is False:
        return machine.execute(node.orelse, frame)

    if condition is True and _is_short(value):
        flow, condition = _used_up(machine, record, node, frame)
        if flow or condition is False:
            return flow or _otherwise(machine, record, node.orelse, frame)

    def test() -> None:
        machine.evaluate(node.test, frame)

    flow = _repeat(
        machine, record, node.body, frame, [lambda: None], [test], condition is True, True, test
    )
    if flow or (isinstance(node.test, ast.Constant) and node.test.value):
        return flow
    return _otherwise(machine, record, node.orelse, frame)


def _is_short(value: Any) -> bool:
    """Whether this is a list of few items, all of them known."""
    if type(value) is not ListObject or value.rest is not None:
        return False
    return len(value.items) <= MAX_UNROLLED


def _used_up(
    machine: Machine, record: LoopRecord, node: ast.While, frame: Frame
) -> tuple[int, Any]:
    """The passes of `while items:`, whose body takes one item after the other out of a list: until
    the list is empty, or has grown, or it is not known whether there are more. Gives the condition
    under which they go on from there."""
    path = machine.path
    most = MAX_UNROLLED
    while most > 0:
        if _pass(machine, record, node.body, frame, lambda: None, path):
            record.ends = False
            return _after(machine, record, False), False
        value = machine.evaluate(node.test, frame)
        condition = machine.decide(truth(value))
        if condition is False:
            return _after(machine, record, True), False
        if condition is not True or not _is_short(value):
            return NEXT, condition
        most -= 1
    return NEXT, True


def _unrolled(
    machine: Machine,
    record: LoopRecord,
    body: list[ast.stmt],
    frame: Frame,
    live: Live,
    bind: Callable[[Any], Callable[[], None]],
) -> int:
    started = live.started[0]
    count, present = len(started), _present(record.node, live.iterable, started)
    record.repeats = count > MAX_UNROLLED
    for index in range(count):
        items = live.in_order()
        if items is None or len(items) != count:
            return _open_ended(machine, record, body, frame, live, bind)
        condition = machine.decide(present[index])
        if condition is not True:
            _perhaps(machine, record, body, frame, bind(items[index]), condition)
        elif _pass(machine, record, body, frame, bind(items[index]), None):
            record.ends = False
            return _after(machine, record, False)
    items = live.in_order()
    if items is None or len(items) > count:
        return _open_ended(machine, record, body, frame, live, bind)
    return _after(machine, record, True)


def _present(node: Any, iterable: Any, items: tuple[Any, ...]) -> tuple[Any, ...]:
    """For each item the condition under which it is there, as far as that matters: where the pass
    changes one that a list need not have, as one that a test has put there."""
    found = where_present(iterable, items)
    least = surely_held(iterable, items) if type(iterable) is ListObject else len(items)
    is_told = least == len(items) or not all(each is True for each in found)
    if is_told or not item_effects.changes_items(node, node.target, node.body, items):
        return found
    return (*found[:least], *(undecided(WHICH_ITEM) for _ in items[least:]))


def _perhaps(
    machine: Machine,
    record: LoopRecord,
    body: list[ast.stmt],
    frame: Frame,
    bind: Callable[[], None],
    condition: Any,
) -> None:
    """The pass over an item that is there where a condition holds."""
    if condition is False:
        return
    path, mark, since = machine.path, machine.journal.mark(), moment()
    machine.path = path.assume(condition)
    flow = _pass(machine, record, body, frame, bind, None)
    machine.path = path
    if flow:
        machine.journal.undo(mark)
    else:
        machine.doubt(mark, since, condition)


def _open_ended(
    machine: Machine,
    record: LoopRecord,
    body: list[ast.stmt],
    frame: Frame,
    live: Live,
    bind: Callable[[Any], Callable[[], None]],
) -> int:
    """The passes that are left of a loop whose body changes how many there are."""
    record.trip_count = None
    record.repeats = True

    def more() -> None:
        bind(live.all(any_of(*live.started)))()

    return _repeat(machine, record, body, frame, [more], [more], False, True)


def _repeat(
    machine: Machine,
    record: LoopRecord,
    body: list[ast.stmt],
    frame: Frame,
    first: Sequence[Callable[[], None]],
    more: Sequence[Callable[[], None]],
    surely_runs: bool,
    steady: bool,
    ending: Callable[[], None] | None = None,
    apart: PassesApart | None = None,
) -> int:
    """Passes over the body, each from the state that the one before left, until one changes
    nothing: every state that a real run has at the loop's head is one of these. A pass after the
    first goes through `more`, which are the kinds of what is bound. `steady` tells
    that all passes get alike values, so that even the first may be the last: that of a loop which
    runs again in a loop around it. `ending` is what is looked at once more before the loop ends;
    `apart` tells what no other pass reads."""
    start = machine.journal.mark()
    path = machine.path
    alive = True
    ends: list[End] = [] if surely_runs else [({}, moment())]
    over: list[tuple[int, int]] = []
    binders = first
    for number in range(MAX_PASSES):
        before, since = machine.journal.mark(), moment()
        if number > 1 and may_end(record, number - 1):
            ends.append(end_of_pass(machine, start, over[-2]))
        if any(_pass(machine, record, body, frame, bind, path) for bind in binders):
            alive = False
            break
        over.append((machine.journal.mark(), moment()))
        handed = read_after(machine, record.node, frame, not number)
        seen = seen_later(machine, before, since, frame, handed)
        open_now = not number and (stop_counting(machine, seen) | let_vary(machine, seen))
        open_now |= stop_counting_members(machine, seen)
        of_many.mark_gathered(machine, record, seen, since)
        handed_on = seen if apart is None else apart.handed_on(seen, not number)
        if not open_now and (number or steady) and settled(handed_on):
            break
        if number == MAX_PASSES - 2:
            give_up(machine, before)
        binders = more
    if not alive and over and may_end(record, len(over)):
        ends.append(end_of_pass(machine, start, over[-1]))
    record.ends = alive or bool(ends)
    if alive and ending is not None:
        ending()
    flow = _after(machine, record, alive)
    return flow if not ends else with_ends(machine, start, ends, path, flow)


def _pass(
    machine: Machine,
    record: LoopRecord,
    body: list[ast.stmt],
    frame: Frame,
    bind: Callable[[], None],
    path: Path | None,
) -> int:
    """One pass over a body; where it goes on, on a `path` that any pass may have."""
    machine.budget.checkpoint(machine.journal)
    record.mark = machine.journal.mark()
    record.continues = []
    record.unbound = False
    known_breaks = len(record.breaks)
    frame.loops.append(record)
    try:
        bind()
        flow = machine.execute(body, frame)
    finally:
        frame.loops.pop()
    record.left += [(record.mark, way) for way in record.breaks[known_breaks:]]
    if record.continues:
        machine.meet(record.continues, not flow, record.mark)
        flow = NEXT
    if flow and len(record.breaks) > known_breaks:
        return DEAD
    if not flow and path is not None:
        machine.path = path
    return flow


def _after(machine: Machine, record: LoopRecord, alive: bool) -> int:
    """The state after a loop: the natural end, and the ways out by `break` in each pass."""
    last = [way for mark, way in record.left if mark == record.mark]
    early = [(mark, way) for mark, way in record.left if mark != record.mark]
    if last:
        machine.meet(last, alive, record.mark, blind=True)
    elif not alive and early:
        mark, (machine.path, _, changes) = early.pop()
        machine.journal.undo(mark)
        machine.apply(changes or {})
    elif not alive:
        return DEAD
    for mark, (path, _, changes) in early:
        machine.path = machine.path.meet(path)
        join_state(machine, mark, changes or {})
    return NEXT


EXECUTORS.update({ast.For: _for, ast.AsyncFor: _for, ast.While: _while})
