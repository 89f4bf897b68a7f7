"""`torch.device`, `torch.dtype` and `torch.Size` as values."""

from __future__ import annotations

from collections.abc import Callable

from device_lens.domain.device import (
    ANY_INDEX,
    UNKNOWN_DEVICE,
    Device,
    DeviceTree,
    SymbolicDevice,
)
from device_lens.domain.guard import combine, leaves
from device_lens.domain.values import NONE, Const, DeviceValue, DtypeValue, TupleValue, Unknown
from device_lens.models import dtypes
from device_lens.models.call import Call, Model, Value, constant, device_of, is_none
from device_lens.models.numbers import sequence
from device_lens.models.registry import ATTRIBUTES, FUNCTIONS


def device(call: Call) -> Value:
    """`torch.device("cuda:1")`, `torch.device("cuda", 1)`, `torch.device(1)`, and keywords."""
    kind = call.get(0, "type", call.kwargs.get("device"))
    index = call.get(1, "index")
    if kind is None or not call.complete:
        return DeviceValue(UNKNOWN_DEVICE)
    found = device_of(kind)
    if found is None:
        return DeviceValue(UNKNOWN_DEVICE)
    if is_none(index):
        return DeviceValue(found, _placed(kind))
    return DeviceValue(combine(_numbered, found, index), placed=False)


def _placed(kind: Value) -> bool | None:
    """A device that is made of another one is that one; one that is made of a text is a name."""
    if type(kind) is DeviceValue:
        return kind.placed
    return False if all(type(leaf) is Const for leaf in leaves(kind)) else None


def _numbered(base: DeviceTree, index: Value) -> DeviceTree:
    """The device of a type and an ordinal."""
    if not isinstance(base, Device):
        return UNKNOWN_DEVICE
    if is_none(index):
        return base
    number = constant(index)
    return Device(base.type, number if type(number) is int and number >= 0 else ANY_INDEX)


def device_type(call: Call) -> Value:
    """`device.type`: a tree of strings; unknown where the device is."""
    return _per_leaf(call, lambda found: Const(found.type))


def device_index(call: Call) -> Value:
    """`device.index`: a number, or None where a name leaves it open. The current device, where a
    tensor is, is 0: what changes it is resolved where the tensor is made."""
    placed = getattr(call.receiver, "placed", None)

    def index(found: Device) -> Value:
        if found.index is None and (placed is False or found.type == "cpu"):
            return NONE
        if found.index is None and placed:
            return Const(0)
        known = found.index not in (None, ANY_INDEX)
        return Const(found.index) if known else Unknown("index")

    return _per_leaf(call, index)


def _per_leaf(call: Call, read: Callable[[Device], Value]) -> Value:
    value = call.receiver
    if type(value) is not DeviceValue:
        return call.unknown()

    def leaf(found: DeviceTree) -> Value:
        if isinstance(found, Device):
            return read(found)
        label = found.label if isinstance(found, SymbolicDevice) else ""
        return Unknown(f"{label}.device.type" if label else "")

    return combine(leaf, value.device)


def size(call: Call) -> Value:
    """`torch.Size((2, 3))`: a tuple."""
    items = sequence(call.get(0, "size")) if call.args else ()
    return call.unknown() if items is None else TupleValue(items)


def _dtype(name: str) -> Model:
    value = DtypeValue(name)
    return lambda call: value


def register_all() -> None:
    FUNCTIONS["torch.device"] = device
    FUNCTIONS["torch.Size"] = size
    ATTRIBUTES["torch.device.type"] = device_type
    ATTRIBUTES["torch.device.index"] = device_index
    for name in dtypes.NAMES:
        ATTRIBUTES[f"torch.{name}"] = _dtype(name)
    for alias, name in dtypes.ALIASES.items():
        ATTRIBUTES[f"torch.{alias}"] = _dtype(name)
