"""What may be a tensor or something of which that is not known."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

from device_lens.domain.atom import Atom
from device_lens.domain.device import shared, widen_device
from device_lens.domain.guard import Guarded, combine, leaves
from device_lens.domain.similarity import TENSORS, value_of
from device_lens.domain.values import Unknown


def somewhere(values: Iterable[Any]) -> Unknown:
    """Any of some tensors and unknowns: it is where all of them are, if it is a tensor. Among
    others, nowhere that is known."""
    devices = [_device(each) for each in values]
    if None in devices:
        return Unknown()
    return Unknown("", widen_device(reduce(lambda a, b: combine(shared, a, b), devices)))


def _device(value: Any) -> Any:
    if type(value) in TENSORS:
        return value_of(value).device
    return value.device if type(value) is Unknown else None


def common_case(left: Any, right: Any) -> Atom | None:
    """The flag or the like that decides first whether either of two values is a tensor, or not
    known; None where the two hang on different ones, or may be anything else."""
    for tree, other in ((left, right), (right, left)):
        if _are_by_case(tree):
            if type(other) is not Guarded:
                return tree.atom if type(other) in (Unknown, *TENSORS) else None
            return tree.atom if _are_by_case(other) and other.atom is tree.atom else None
    return None


def _are_by_case(tree: Any) -> bool:
    named = type(tree) is Guarded and tree.atom.named
    return named and {type(leaf) for leaf in leaves(tree)} <= {Unknown, *TENSORS}
