"""What processes hand each other: objects of any kind, which are pickled, and tensors through which
a backward pass goes.

A pickled tensor is where it was, so that one of another process may be on another GPU.
"""

from __future__ import annotations

from typing import Any

from device_lens.domain.device import ANY_INDEX, UNKNOWN_DEVICE, Device, DeviceTree
from device_lens.domain.guard import combine, leaves
from device_lens.domain.heap import DictObject, ListObject, contents
from device_lens.domain.join import join_all
from device_lens.domain.perhaps_none import without_none
from device_lens.domain.values import NONE, Tensor, TupleValue, Unknown
from device_lens.models.call import Call, Model, Value, tensor_of
from device_lens.models.registry import ALIASES, FUNCTIONS
from device_lens.models.torch.collectives import NAMESPACE

_DEEPEST = 3


def _of_any_process(value: Value, deepest: int = _DEEPEST) -> Value:
    """What another process has where this one has a value."""
    tensor = tensor_of(value)
    if tensor is not None:
        device = combine(_in_any_process, tensor.device)
        return tensor.with_(device=device, shape=None, zero_dim=tensor.zero_dim, trail=None)
    if not deepest:
        return Unknown()
    if type(value) is TupleValue:
        return TupleValue(tuple(_of_any_process(each, deepest - 1) for each in value.items))
    if type(value) is ListObject:
        held = [_of_any_process(each, deepest - 1) for each in contents(value)]
        item = join_all(held or [Unknown()])
        return ListObject((), item, value.kind, value.site)
    if type(value) is DictObject and value.rest is None:
        return _dict_of_any_process(value, deepest)
    return Unknown()


def _in_any_process(device: Any) -> DeviceTree:
    """A device of another process: what has no number is another GPU there."""
    if not isinstance(device, Device):
        return UNKNOWN_DEVICE
    return Device("cuda", ANY_INDEX) if device.type == "cuda" and device.index is None else device


def _dict_of_any_process(value: DictObject, deepest: int) -> Value:
    """A dict with the same names; other keys may hang on the process."""
    if not all(isinstance(key, str) for key in value.entries):
        return Unknown()
    entries = {key: _of_any_process(each, deepest - 1) for key, each in value.entries.items()}
    return DictObject(entries, None, value.site)


def _fill(call: Call, receiver: Value, change: Any) -> None:
    """Puts something in place of each item of a list."""
    for leaf in leaves(receiver):
        if type(leaf) is ListObject:
            call.write(leaf.fields, "items", tuple(map(change, leaf.items)))
            if leaf.rest is not None:
                call.write(leaf.fields, "rest", change(leaf.rest))


def _all_gather_object(call: Call) -> Value:
    _fill(call, call.get(0, "object_list"), lambda _: _of_any_process(call.get(1, "obj", NONE)))
    return NONE


def _gather_object(call: Call) -> Value:
    given = call.get(1, "object_gather_list", NONE)
    _fill(call, given, lambda _: _of_any_process(call.get(0, "obj", NONE)))
    return NONE


def _scatter_object_list(call: Call) -> Value:
    found = [
        each
        for leaf in leaves(call.get(1, "scatter_object_input_list", NONE))
        if type(leaf) is ListObject
        for each in contents(leaf)
    ]
    item = _of_any_process(join_all(found) if found else NONE)
    _fill(call, call.get(0, "scatter_object_output_list"), lambda _: item)
    return NONE


def _broadcast_object_list(call: Call) -> Value:
    """The items are those of one process; None stands where others are to have them."""
    given = [leaf for leaf in leaves(call.get(0, "object_list")) if type(leaf) is ListObject]
    for leaf in given:
        items = zip(*(each.items for each in given), strict=False)
        sent = [_sent(item, row) for item, row in zip(leaf.items, items, strict=False)]
        call.write(leaf.fields, "items", (*sent, *(Unknown() for _ in leaf.items[len(sent) :])))
        if leaf.rest is not None:
            call.write(leaf.fields, "rest", _sent(leaf.rest, ()))
    return NONE


def _sent(value: Value, row: tuple[Value, ...]) -> Value:
    """What a process has after it, that had a value, beside those of the others."""
    known = without_none(value)
    if known != NONE:
        return known
    others = [each for each in map(without_none, row) if each != NONE]
    return join_all([*map(_of_any_process, others)]) if others else Unknown()


def _like(position: int, name: str, several: bool = False) -> Model:
    """A tensor, or one of each process in a tuple, beside the one that is given."""

    def model(call: Call) -> Value:
        tensor = tensor_of(call.get(position, name))
        if tensor is None:
            return call.unknown()
        tensor = tensor.with_(requires_grad=None, leaf=None)
        return ListObject((), tensor, "tuple", call.site.node) if several else tensor

    return model


def _of_many(position: int, name: str) -> Model:
    """A tensor beside any of those that are given in a list."""

    def model(call: Call) -> Value:
        items, rest = call.services.iterate(call.get(position, name, NONE))
        found = [tensor_of(each) for each in (*items, rest) if each is not None]
        held = [each for each in found if type(each) is Tensor]
        if not held or len(held) < len(found):
            return call.unknown()
        joined = join_all(held)
        return joined.with_(requires_grad=None, leaf=None) if type(joined) is Tensor else joined

    return model


_OBJECTS: dict[str, Model] = {
    "all_gather_object": _all_gather_object,
    "gather_object": _gather_object,
    "scatter_object_list": _scatter_object_list,
    "broadcast_object_list": _broadcast_object_list,
}
_DIFFERENTIABLE: dict[str, Model] = {
    "all_gather": _like(0, "tensor", several=True),
    "gather": _like(0, "tensor", several=True),
    "all_reduce": _like(0, "tensor"),
    "reduce": _like(0, "tensor"),
    "broadcast": _like(0, "tensor"),
    "reduce_scatter": _like(0, "output"),
    "all_to_all_single": _like(0, "output"),
    "scatter": _of_many(0, "tensors"),
}


def register_all() -> None:
    for name, model in _OBJECTS.items():
        FUNCTIONS[f"{NAMESPACE}.{name}"] = model
    for name, model in _DIFFERENTIABLE.items():
        FUNCTIONS[f"{NAMESPACE}.nn.functional.{name}"] = model
        ALIASES[f"{NAMESPACE}.nn.{name}"] = f"{NAMESPACE}.nn.functional.{name}"
