"""What may be any of many objects: what is read of it is what is read of all, where these agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.heap import Instance, ModuleObject, Parameter
from device_lens.domain.join import join_all
from device_lens.domain.objects import any_one, one_of_these
from device_lens.domain.similarity import similar
from device_lens.domain.values import External, Tensor, Unknown
from device_lens.models.call import tensor_of
from device_lens.models.torch.members import alike
from device_lens.models.torch.module import get_attribute

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_TENSORS = {Tensor, Parameter}


def attribute(machine: Machine, receiver: Unknown, name: str) -> Any:
    """An attribute that each of the objects has: a tensor with what theirs have in common, or any
    of the objects that they have there; Python's None for anything else."""
    held = one_of_these(receiver)
    if not held or name in receiver.parts():
        return None
    found: list[Any] = []
    for each in held:
        if type(each) is ModuleObject:
            value = get_attribute(machine, each, name)
        else:
            value = each.fields.get(name) if isinstance(each, Instance) else None
        if value is None:
            return None
        found.append(value)
    if set(map(type, found)) <= _TENSORS:
        return join_all(found)
    if all(value is found[0] for value in found) and isinstance(found[0], Instance):
        return found[0]
    return any_one(tuple(found), None)


def that_stands_for_all(value: Any) -> ModuleObject | None:
    """One of several modules any of which a value is, where all are of one class and in one place;
    None for anything else."""
    held = one_of_these(value)
    if not held or not all(type(each) is ModuleObject for each in held):
        return None
    found = alike([*held])
    if type(found) is not ModuleObject:
        return None
    of_library = type(found.cls) is External  # whose code asks for nothing but where things are
    return found if of_library or all(similar(found, each) for each in held) else None


def without_sizes(value: Any) -> Any:
    """What one of several modules gives, of which each may give a tensor of another size."""
    tensor = tensor_of(value) if type(value) in _TENSORS else None
    if tensor is None:
        return Unknown()
    return tensor.with_(shape=None, dtype=None, zero_dim=None)
