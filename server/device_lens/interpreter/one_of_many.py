"""What may be any of many objects: what is read of it is what is read of all, where these agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.device import is_unknown
from device_lens.domain.guard import leaves
from device_lens.domain.heap import DictObject, Instance, ListObject, ModuleObject, Parameter
from device_lens.domain.join import join_all
from device_lens.domain.objects import any_one, one_of_these
from device_lens.domain.similarity import similar
from device_lens.domain.values import Const, External, Tensor, TupleValue, Unknown
from device_lens.models.call import tensor_of
from device_lens.models.torch import picked_parts
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
        return _placed(join_all(found), receiver, found)
    if all(value is found[0] for value in found) and isinstance(found[0], Instance):
        return found[0]
    return picked_parts.part_of(receiver, any_one(tuple(found), None))


def _placed(joined: Any, receiver: Unknown, found: list[Any]) -> Any:
    """A parameter of what a container has is where that is, as far as nothing tells."""
    tensor = tensor_of(joined)
    if tensor is None or Tensor in map(type, found) or not is_unknown(tensor.device):
        return joined
    return tensor.with_(device=picked_parts.home_of(receiver))


def item(receiver: Unknown, key: Any) -> Any:
    """A tensor that at least one of some dicts has under a key, where the others have containers
    there that tell nothing of it, as the empty lists of a batch without rows; Python's None for
    anything else."""
    held = one_of_these(receiver)
    if not held or not all(type(each) is DictObject and key in each.entries for each in held):
        return None
    values = [leaf for each in held for leaf in leaves(each.entries[key])]
    found = [one for value in values for one in one_of_these(value) or (value,)]
    tensors = [each for each in found if type(each) is Tensor]
    told = bool(tensors) and {*map(type, found)} <= _BESIDE_TENSORS
    return join_all(tensors) if told else None  # as of a tree, of which lists are dropped


_BESIDE_TENSORS = {Tensor, ListObject, TupleValue, Const}


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


_MOST_KINDS = 4


def one_of_each_kind(value: Any) -> tuple[ModuleObject, ...]:
    """Of several modules any of which a value is, some that stand for all: one where all are alike,
    one of each kind where a container has told where they are; none of anything else."""
    single = that_stands_for_all(value)
    if single is not None:
        return (single,)
    if is_unknown(picked_parts.home_of(value)):
        return ()
    found: list[ModuleObject] = []
    for each in one_of_these(value):
        if type(each) is not ModuleObject:
            return ()
        if not any(_are_of_a_kind(each, other) for other in found):
            found.append(each)
    return tuple(found) if len(found) <= _MOST_KINDS else ()


def _are_of_a_kind(left: ModuleObject, right: ModuleObject) -> bool:
    return left.cls == right.cls and (type(left.cls) is External or similar(left, right))


def without_sizes(value: Any) -> Any:
    """What one of several modules gives, of which each may give a tensor of another size."""
    tensor = tensor_of(value) if type(value) in _TENSORS else None
    if tensor is None:
        return Unknown()
    return tensor.with_(shape=None, dtype=None, zero_dim=None)
