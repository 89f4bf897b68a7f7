"""Where a loop has put the one that stands for all that it goes through: there it may be any of
them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.bound_code import CODE, any_code, any_of_code, instead
from device_lens.domain.guard import Guarded, choose, leaves
from device_lens.domain.heap import (
    HELD_ALL,
    HELD_ANY,
    MISSING,
    DictObject,
    Instance,
    ListObject,
    Table,
)
from device_lens.domain.kinds import gathered
from device_lens.domain.objects import any_one
from device_lens.domain.values import FALSE, TRUE, TupleValue, Unknown

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_OBJECTS = (Instance, ListObject, DictObject)


def spread(machine: Machine, mark: int, done: Any, others: tuple[Any, ...], every: bool) -> None:
    """What holds since a mark the one that stood for others may hold any of these; `every` tells
    that a list holds each of them."""
    if type(done) is TupleValue:
        rows = [each for each in others if type(each) is TupleValue]
        for place, part in enumerate(done.items):
            column = dict.fromkeys(row.items[place] for row in rows if place < len(row.items))
            spread(machine, mark, part, tuple(column), every)
        return
    if not isinstance(done, _OBJECTS) or not any(each is not done for each in others):
        return
    for table, key, old in list(machine.journal.value_at(mark).values()):
        new = table.get(key, MISSING)
        if key in ("items", "rest") and _has(new, done):
            if not _has(old, done):
                _hold_any(machine, table, others, every)
        elif new is not old and (found := _any_of(new, done, others)) is not None:
            machine.journal.write(table, key, found)


def _any_of(new: Any, done: Any, others: tuple[Any, ...]) -> Any:
    """What a value is if what it is, is bound to or has in it may be any of several; None where
    that is none of these."""
    if new is done:
        return any_one(others, done)
    if type(new) is Guarded:
        yes, no = (_any_of(each, done, others) for each in (new.yes, new.no))
        if yes is None and no is None:
            return None
        yes, no = new.yes if yes is None else yes, new.no if no is None else no
        return choose(Guarded(new.atom, True, False), yes, no)
    if isinstance(new, tuple) or type(new) is TupleValue:
        items = new if isinstance(new, tuple) else new.items
        found = [_any_of(each, done, others) for each in items]
        if all(each is None for each in found):
            return None
        changed = tuple(
            each if any_ is None else any_ for each, any_ in zip(items, found, strict=True)
        )
        return changed if isinstance(new, tuple) else TupleValue(changed, new.names)
    codes = any_of_code(new) or ((new,) if isinstance(new, CODE) else ())
    of_each = [instead(code, done, other) for code in codes for other in (done, *others)]
    if all(any(each is code for code in codes) for each in of_each):
        return None
    return any_code(of_each) or Unknown()


def _has(value: Any, done: Any) -> bool:
    items = value if isinstance(value, tuple) else leaves(value)
    return any(each is done for each in items)


def _hold_any(machine: Machine, table: Table, others: tuple[Any, ...], every: bool) -> None:
    """A list, or a dict under keys that are not known, has any of some values."""
    write = machine.journal.write
    known = table.get(HELD_ANY)
    held = known.items if type(known) is TupleValue else ()
    items = table.get("items", ())
    every = every and table.get(HELD_ALL) is not FALSE
    write(table, HELD_ANY, TupleValue(tuple(dict.fromkeys((*held, *items, *others)))))
    write(table, HELD_ALL, TRUE if every else FALSE)
    if items:
        write(table, "rest", gathered(items, table.get("rest")))
        write(table, "items", ())
