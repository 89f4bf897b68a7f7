"""Devices, dtypes and parameters as keys of dicts: `cache[x.device]`, `state[parameter]`."""

from __future__ import annotations

from typing import Any

from device_lens.domain.device import ANY_INDEX, CPU, Device
from device_lens.domain.guard import Guarded, combine, depth
from device_lens.domain.heap import MISSING, Parameter
from device_lens.domain.join import MAX_VALUE_DEPTH
from device_lens.domain.values import DeviceValue, DtypeValue, TupleValue


def torch_key(value: Any) -> Any:
    """The key that a device, dtype or parameter is; `MISSING` for what may be one of several, and
    for other values."""
    if type(value) is DeviceValue:
        return _of_device(value.device, value.placed)
    if type(value) is DtypeValue and value.name is not None:
        return value
    if type(value) is Parameter and not value.among and value.many is None:
        return value
    return MISSING


def _of_device(device: Any, placed: bool | None) -> Any:
    """`torch.device("cuda")` is another key than that of a tensor there, which has a number: the
    first unless the program chose another."""
    if not isinstance(device, Device) or device.index == ANY_INDEX:
        return MISSING
    if device.index is not None or device is CPU:
        return DeviceValue(device)
    if placed is None:
        return MISSING
    return DeviceValue(Device(device.type, 0) if placed else device)


def told_apart(value: Any) -> Any:
    """A device that hangs on conditions, or a tuple with one, as the values of each case."""
    if type(value) is DeviceValue and type(value.device) is Guarded:
        return combine(lambda leaf: DeviceValue(leaf, value.placed), value.device)
    if type(value) is not TupleValue:
        return value
    parts = [told_apart(item) for item in value.items]
    if not any(type(part) is Guarded for part in parts) or sum(map(depth, parts)) > MAX_VALUE_DEPTH:
        return value
    return combine(lambda *items: TupleValue(items, value.names), *parts)
