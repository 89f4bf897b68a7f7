"""Comprehensions and generator expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import Scope
from device_lens.domain.condition import conjunction
from device_lens.domain.device import CONTESTED
from device_lens.domain.guard import Guarded
from device_lens.domain.heap import (
    MISSING,
    DictObject,
    ListObject,
    contents,
    moment,
)
from device_lens.domain.join import join_blind
from device_lens.domain.lengths import keep_unplaced
from device_lens.domain.objects import any_of_these, holds_all, keep_any
from device_lens.domain.optional_items import keep, one_by_one
from device_lens.domain.values import Const, Unknown
from device_lens.interpreter import (
    by_number,
    effects,
    item_effects,
    lazily,
    numbered,
    of_many,
    reports,
)
from device_lens.interpreter.assignment import assign
from device_lens.interpreter.conditions import narrow, truth
from device_lens.interpreter.dispatch import EVALUATORS, NEXT
from device_lens.interpreter.frames import Frame, LoopRecord
from device_lens.interpreter.iteration import any_of, iterate, most_keys, runs_often, trip_count
from device_lens.interpreter.keys import key_of, put
from device_lens.interpreter.read_up import Reading, reading
from device_lens.models.python.all_gpus import are_those

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

MAX_UNROLLED = 8
"""Items for which the element is evaluated one by one."""

Emit = Callable[[Any], None]
"""Evaluates the element; the argument tells how often it comes: False: once; True: any number of
times; a condition: once where it holds."""


class _Collected:
    """Elements in order, as far as their number is known."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.rest: Any = None
        self.others: list[Any] = []
        self.conditions: list[Any] = []
        """Where each of the others is there; True too for any number of it (`untold`)."""
        self.untold = False

    def add(self, value: Any, repeated: Any) -> None:
        if repeated is False and self.rest is None:
            self.items.append(value)
            return
        self.rest = value if self.rest is None else join_blind(self.rest, value)
        self.others.append(value)
        self.conditions.append(True if repeated is False else repeated)
        self.untold = self.untold or repeated is True


def _collect(machine: Machine, node: Any, frame: Frame, kind: str, iterable: Any) -> ListObject:
    inner = _inner_frame(frame)
    found = _Collected()
    read = reading(node, frame)

    def emit(repeated: Any) -> None:
        value = machine.evaluate(node.elt, inner)
        found.add(value, repeated)
        if read.last is not None:
            read.saw(machine.decide(truth(value)), repeated is not False)

    mark, since = machine.journal.mark(), moment()
    count = _run(
        machine,
        node.generators,
        inner,
        False,
        (node.elt,),
        emit,
        iterable,
        read,
    )
    of_many.mark(machine, node, found.rest, count, since)
    made = keep_unplaced(iterable, ListObject(tuple(found.items), found.rest, kind, node))
    if not found.untold:
        keep(machine.journal, made.fields, (tuple(found.others), tuple(found.conditions)))
    if kind == "list":
        by_number.keep_elements(machine, node, made, iterable, inner)
    machine.journal.settle(mark, inner.scope.born)  # its names say nothing of the loop around it
    whole = all(of_many.is_all_new(each, since) for each in found.others)
    whole = whole or (holds_all(iterable) and not any(each.ifs for each in node.generators))
    keep_any(made, found.others, _picks(node, iterable) and not whole, whole)
    if any(map(_never_is, contents(made))):
        frame.end_branch_of_pass()
    if isinstance(node, ast.ListComp) and found.rest is not None:
        reports.comprehended(machine, node, made, frame)
    return made


def _picks(node: Any, iterable: Any) -> bool:
    """Whether a comprehension need not go through all that there are."""
    return any(each.ifs for each in node.generators) or bool(any_of_these(iterable))


def _never_is(value: Any) -> bool:
    return type(value) is Unknown and value.device is CONTESTED


