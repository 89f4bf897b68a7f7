"""Whether a value is, or holds, a tensor that a function makes or places by itself."""

from __future__ import annotations

from typing import Any

from device_lens.domain.code import BoundMethod
from device_lens.domain.device import CPU, Device, parse_device
from device_lens.domain.guard import leaves
from device_lens.domain.heap import Instance, ModuleObject, Parameter, contents
from device_lens.domain.values import Const, DeviceValue, HostArray, Tensor, Unknown

_DEPTH = 4
"""How far into what a value holds it is looked for tensors."""


def is_somewhere(value: Any, depth: int = _DEPTH) -> bool:
    """Whether a value is, or holds, a tensor or a device that its function has not been given.
    Modules on the host do not count: what else is there needs to be placed to meet them."""
    return any(_is_somewhere(each, depth) for each in leaves(value))


def _is_somewhere(value: Any, depth: int) -> bool:
    kind = type(value)
    if kind is Parameter:
        value = value.tensor
        kind = type(value)
    if kind is Tensor or kind is DeviceValue:
        return any(type(each) is Device for each in leaves(value.device))
    if kind is Const:
        return type(value.value) is str and parse_device(value.value) is not None
    if kind is HostArray:
        return True
    if kind is Unknown or depth == 0:
        return False
    if kind is BoundMethod:
        return is_somewhere(value.receiver, depth - 1)
    if isinstance(value, ModuleObject):
        return _module(value, depth)
    if isinstance(value, Instance):
        return any(is_somewhere(each, depth - 1) for each in value.fields.values())
    return any(is_somewhere(each, depth - 1) for each in contents(value))


def _module(module: ModuleObject, depth: int) -> bool:
    """Whether a module is on an accelerator, or keeps tensors where moves of it miss them."""
    if any(is_somewhere(each, depth - 1) for each in module.fields.values()):
        return True
    tensors = [each.tensor for each in module.parameters.values() if type(each) is Parameter]
    placed = [module.device, *(each.device for each in tensors if type(each) is Tensor)]
    found = [leaf for each in placed for leaf in leaves(each)]
    return any(type(leaf) is Device and leaf is not CPU for leaf in found)
