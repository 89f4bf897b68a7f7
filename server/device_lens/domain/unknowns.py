"""Either of two unknowns."""

from __future__ import annotations

from typing import Any

from device_lens.domain.bound_code import any_code, any_of_code
from device_lens.domain.device import UNKNOWN_DEVICE, DeviceTree
from device_lens.domain.values import TRUE, WHOLE, TupleValue, Unknown
from device_lens.domain.wholes import each_once

_ALONE = "<moved alone>"
"""Under this an unknown remembers that it has been moved if it is a tensor: a list or dict has
what it had."""


def moved_alone(label: str, device: DeviceTree) -> Unknown:
    """What a program has moved where it is a tensor, and let be where it is anything else."""
    made = Unknown(label, device)
    made.parts()[_ALONE] = TRUE
    return made


_MOVES = "<can be moved>"
"""Under this an unknown remembers that its class has a method which moved it: it is no list."""


def moved_whole(label: str, device: DeviceTree) -> Unknown:
    """What a program has moved, whatever it is."""
    made = Unknown(label, device)
    made.parts()[_MOVES] = TRUE
    return made


def is_no_list(value: Unknown) -> bool:
    """Whether it has been moved by a method of its own, which a list has not."""
    return value.fields is not None and _MOVES in value.fields


def device_of_items(value: Unknown, index: Any = None) -> DeviceTree:
    """Where the items of an unknown are, or the one that an index gives: where the whole is, if
    that has moved with all that is in it. What is read by several indices is a tensor."""
    alone = value.fields is not None and _ALONE in value.fields
    return UNKNOWN_DEVICE if alone and type(index) is not TupleValue else value.device


def join_unknowns(left: Unknown, right: Unknown, device: DeviceTree) -> Any:
    """What may be a part of either of two modules may be one of both, either of two numbers is a
    number, and what may be any of some functions may be any of all."""
    if left.fields is None and right.fields is None:
        return Unknown(left.label, device)
    if any_of_code(left) or any_of_code(right):
        return any_code((left, right)) or Unknown()
    found = Unknown(left.label, device)
    if left.fields is not None and right.fields is not None:
        for mark in left.fields.keys() & right.fields.keys():
            if left.fields[mark] is TRUE and right.fields[mark] is TRUE:
                found.parts()[mark] = TRUE
    wholes = [each.fields.get(WHOLE) for each in (left, right) if each.fields is not None]
    known = each_once(wholes)
    if known:
        found.parts()[WHOLE] = known
    return found


def have_code(left: Unknown, right: Unknown) -> bool:
    """Whether one of two unknowns may be any of some functions that the other one is not."""
    if left.fields is None and right.fields is None:
        return False
    mine, other = any_of_code(left), any_of_code(right)
    return bool(mine or other) and {*map(id, mine)} != {*map(id, other)}
