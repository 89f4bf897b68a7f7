"""Tensors that several names hold: what changes one in place changes it under each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue, Scope
from device_lens.domain.device import (
    UNKNOWN_DEVICE,
    DeviceTree,
    same_everywhere,
    widen_device,
)
from device_lens.domain.guard import combine, leaves
from device_lens.domain.heap import HeapObject, ModuleObject, Table
from device_lens.domain.values import Tensor, TupleValue

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


def lose_others(machine: Machine, old: Tensor, changed: Tensor) -> None:
    """`old` is given the data of `changed`. Where a tensor is that may be `old` under another name,
    in a container or in an attribute is not known any more, in the cases where `old` may be
    elsewhere now: a value does not tell whether it is `old` or one like it."""
    if not same_everywhere(old.device, changed.device):
        device = combine(_unless_elsewhere, old.device, changed.device)
        _change_others(machine, old, device=widen_device(device))


def _unless_elsewhere(before: DeviceTree, after: DeviceTree) -> DeviceTree:
    return before if same_everywhere(before, after) else UNKNOWN_DEVICE


def lose_gradient(machine: Machine, old: Tensor, changed: Tensor) -> None:
    """`old` joins or leaves the graph in place. Whether a tensor requires grad that may be `old`
    under another name is not known any more."""
    if changed.requires_grad is not old.requires_grad:
        _change_others(machine, old, requires_grad=None, leaf=None)


def lose_shape(machine: Machine, old: Tensor, changed: Tensor) -> None:
    """`old` has another shape in place, also under the names that were given it. That of a tensor
    like it is not known any more: it may be `old`."""
    if changed.shape != old.shape or changed.zero_dim is not old.zero_dim:
        _change_others(machine, old, changed, shape=None, zero_dim=None)


def _change_others(
    machine: Machine, old: Tensor, itself: Tensor | None = None, **changes: Any
) -> None:
    """`itself` is what that very value is from here on, where it stands for one tensor."""

    def elsewhere(value: Any) -> Any:
        if value is old and is_one and itself is not None:
            return itself
        if type(value) is Tensor and _may_be(value, old):
            told = any(getattr(value, name) is not each for name, each in changes.items())
            return value.with_(**changes) if told else value
        if type(value) is TupleValue:
            items = elsewhere(value.items)
            return value if items is value.items else TupleValue(items, value.names)
        if type(value) is tuple:
            items = tuple(combine(elsewhere, item) for item in value)
            same = all(item is former for item, former in zip(items, value, strict=True))
            return value if same else items
        return value

    for table in _reachable(machine):
        for key, value in list(table.items()):
            is_one = key != "rest"
            new = combine(elsewhere, value)
            if new is not value:
                machine.journal.write(table, key, new)


def _may_be(value: Tensor, old: Tensor) -> bool:
    """Whether a tensor may be another: it is where that is, began as that did, has its shape, and
    requires grad if that does."""
    if value is old:
        return True
    if None not in (value.shape, old.shape) and value.shape != old.shape:
        return False
    if {value.requires_grad, old.requires_grad} == {True, False}:
        return False
    first = value.trail and value.trail.first
    return first is (old.trail and old.trail.first) and value.device == old.device


def _reachable(machine: Machine) -> list[Table]:
    """The tables of what runs now, and of all that these lead to."""
    found: dict[int, Table] = {}
    pending: list[Any] = [frame.scope for frame in machine.stack]
    while pending:
        value = pending.pop()
        if isinstance(value, tuple):
            pending += value
        elif type(value) is TupleValue:
            pending += value.items
        else:
            for table in _tables(value):
                if id(table) not in found:
                    found[id(table)] = table
                    pending += (leaf for each in table.values() for leaf in leaves(each))
            if isinstance(value, Scope) and value.parent is not None:
                pending.append(value.parent)
    return list(found.values())


def _tables(value: Any) -> list[Table]:
    """The tables that one value has of its own."""
    if isinstance(value, Scope):
        return [value.names]
    if isinstance(value, ClassValue):
        return [value.fields]
    if not isinstance(value, HeapObject):
        return []
    tables = [value.fields]
    if isinstance(value, ModuleObject):
        tables += value.parameters, value.buffers, value.modules
    entries = getattr(value, "entries", None)
    return tables if entries is None else [*tables, entries]
