"""Devices, dtypes and parameters as keys of dicts, and texts that name a device: `cache[x.device]`,
`cache[f"{n}@{x.device}"]`, `state[parameter]`."""

from __future__ import annotations

from typing import Any

from device_lens.domain.device import ANY_INDEX, CPU, Device
from device_lens.domain.guard import Guarded, combine, depth
from device_lens.domain.heap import MISSING, Instance, Parameter
from device_lens.domain.join import MAX_VALUE_DEPTH
from device_lens.domain.values import Const, DeviceValue, DtypeValue, External, TupleValue, Unknown

_AS_KEY = "<as a key>"
"""Under this a text that is not known to its last digit has the one that it is as a key."""


def torch_key(value: Any) -> Any:
    """The key that a device, dtype, parameter or the name of a device is; `MISSING` for what may be
    one of several, and for other values."""
    if type(value) is Unknown:
        return MISSING if value.fields is None else value.fields.get(_AS_KEY, MISSING)
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


def value_of(key: Any) -> Any:
    """The value behind the Python key of a dict."""
    if isinstance(key, tuple):
        return TupleValue(tuple(map(value_of, key)))
    is_value = isinstance(key, External | Instance | Parameter | DeviceValue | DtypeValue)
    return key if is_value else Const(key)


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


def named_for(value: Unknown, device: Device) -> Unknown:
    """The name of a tensor's device, which leaves its number open, as the key that the device is:
    all texts in which it stands have the same number."""
    key = _of_device(device, True)
    if key is not MISSING:
        value.parts()[_AS_KEY] = str(key.device)
    return value


def put_together(value: Unknown, parts: tuple[Any, ...]) -> Unknown:
    """A text that is put together of others, as the key that it is if each of these is known."""
    known = [_letters(part) for part in parts]
    if not all(type(each) is str for each in known):
        return value
    found = Unknown(value.label)
    found.fields = {**(value.fields or {}), _AS_KEY: "".join(map(str, known))}
    return found


def _letters(part: Any) -> Any:
    return str(part.value) if type(part) is Const else torch_key(part)
