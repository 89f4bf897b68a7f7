"""What `default_collate` makes of one item, seen as any item of a batch."""

from __future__ import annotations

from math import inf
from typing import Any

from device_lens.domain.device import CPU, UNKNOWN_DEVICE, is_unknown
from device_lens.domain.guard import Guarded, combine
from device_lens.domain.heap import DictObject, ListObject, Parameter
from device_lens.domain.values import Const, HostArray, Tensor, TupleValue, Unknown
from device_lens.models.call import Call, Value
from device_lens.models.numbers import is_number, is_text
from device_lens.models.torch.moving_code import OF_MOVING_CODE

_NUMBERS = {bool: "bool", int: "int64", float: "float64"}


def collate(call: Call, item: Value, size: int | None) -> Value:
    """A batch of `size` items like `item`. Numbers become a tensor, strings stay strings, tuples
    become lists of batches, and what is not known is on the host if it is a tensor at all."""
    return _rebuild(call, item, lambda leaf: _batched(call, leaf, size), plain=True)


def convert(call: Call, item: Value) -> Value:
    """What a loader makes of an item that it does not batch: arrays become tensors."""
    return _rebuild(call, item, lambda leaf: _converted(call, leaf), plain=False)


def pin(batch: Value) -> Value:
    """The batch in page-locked memory: what is on the host stays there."""
    return map_tensors(batch, _pinned)


def given_out(item: Value) -> Value:
    """An item of a data set as its loader takes it; what has identity is the program's own."""
    if type(item) is Guarded:
        return combine(given_out, item)
    if type(item) is TupleValue:
        items = tuple(map(given_out, item.items))
        same = all(each is before for each, before in zip(items, item.items, strict=True))
        return item if same else TupleValue(items, item.names)
    if type(item) is Tensor and item.trail is not None:
        return item.with_(trail=item.trail.given_out())
    return item


def _rebuild(call: Call, item: Value, leaf: Any, plain: bool) -> Value:
    if type(item) is Guarded:
        return combine(lambda found: _rebuild(call, found, leaf, plain), item)
    if type(item) is TupleValue:
        parts = tuple(_rebuild(call, part, leaf, plain) for part in item.items)
        if item.names or not plain:
            return TupleValue(parts, item.names)
        return ListObject(parts, None, "list", call.site.node)
    if type(item) is ListObject:
        parts = tuple(_rebuild(call, part, leaf, plain) for part in item.items)
        rest = None if item.rest is None else _rebuild(call, item.rest, leaf, plain)
        return ListObject(parts, rest, "list", call.site.node)
    if type(item) is DictObject:
        entries = {key: _rebuild(call, part, leaf, plain) for key, part in item.entries.items()}
        rest = None if item.rest is None else _rebuild(call, item.rest, leaf, plain)
        return DictObject(entries, rest, call.site.node)
    return leaf(item)


def _batched(call: Call, item: Value, size: int | None) -> Value:
    kind = type(item)
    if kind is Parameter:
        item, kind = item.tensor, Tensor
    if kind is Tensor:
        shape = None if item.shape is None else (size, *item.shape)
        return given_out(item.with_(shape=shape, zero_dim=False, pinned=False))
    if kind is HostArray:
        shape = None if item.shape is None else (size, *item.shape)
        return _made(call, item.dtype, shape)
    if kind is Const and type(item.value) in _NUMBERS:
        return _made(call, _NUMBERS[type(item.value)], (size,))
    if kind is Const and isinstance(item.value, (str, bytes)):
        return ListObject((), item, "list", call.site.node)
    if is_number(item):
        return _made(call, None, (size,))
    if is_text(item):
        return ListObject((), item, "list", call.site.node)
    return _presumed(call, item)


def _converted(call: Call, item: Value) -> Value:
    if type(item) is HostArray:
        return _made(call, item.dtype, item.shape, item.zero_dim)
    return item if type(item) in (Tensor, Parameter, Const) else _presumed(call, item)


def _made(call: Call, dtype: str | None, shape: Any, zero_dim: bool | None = False) -> Tensor:
    trail = call.trail("created", "is collated by the data loader")
    return Tensor(call.services.default_device(), dtype, shape, trail, zero_dim=zero_dim)


def _presumed(call: Call, item: Value) -> Value:
    """Items that are not known: on the host, where datasets keep them, unless numbers and arrays
    become tensors elsewhere."""
    device = CPU if call.services.default_device() is CPU else UNKNOWN_DEVICE
    if type(item) is Unknown and item.label == OF_MOVING_CODE:
        return item
    if type(item) is Unknown:
        known = not is_unknown(item.device)
        return item if known else Unknown(item.label or "a batch", device)
    return Unknown("a batch", device)


def map_tensors(value: Value, leaf: Any, deepest: float = inf) -> Value:
    """`value` with every part that is no container replaced by what `leaf` makes of it, in new
    containers; so is what lies `deepest` levels down."""

    def inner(part: Value) -> Value:
        return map_tensors(part, leaf, deepest - 1)

    if type(value) is Guarded:
        return combine(lambda found: map_tensors(found, leaf, deepest), value)
    if deepest <= 0:
        return leaf(value)
    if type(value) is TupleValue:
        return TupleValue(tuple(map(inner, value.items)), value.names)
    if type(value) is ListObject:
        rest = None if value.rest is None else inner(value.rest)
        return ListObject(tuple(map(inner, value.items)), rest, value.kind, value.site)
    if type(value) is DictObject:
        made = DictObject(site=value.site)
        made.kind = value.kind
        made.entries.update({key: inner(part) for key, part in value.entries.items()})
        made.fields.update(value.fields)
        made.fields["rest"] = None if value.rest is None else inner(value.rest)
        return made
    return leaf(value)


def _pinned(value: Value) -> Value:
    if type(value) is Tensor and value.device is CPU:
        return value.with_(pinned=True)
    return value