def _inner_frame(frame: Frame) -> Frame:
    """A comprehension has names of its own; everything else is the frame's around it."""
    scope = Scope(frame.closure(), frame.scope.globals)
    inner = Frame(frame.namespace, scope, frame.chunk, frame.function, frame.parent)
    inner.around = frame
    inner.owner = frame.owner
    inner.self_value = frame.self_value
    inner.loops = list(frame.loops)
    inner.branch_depth, inner.settled = frame.branch_depth, frame.settled
    inner.statement = frame.statement
    inner.yields = frame.yields
    return inner


def _run(
    machine: Machine,
    generators: list[ast.comprehension],
    frame: Frame,
    repeated: Any,
    elements: Sequence[ast.expr],
    emit: Emit,
    iterable: Any = None,
    going: Reading | None = None,
) -> int | None:
    """Runs `emit` for each combination of items; `elements` are the expressions that it reads, and
    `iterable` is what the first generator goes through, where that is at hand; `going` tells
    which items are surely asked for. Answers how many there are, where that is known."""
    if not generators:
        emit(repeated)
        return 1
    generator = generators[0]
    if iterable is None:
        iterable = machine.evaluate(generator.iter, frame)
    read = (*generator.ifs, *elements)
    if numbered.has_numbers(iterable) and numbered.goes_by_name(generator, read):
        iterable = numbered.each_number(iterable)
    items, rest = iterate(machine, iterable)
    (items, present_where), rest = one_by_one(iterable, items, rest)
    count = trip_count(items, rest, iterable)

    def further(more: Any) -> None:
        _run(machine, generators[1:], frame, more, elements, emit)

    def inner(value: Any, more: Any) -> None:
        if going is not None and going.over:
            return
        surely = going is None or (going.surely and not (more and going.last is not None))
        mark, since = machine.journal.mark(), moment()
        assign(machine, generator.target, value, frame, generator.iter)
        _filtered(machine, generator.ifs, frame, more, further)
        if not surely:
            machine.doubt(mark, since)

    record = LoopRecord(generator, frame.chunk, count, False, depth=frame.open_branches)
    if runs_often(iterable, count):
        targets = (each.target for each in generators)
        record.each_time = (*targets, *read, *(each.iter for each in generators[1:]))
    moves = len(items) > MAX_UNROLLED and item_effects.moves_items(
        generator, generator.target, elements, items
    )
    limit = MAX_UNROLLED
    if len(items) > limit and numbered.goes_by_name(generator, read):
        limit = numbered.MAX_NAMED
    unrolled = len(items) <= max(most_keys(items), limit)
    unrolled = unrolled or item_effects.one_by_one(items)
    record.repeats = rest is not None or not unrolled
    frame.loops.append(record)
    try:
        if unrolled:
            for value, present in zip(items, present_where, strict=True):
                condition = machine.decide(present)
                if condition is True:
                    inner(value, repeated)
                elif condition is not False:
                    one = partial(_one, inner, value, _where(repeated, condition))
                    machine.fork(condition, frame, one, lambda: NEXT)
        else:
            rest = any_of(items, rest)
        if rest is not None:
            _any_further(machine, iterable, items, rest, lambda value: inner(value, True))
    finally:
        frame.loops.pop()
    if moves and not unrolled:
        effects.forget(machine, items)
    return count if len(generators) == 1 and not generator.ifs else None


def _any_further(
    machine: Machine, iterable: Any, items: tuple[Any, ...], rest: Any, inner: Callable[[Any], None]
) -> None:
    """Runs with what any further item may be: each of those that are told apart, or what stands
    for all of them."""
    others, surely = any_of_these(iterable), holds_all(iterable)
    for value in others or (rest,):
        mark, since = machine.journal.mark(), moment()
        inner(value)
        if others and not surely:
            machine.doubt(mark, since)


def _one(inner: Callable[[Any, Any], None], value: Any, repeated: Any) -> int:
    inner(value, repeated)
    return NEXT


