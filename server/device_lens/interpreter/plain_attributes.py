"""Attributes of Python's own values: texts and numbers, lists, dicts, functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.code import Function
from device_lens.domain.heap import DictObject, ListObject
from device_lens.domain.values import BoundExternal, Const, External, Partial, Unknown
from device_lens.interpreter import descriptors
from device_lens.interpreter.frames import Frame
from device_lens.models import registry

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


def of_list(machine: Machine, receiver: ListObject, name: str, node: Any, frame: Frame) -> Any:
    return BoundExternal(receiver, "list." + name)


def of_dict(machine: Machine, receiver: DictObject, name: str, node: Any, frame: Frame) -> Any:
    if receiver.kind != "dict" and registry.function(f"{receiver.kind}.{name}") is not None:
        return BoundExternal(receiver, f"{receiver.kind}.{name}")
    if receiver.kind != "dict" and registry.function("dict." + name) is None:
        if name in receiver.entries:
            return receiver.entries[name]
        return receiver.rest if receiver.rest is not None else Unknown(name)
    return BoundExternal(receiver, "dict." + name)


def of_constant(machine: Machine, receiver: Const, name: str, node: Any, frame: Frame) -> Any:
    if isinstance(receiver.value, str):
        return BoundExternal(receiver, "str." + name)
    return Unknown(name)


def of_function(machine: Machine, receiver: Function, name: str, node: Any, frame: Frame) -> Any:
    if name == "__name__":
        return Const(receiver.name)
    if name in ("setter", "getter", "deleter"):
        return External("builtins.property.setter")
    if name == "cache_clear" and receiver.kept is not None:
        return Partial(External("functools.<cache_clear>"), (receiver,), {})
    return descriptors.by_hand(receiver, name) or Unknown(name)
