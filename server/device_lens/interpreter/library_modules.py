"""What the library knows of a module: its classes, and which of them says what it computes."""

from __future__ import annotations

from device_lens.domain.code import ClassValue
from device_lens.domain.heap import ModuleObject, Parameter
from device_lens.domain.values import External
from device_lens.models import registry
from device_lens.models.torch.parts import REPARAMETRISED, is_opaque

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


def leaves_alone(module: ModuleObject, name: str, part: ModuleObject | Parameter) -> bool:
    """Whether a call of a layer of PyTorch's has nothing to do with a part that a program has put
    beside those of the layer."""
    cls = module.cls
    if type(cls) is not External or not cls.name.startswith("torch.nn.") or is_opaque(module):
        return False
    if any(word in name for word in _OF_LAYERS) or REPARAMETRISED in module.own:
        return False
    if any(name in table for table in (module.parameters, module.buffers, module.modules)):
        return False
    return type(part) is Parameter or cls.name.rpartition(".")[2] not in CONTAINERS


_OF_LAYERS = ("weight", "bias")
"""What the parameters of a layer have in their names, those too that are None."""
CONTAINERS = frozenset("Sequential ModuleList ModuleDict".split())
