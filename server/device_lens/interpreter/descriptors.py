"""Descriptors of the program: objects that a class holds, whose methods answer for an attribute."""

from __future__ import annotations

from typing import Any

from device_lens.domain.code import BoundMethod, ClassValue, Function
from device_lens.domain.heap import Instance


def hook(found: Any, method: str) -> BoundMethod | None:
    """`__get__`, `__set__` or `__set_name__` of the class attribute `found`; None where it has
    none."""
    if not isinstance(found, Instance) or type(found.cls) is not ClassValue:
        return None
    function = found.cls.lookup(method)
    return BoundMethod(found, function) if type(function) is Function else None


def setter(receiver: Any, name: str) -> BoundMethod | None:
    """The `__set__` that assigning to `receiver.name` runs."""
    if not isinstance(receiver, Instance) or type(receiver.cls) is not ClassValue:
        return None
    return hook(receiver.cls.lookup(name), "__set__")


def comes_first(found: Any) -> bool:
    """Whether a class attribute is read rather than what the object itself has by that name."""
    if type(found) is Function:
        return found.kind == "property"
    return hook(found, "__set__") is not None and hook(found, "__get__") is not None
