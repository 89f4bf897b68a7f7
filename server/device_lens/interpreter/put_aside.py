"""Where a loop has put the one that stands for all that it goes through: there it may be any of
them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.guard import leaves
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
from device_lens.domain.values import FALSE, TRUE, TupleValue

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
        if key in ("items", "rest"):
            if _has(new, done) and not _has(old, done):
                _hold_any(machine, table, others, every)
        elif new is done and old is not done:
            machine.journal.write(table, key, any_one(others, done))


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
