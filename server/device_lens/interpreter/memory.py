"""Remembers calls: the same function with the same arguments gives the same answer.

Only calls that changed nothing but their own local names are kept. Arguments are compared by what
they say of devices; objects by identity and by what they hold at first sight.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from device_lens.domain.guard import Guarded
from device_lens.domain.heap import (
    DictObject,
    Instance,
    ListObject,
    ModuleObject,
    Parameter,
)
from device_lens.domain.values import (
    Const,
    DeviceValue,
    DtypeValue,
    External,
    Tensor,
    TupleValue,
    Unknown,
)

if TYPE_CHECKING:
    from device_lens.domain.code import Function
    from device_lens.interpreter.machine import Machine

MAX_PARTS = 64
"""Parts of a module that are compared; calls with larger ones are not remembered."""


class Memory:
    """Answers by function and arguments, with the arguments, so that an identity in a key is not
    given to another object, and with what was computed."""

    def __init__(self) -> None:
        self.answers: dict[Any, tuple[Any, Any, Any]] = {}
        self.rough: dict[Any, Any] = {}

    def key(
        self, machine: Machine, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """What decides the answer, or None where that is too much to compare."""
        state = machine.globals
        marks: list[Any] = [
            function.node,
            id(function.scope),
            state["grad"],
            id(state["default_device"]),
            id(state["default_type"]),
            id(state["current_cuda"]),
        ]
        if not machine.standalone:
            marks.append(machine.journal.outside)
            marks.append(machine.path.named)
        for value in (*args, *kwargs.values()):
            mark = fingerprint(value)
            if mark is None:
                return None
            marks.append(mark)
        marks.extend(kwargs)
        return tuple(marks)

    def keep(self, key: Any, value: Any, holding: Any, steps: Any) -> None:
        self.answers[key] = (value, holding, steps)

    def keep_rough(self, key: Any, value: Any) -> None:
        """Keeps what an answer says of devices, for arguments that are only alike."""
        answer = without_sizes(value)
        if answer is not None:
            self.rough[key] = answer


def rough_key(
    machine: Machine, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What decides where the answer is: the kinds of the arguments and their devices."""
    marks = [function.node, *map(partial(_rough, machine), (*args, *kwargs.values())), *kwargs]
    return tuple(marks)


def _rough(machine: Machine, value: Any) -> Any:
    kind = type(value)
    if kind is Tensor or kind is Unknown:
        return kind, value.device
    if kind is Parameter:
        return kind, value.tensor.device
    if kind is ModuleObject:
        return value.cls, machine.recorder.module_device(value)
    if kind is Const:
        constant = type(value.value)
        return value if constant in (bool, str, type(None)) else constant
    if kind is TupleValue:
        return tuple(_rough(machine, item) for item in value.items)
    return kind if kind in (Guarded, DictObject, ListObject) else value


def without_sizes(value: Any) -> Any:
    """A tensor, or a tuple of tensors, whose shape and dtype are left open; None for all else."""
    if type(value) is Tensor:
        return value.with_(shape=None, dtype=None, zero_dim=None)
    if type(value) is TupleValue:
        items = tuple(map(without_sizes, value.items))
        return None if None in items else TupleValue(items, value.names)
    return None


def fingerprint(value: Any, depth: int = 2) -> Any:
    """What a value says, hashable; None where it is too much."""
    kind = type(value)
    if kind is Tensor:
        return (
            "tensor",
            value.device,
            value.dtype,
            value.shape,
            value.requires_grad,
            value.leaf,
            value.zero_dim,
            id(value.trail),
        )
    if kind in (Const, DeviceValue, DtypeValue, External):
        try:
            hash(value)
        except TypeError:
            return None
        return value
    if kind is TupleValue:
        return _all(value.items, depth)
    if kind is Parameter:
        return ("parameter", id(value), id(value.tensor))
    if kind is ListObject:
        return ("list", id(value), id(value.items), id(value.rest))
    if kind is DictObject:
        return ("dict", id(value), _identities(value.entries), id(value.rest))
    if kind is ModuleObject:
        return _module(value, depth)
    if kind is Instance:
        return ("instance", id(value), _identities(value.fields))
    return id(value)


def _all(values: tuple[Any, ...], depth: int) -> Any:
    marks = tuple(fingerprint(value, depth - 1) for value in values)
    return None if None in marks else marks


def _identities(table: dict[Any, Any]) -> tuple[int, ...]:
    return tuple(map(id, table.values()))


def _module(value: ModuleObject, depth: int) -> Any:
    tables = (value.fields, value.parameters, value.buffers, value.modules, value.own)
    if sum(map(len, tables)) > MAX_PARTS:
        return None
    marks: list[Any] = ["module", id(value), *map(_identities, tables)]
    if depth:
        for inner in value.modules.values():
            mark = _module(inner, depth - 1) if type(inner) is ModuleObject else id(inner)
            if mark is None:
                return None
            marks.append(mark)
    return tuple(marks)
