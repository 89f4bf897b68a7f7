"""What the library knows of a module: its classes, and which of them says what it computes."""

from __future__ import annotations

from device_lens.domain.code import ClassValue
from device_lens.domain.heap import ModuleObject
from device_lens.models import registry

FORWARD = "torch.nn.Module.forward"
"""A library module's own `forward`, which runs as its call does, less the hooks."""


def classes_of(receiver: ModuleObject) -> tuple[str, ...]:
    """The library classes of a module, nearest first, `torch.nn.Module` last."""
    cls = receiver.cls
    names = cls.foreign if type(cls) is ClassValue else (cls.name, *registry.bases(cls.name))
    if "torch.nn.Module" in names:
        return tuple(names)
    return (*names, "torch.nn.Module")


def forward_of(module: ModuleObject) -> tuple[str, registry.ModuleModel] | None:
    """The nearest class of the library that says what the module computes, and its model."""
    for name in classes_of(module):
        model = registry.module(name)
        if model is not None and name != "torch.nn.Module":
            return name, model
    return None
