"""Generators as context managers: the block runs where they yield, and what they do after that
comes when the block ends. They are run to their ends at once, so what they had changed by then is
kept apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from device_lens.domain.heap import MISSING, ListObject, Presences, Table
from device_lens.domain.journal import Delta
from device_lens.interpreter.frames import Exit, Frame
from device_lens.interpreter.machine import Machine
from device_lens.interpreter.merging import Ways, fold, join_values

MANAGING = frozenset({"contextlib.contextmanager", "contextlib.asynccontextmanager"})
_FIELD = "<suspended>"

Place = tuple[Table, Any, Any, Any]
"""A place, its value while the generator waits, and the one that it leaves there."""


class Suspension:
    """The places in which the block's state is another one than that at the generator's end."""

    __slots__ = ("places",)

    def __init__(self, places: list[Place]) -> None:
        self.places = places


def keep(machine: Machine, frame: Frame) -> None:
    """Keeps what a generator has changed by a `yield` of it."""
    if frame.function is not None and frame.function.manages:
        frame.waits.append((machine.path, None, machine.journal.changes(frame.entry_mark)))


def suspend(machine: Machine, frame: Frame, generator: ListObject) -> None:
    """Keeps with a generator that has been run what its end changes."""
    ways = frame.waits
    if not ways:
        return
    last = machine.journal.changes(frame.entry_mark)
    began = machine.journal.value_at(frame.entry_mark)
    places: Delta = {}
    for _, _, changes in ways:
        places.update(changes or {})
    places.update(last)
    found: list[Place] = []
    for place, (table, key, _) in places.items():
        if table is frame.scope.names or type(table) is Presences:
            continue
        before = began[place][2] if place in began else table.get(key, MISSING)
        waiting = _at(ways, place, before)
        left = last[place][2] if place in last else before
        if waiting is not left:
            found.append((table, key, waiting, left))
    generator.fields[_FIELD] = Suspension(found)


def _at(ways: list[Exit], place: tuple[int, Any], before: Any) -> Any:
    """The value of a place at whichever `yield` a generator waits."""
    values = [(changes or {}).get(place, (0, 0, before))[2] for _, _, changes in ways]
    return fold(values, Ways([path for path, _, _ in ways], None), join_values)


def enter(machine: Machine, generator: ListObject) -> Callable[[], None] | None:
    """Goes back to the state at the `yield`; gives what ends the block. None where the generator is
    no manager that has been run."""
    kept = generator.fields.get(_FIELD)
    if not isinstance(kept, Suspension):
        return None
    for table, key, waiting, _ in kept.places:
        _write(machine, table, key, waiting)

    def leave() -> None:
        for table, key, _, left in kept.places:
            _write(machine, table, key, left)

    return leave


def _write(machine: Machine, table: Table, key: Any, value: Any) -> None:
    if value is MISSING:
        machine.journal.delete(table, key)
    else:
        machine.journal.write(table, key, value)
