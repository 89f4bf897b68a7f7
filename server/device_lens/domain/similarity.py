"""Whether two values say the same of devices."""

from __future__ import annotations

from typing import Any

from device_lens.domain.guard import Guarded
from device_lens.domain.heap import (
    COUNT,
    FRESH,
    MEMBERS,
    STATE,
    DictObject,
    ListObject,
    ModuleObject,
    Parameter,
    Table,
)
from device_lens.domain.parameters import members
from device_lens.domain.plain import type_of_number
from device_lens.domain.trail import Trail
from device_lens.domain.values import (
    Const,
    DeviceValue,
    DtypeValue,
    HostArray,
    Tensor,
    TupleValue,
    Unknown,
)

TENSORS = (Tensor, Parameter)


def value_of(value: Any) -> Tensor:
    """The tensor that a tensor or parameter is at present."""
    found: Tensor = value.tensor if type(value) is Parameter else value
    return found


def similar(left: Any, right: Any, depth_left: int = 3) -> bool:
    """Whether two values say the same of devices: the test for a loop's fixpoint."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if type(left) is Tensor:
        return bool(
            left.device == right.device
            and left.requires_grad == right.requires_grad
            and left.grad_apart == right.grad_apart
        )
    if type(left) in (Const, DeviceValue, DtypeValue, Guarded):
        return bool(left == right)
    if type(left) is TupleValue:
        return len(left.items) == len(right.items) and all(
            similar(a, b, depth_left) for a, b in zip(left.items, right.items, strict=True)
        )
    if type(left) is Unknown:
        same = type_of_number(left) == type_of_number(right)
        return same and bool(left.device == right.device)
    if type(left) in (HostArray, Trail):
        return True  # a history says nothing of where its value is
    if type(left) is Parameter and (left.among or right.among):
        same = {*map(id, members(left))} == {*map(id, members(right))}
        return same and left.tensor.device == right.tensor.device
    if not depth_left or getattr(left, "site", None) is None:
        return bool(left == right)
    if _is_endless(left) and _is_endless(right):
        return similar(left.rest, right.rest, depth_left)
    fresh = type(left) in (ListObject, DictObject) and FRESH in left.fields
    if left.site is not right.site and not fresh:
        return False
    if type(left) is ModuleObject:
        if not same_places(left, right):
            return False
        return _similar_in(_settings(left), _settings(right), depth_left - 1)
    if type(left) is DictObject and not _similar_in(left.entries, right.entries, depth_left - 1):
        return False
    if MEMBERS in left.fields and MEMBERS in right.fields:
        return _similar_optimizers(left.fields, right.fields)
    return _similar_in(left.fields, right.fields, depth_left - 1)


def _similar_optimizers(left: Table, right: Table) -> bool:
    """Whether two optimizers train parameters, each its own, in the same places, and have state
    there."""
    mine, other = ([_place(each) for each in table[MEMBERS]] for table in (left, right))
    made, made_too = ([at for _, at in table.get(STATE, ())] for table in (left, right))
    return mine == other and made == made_too


def _settings(module: ModuleObject) -> Table:
    """The attributes of a module but for those that say nothing of devices: its mode, and how many
    members a container has."""
    fields = module.fields
    if fields.keys().isdisjoint(_ASIDE):
        return fields
    return {name: value for name, value in fields.items() if name not in _ASIDE}


_ASIDE = frozenset({"training", COUNT})


def same_places(left: ModuleObject, right: ModuleObject) -> bool:
    """Whether what two modules have in common is in the same places."""
    if left is right:
        return True
    if left.device != right.device:
        return False
    for mine, other in ((left.parameters, right.parameters), (left.buffers, right.buffers)):
        if any(_place(mine[name]) != _place(other[name]) for name in mine.keys() & other.keys()):
            return False
    for name in left.modules.keys() & right.modules.keys():
        part, twin = left.modules[name], right.modules[name]
        if type(part) is ModuleObject and type(twin) is ModuleObject:
            if not same_places(part, twin):
                return False
        elif type(part) is not type(twin):
            return False
    return True


def _place(value: Any) -> Any:
    return value_of(value).device if type(value) in TENSORS else None


def _is_endless(value: Any) -> bool:
    """Whether this is an iterator that stays as it is whatever is read of it."""
    return type(value) is ListObject and value.kind in _ITERATORS and not value.items


_ITERATORS = ("iter", "iterator", "generator")


def _similar_in(left: Table, right: Table, depth_left: int) -> bool:
    if left.keys() != right.keys():
        return False
    for key, value in left.items():
        other = right[key]
        if isinstance(value, tuple) and isinstance(other, tuple):
            if len(value) != len(other):
                return False
            pairs = zip(value, other, strict=True)
            if not all(similar(a, b, depth_left) for a, b in pairs):
                return False
        elif not similar(value, other, depth_left):
            return False
    return True
