"""How many leaves of a tree are followed on their own by whatever is done with it."""

from __future__ import annotations

from device_lens.domain.bound_code import CODE
from device_lens.domain.code import ClassValue
from device_lens.domain.guard import MOST_CASES, Guarded, leaves
from device_lens.domain.heap import Instance, ModuleObject
from device_lens.domain.values import External

MOST_FOLLOWED = 14
"""Leaves of a tree that is deep: a few of many, which long chains of conditions tell apart."""
MOST_REPEATED = 4
"""The same of leaves that stand in more places than that: the conditions of each are many."""
_APART = frozenset({*CODE, ClassValue, External, Instance, ModuleObject})


def is_of_few(tree: Guarded, above: int) -> bool:
    """Whether the leaves of a tree that stands below some conditions are few. A class, function or
    object that is in many places of it is called once, under the conditions of all of them."""
    most = MOST_FOLLOWED - above
    if tree.size <= most or tree.size > MOST_CASES:
        return tree.size <= most
    found = leaves(tree)
    return _APART.issuperset(map(type, found)) and len(set(map(id, found))) <= MOST_REPEATED