def _where(repeated: Any, condition: Any) -> Any:
    """How often what comes so often comes where a condition holds."""
    if repeated is True:
        return True
    return condition if repeated is False else conjunction(repeated, condition)


def _filtered(
    machine: Machine, tests: list[ast.expr], frame: Frame, repeated: Any, emit: Emit
) -> None:
    if not tests:
        emit(repeated)
        return
    condition = machine.decide(truth(machine.evaluate(tests[0], frame)))
    if condition is False:
        return
    if condition is True:
        narrow(machine, tests[0], frame, True)
        _filtered(machine, tests[1:], frame, repeated, emit)
        return

    def taken() -> int:
        narrow(machine, tests[0], frame, True)
        _filtered(machine, tests[1:], frame, _where(repeated, condition), emit)
        return NEXT

    machine.fork(condition, frame, taken, lambda: NEXT)


def _list(machine: Machine, node: ast.ListComp, frame: Frame) -> Any:
    return _list_of(machine, node, frame, _first(machine, node, frame))


def _first(machine: Machine, node: Any, frame: Frame) -> Any:
    """What the first generator goes through, which is evaluated around the comprehension."""
    return machine.evaluate(node.generators[0].iter, frame)


def _list_of(machine: Machine, node: ast.ListComp, frame: Frame, iterable: Any) -> Any:
    """The list made of what is gone through: one for each case in which a flag names other texts,
    since there may be more or fewer of them, or in which there is nothing."""
    if type(iterable) is not Guarded or not (_names_texts(iterable) or _may_be_empty(iterable)):
        return _collect(machine, node, frame, "list", iterable)
    make = partial(_list_of, machine, node, frame)
    yes, no = partial(make, iterable.yes), partial(make, iterable.no)
    return machine.choose(Guarded(iterable.atom, True, False), frame, yes, no)


def _names_texts(tree: Guarded) -> bool:
    """Whether a flag or the like decides which texts there are."""
    sides = [side for side in (tree.yes, tree.no) if type(side) is ListObject]
    return tree.atom.named and any(
        side.rest is None
        and all(type(each) is Const and isinstance(each.value, str) for each in side.items)
        for side in sides
    )


def _may_be_empty(tree: Guarded) -> bool:
    """Whether a range, or a list of its numbers, has none in one case."""
    sides = [side for side in (tree.yes, tree.no) if type(side) is ListObject]
    empty = [side for side in sides if side.rest is None and not side.items]
    if len(sides) != 2 or len(empty) != 1:
        return False
    return sides[0].kind == "range" or are_those(tree)


def _set(machine: Machine, node: ast.SetComp, frame: Frame) -> Any:
    return _collect(machine, node, frame, "set", _first(machine, node, frame))


def _generator(machine: Machine, node: ast.GeneratorExp, frame: Frame) -> Any:
    made = _collect(machine, node, frame, "generator", _first(machine, node, frame))
    return lazily.made(machine, made)


def _dict(machine: Machine, node: ast.DictComp, frame: Frame) -> Any:
    inner = _inner_frame(frame)
    found = DictObject(site=node)
    others: list[Any] = []
    mark, since = machine.journal.mark(), moment()

    def emit(repeated: bool) -> None:
        key = machine.evaluate(node.key, inner)
        value = machine.evaluate(node.value, inner)
        put(machine, found, key, value)
        if key_of(key) is MISSING:
            others.append(value)

    elements = (node.key, node.value)
    _run(machine, node.generators, inner, False, elements, emit, _first(machine, node, frame))
    of_many.mark(machine, node, keep_any(found, others).rest, None, since)
    machine.journal.settle(mark, inner.scope.born)
    reports.dict_comprehended(machine, node, found, frame)
    return found


EVALUATORS.update(
    {
        ast.ListComp: _list,
        ast.SetComp: _set,
        ast.GeneratorExp: _generator,
        ast.DictComp: _dict,
    }
)
