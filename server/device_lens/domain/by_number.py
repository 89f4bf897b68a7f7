"""Lists of any length of which each item hangs on nothing but its number: `[f"cuda:{i}" for i in
range(count)]`. Who reads one of them knows that it is there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from device_lens.domain.heap import ListObject
from device_lens.domain.journal import Journal
from device_lens.domain.values import FALSE

MOST_PLACES = 8
"""Items that are kept: as many as most machines have GPUs."""
_PLACES = "<by number>"
"""The field of a list for what each of its first items is, if it is there, or what is at every so
many places; false once something was done to the list."""
Held = tuple[Any, tuple[Any, ...]]
"""What any of some items is, and all that they may be."""


@dataclass(frozen=True, slots=True)
class Strided:
    """What a list of any length holds of which every so many places were given something else: at
    each start where that was done, and what it has held before."""

    step: int
    former: Held
    parts: tuple[tuple[int, Held], ...]
    rest: Any = field(compare=False)


@dataclass(frozen=True, slots=True)
class _Places:
    """What items are, in a list that has changed nothing since."""

    items: tuple[Any, ...] = field(compare=False)
    rest: Any = field(compare=False)
    found: tuple[Any, ...]
    number: Any


def keep_places(made: ListObject, found: tuple[Any, ...], number: Any = None) -> None:
    """Keeps of a new list what each of its first items is, and how many it has, as far as that is
    known by a name."""
    made.fields[_PLACES] = _Places(made.items, made.rest, found, number)


def keep_places_of(source: Any, made: ListObject) -> None:
    """Keeps them of a new list with the items of another."""
    found = first_items(source)
    if found and made.items == source.items:
        keep_places(made, found, number_of(source))


def first_items(value: Any) -> tuple[Any, ...]:
    """What the first items of a list are, as far as they are there; none where no more is known of
    them than of others."""
    kept = _kept(value)
    return () if kept is None else kept.found


def number_of(value: Any) -> Any:
    """How many items a list has of which each hangs on its number; Python's None where that has no
    name."""
    kept = _kept(value)
    return None if kept is None else kept.number


def keep_strided(journal: Journal, value: ListObject, found: Strided) -> None:
    """Keeps of a list what is at every so many places, until something else is done to it."""
    journal.write(value.fields, _PLACES, found)


def strided(value: ListObject) -> Strided | None:
    """What is at every so many places of a list, if nothing was done to it since."""
    kept = value.fields.get(_PLACES)
    if type(kept) is not Strided or value.items:
        return None
    return kept if kept.rest is value.rest else None


def _kept(value: Any) -> _Places | None:
    """What is known of a list's items, if nothing was done to it since."""
    kept = value.fields.get(_PLACES) if type(value) is ListObject else None
    if type(kept) is not _Places:
        return None
    return kept if kept.items is value.items and kept.rest is value.rest else None


def item_at(value: ListObject, position: int) -> Any:
    """The item at a place; Python's None where nothing more is known of it than of others."""
    found = first_items(value)
    return found[position] if 0 <= position < len(found) else None


def forget_places(journal: Journal, value: Any) -> None:
    """Something is done to a list: its items may be elsewhere afterwards."""
    if type(value) is ListObject and value.fields.get(_PLACES, FALSE) is not FALSE:
        journal.write(value.fields, _PLACES, FALSE)
