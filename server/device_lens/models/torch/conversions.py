"""What the arguments of `Module.to` and its relatives name."""

from __future__ import annotations

from typing import NamedTuple

from device_lens.domain.device import UNKNOWN_DEVICE, DeviceTree, parse_device, widen_device
from device_lens.domain.guard import Guarded, combine, leaves
from device_lens.domain.values import Const, DtypeValue, Tensor, Unknown
from device_lens.models import dtypes
from device_lens.models.call import Call, Value, is_none
from device_lens.models.torch.target import asked, present
from device_lens.models.torch.transfers import is_called_dtype, requested


class Target(NamedTuple):
    """Where to, and as what; None: unchanged."""

    device: DeviceTree | None
    dtype: str | None


def to_target(call: Call) -> Target:
    """The target of `module.to(...)`: a device, a dtype, both, or another tensor's."""
    wish = requested(call, call.args)
    return Target(wish.device, wish.dtype)


def device_argument(call: Call, position: int = 0, name: str = "device") -> DeviceTree | None:
    """A device-like argument, with the current device in place of `cuda`; None where it is left
    out or None."""
    value = call.get(position, name)
    if is_none(value):
        return None
    if type(value) is Tensor:
        return value.device
    return asked(call.services, value, call.services.default_device())


def type_target(call: Call) -> Target:
    """The target of `x.type(...)`: a dtype, or a legacy name such as `torch.cuda.FloatTensor`."""
    value = call.get(0, "dst_type")
    if type(value) is not Guarded:
        return _of_type(call, value)
    found = [_of_type(call, leaf) for leaf in leaves(value)]
    if all(target.device is None for target in found):
        device = None
    else:
        tree = combine(lambda leaf: _of_type(call, leaf).device or UNKNOWN_DEVICE, value)
        device = widen_device(tree)
    dtypes_found = {target.dtype for target in found}
    return Target(device, dtypes_found.pop() if len(dtypes_found) == 1 else None)


def _of_type(call: Call, value: Value) -> Target:
    if type(value) is Unknown:
        return Target(None if is_called_dtype(value) else UNKNOWN_DEVICE, None)
    if type(value) is DtypeValue:
        return Target(None, value.name)
    name = getattr(value, "name", None) or (value.value if type(value) is Const else None)
    if not isinstance(name, str):
        return Target(None, None)
    parts = name.split(".")
    dtype = dtypes.TENSOR_TYPES.get(parts[-1])
    if dtype is None:
        return Target(None, None)
    device = parse_device(parts[1]) if len(parts) == 3 else parse_device("cpu")
    return Target(None if device is None else present(call.services, device), dtype)
