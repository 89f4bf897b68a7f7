"""Values that may be None: programs ask for that, so it is told apart from what else there is."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from device_lens.domain.guard import Guarded, choose, leaves, node, undecided
from device_lens.domain.join import join_blind, join_blind_with
from device_lens.domain.values import NONE

IS_NONE = "it is not None"
"""What an atom says that tells None apart from what else there is."""


def either(left: Any, right: Any) -> Any:
    """Either of two values, with no condition that decides, but for whether it is None."""
    if left is right or left == NONE == right or not (_may_be_none(left) or _may_be_none(right)):
        return join_blind(left, right)
    return any_of([left, right], lambda known: reduce(join_blind, known))


def any_of(values: list[Any], join: Callable[[list[Any]], Any]) -> Any:
    """One value for any of several, of which `join` makes one for those that are not None."""
    if not any(map(_may_be_none, values)):
        return join(values)
    known = [each for each in map(without_none, values) if each != NONE]
    return choose(undecided(IS_NONE), join(known), NONE) if known else NONE


def either_with(value: Any) -> Callable[[Any], Any]:
    """Joins many with one value."""
    joined = join_blind_with(value)
    if _may_be_none(value):
        return lambda other: either(other, value)
    return lambda other: either(other, value) if _may_be_none(other) else joined(other)


def without_none(tree: Any) -> Any:
    """The tree without the cases in which it is None; None where it has no other."""
    if type(tree) is not Guarded:
        return tree
    yes, no = without_none(tree.yes), without_none(tree.no)
    if yes == NONE or no == NONE:
        return no if yes == NONE else yes
    return tree if yes is tree.yes and no is tree.no else node(tree.atom, yes, no)


def _may_be_none(value: Any) -> bool:
    return any(leaf == NONE for leaf in leaves(value))
