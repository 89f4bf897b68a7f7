"""Objects that stand for many made alike, as an item of a batch that nobody makes one by one."""

from __future__ import annotations

from typing import Any

from device_lens.domain.guard import leaves
from device_lens.domain.heap import (
    DictObject,
    HeapObject,
    Instance,
    ModuleObject,
    contents,
    is_made_since,
)
from device_lens.domain.values import TupleValue
from device_lens.models.torch.parts import walk

DEEPEST = 3
"""Objects within objects that are parts of many too."""
Number = tuple[str | None, int | None]
"""The name of what tells how many there are, and how many."""


def stand_for(made: Any, number: Number, since: int, deepest: int = DEEPEST) -> None:
    """Marks what has been made since a moment, with its parts, as any of so many."""
    for leaf in leaves(made):
        if type(leaf) is TupleValue:
            for item in leaf.items:
                stand_for(item, number, since, deepest)
        elif isinstance(leaf, HeapObject) and is_made_since(birth(leaf), since):
            if leaf.many == number:
                continue
            leaf.many = number
            for part in held_by(leaf) if deepest else ():
                stand_for(part, number, since, deepest - 1)


def birth(value: HeapObject) -> Any:
    """The table that tells when an object was made."""
    if isinstance(value, ModuleObject):
        return value.own
    return value.entries if type(value) is DictObject else value.fields


def held_by(value: HeapObject) -> list[Any]:
    """What an object holds."""
    if isinstance(value, ModuleObject):
        modules = [part for _, part in walk(value)]
        held = [
            each for part in modules for each in (*part.parameters.values(), *part.fields.values())
        ]
        return [*modules[1:], *held]
    return list(value.fields.values()) if type(value) is Instance else contents(value)
