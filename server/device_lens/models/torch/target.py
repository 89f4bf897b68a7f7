"""Where a `device` argument puts a tensor."""

from __future__ import annotations

from typing import Any

from device_lens.domain.device import (
    ANY_INDEX,
    CPU,
    UNKNOWN_DEVICE,
    Device,
    DeviceTree,
    widen_device,
)
from device_lens.domain.guard import Guarded, combine
from device_lens.domain.values import DeviceValue, Unknown
from device_lens.models.call import Call, Services, Value, device_of, is_none
from device_lens.models.dtypes import named
from device_lens.models.signature import Bound
from device_lens.models.torch.availability import assumed_accelerator, availability

CURRENT_CUDA = Device("cuda")
_SOME_CUDA = DeviceValue(Device("cuda", ANY_INDEX))


def present(services: Services, device: DeviceTree) -> DeviceTree:
    """`device` with `cuda` resolved to what it means now."""
    current = services.current_cuda()
    if current is CURRENT_CUDA:
        return device
    result: DeviceTree = combine(
        lambda found, now: now if found is CURRENT_CUDA else found, device, current
    )
    return widen_device(result)


def accelerator_or_host(services: Services, gpu: Device = CURRENT_CUDA) -> DeviceTree:
    """The accelerator that is there, `gpu` where that is one, else the host."""
    kind = assumed_accelerator(services)
    there = present(services, gpu) if kind == "cuda" else Device(kind)
    return Guarded(availability(kind, kind), there, CPU)


def asked(services: Services, value: Value, default: DeviceTree) -> DeviceTree:
    """The device that a `device=` argument asks for; `default` where it is left out or None."""
    if is_none(value):
        return default
    if type(value) is DeviceValue and value.placed:
        return value.device  # that of a tensor is the same whichever GPU is the current one now
    if isinstance(value, Guarded) and not isinstance(default, Guarded):
        tree: DeviceTree = combine(lambda leaf: _leaf(leaf, default), value)
        return present(services, tree)
    found = device_of(value)
    return UNKNOWN_DEVICE if found is None else present(services, found)


def some_cuda(value: Value) -> Value:
    """The argument of `cuda()`: one of which nothing is known is a CUDA device of some number."""
    return combine(lambda leaf: _SOME_CUDA if type(leaf) is Unknown else leaf, value)


def _leaf(leaf: Any, default: DeviceTree) -> DeviceTree:
    if is_none(leaf):
        return default
    found = device_of(leaf)
    return UNKNOWN_DEVICE if found is None else found


def factory_device(bound: Bound, by_keyword: bool = False) -> tuple[DeviceTree, bool]:
    """Where a factory creates, and whether that is by default. `by_keyword` tells that nothing but
    `device=` decides: further positions are sizes."""
    call = bound.call
    value = bound.get("device")
    if is_none(value):
        if not (call.named_complete if by_keyword else call.complete):
            return UNKNOWN_DEVICE, False
        return call.services.default_device(), True
    return asked(call.services, value, call.services.default_device()), False


def is_dtype(value: Value) -> bool:
    return named(value) is not None


def incomplete(call: Call) -> bool:
    """Whether arguments may be there that were not seen."""
    return not call.complete
