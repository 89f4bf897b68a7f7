"""Finds the special methods of objects: the program's own, or a library class's by its model."""

from __future__ import annotations

from device_lens.domain.code import BoundMethod, ClassValue, Function
from device_lens.domain.heap import Instance
from device_lens.domain.values import BoundExternal
from device_lens.models import registry
from device_lens.models.call import Value


def find_method(value: Value, name: str) -> Value | None:
    """`value.name` as something to invoke; None where the class is not known to have it."""
    if not isinstance(value, Instance):
        return None
    if type(value.cls) is ClassValue:
        found = value.cls.lookup(name)
        if type(found) is Function:
            return BoundMethod(value, found)
        names: tuple[str, ...] = value.cls.foreign
    else:
        names = (value.cls.name, *registry.bases(value.cls.name))
    for owner in names:
        if registry.function(f"{owner}.{name}") is not None:
            return BoundExternal(value, f"{owner}.{name}")
    return None
