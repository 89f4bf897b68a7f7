"""Shallow copies of what has slots."""

from __future__ import annotations

from typing import TypeVar

Slotted = TypeVar("Slotted")

_SLOTS: dict[type, tuple[str, ...]] = {}


def shallow(of: Slotted) -> Slotted:
    """A copy that shares what the object holds in its slots. `copy.copy` takes five times as long,
    which an editor pays many times for each key."""
    kind = type(of)
    slots = _SLOTS.get(kind)
    if slots is None:
        every = (getattr(base, "__slots__", ()) for base in kind.__mro__)
        slots = _SLOTS[kind] = tuple(name for names in every for name in names)
    made = kind.__new__(kind)
    for name in slots:
        object.__setattr__(made, name, getattr(of, name))
    return made
