"""The abstract value of a concrete one, and whether an abstract value is true of a concrete one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import torch

from device_lens.domain.device import Device
from device_lens.domain.heap import DictObject, ListObject, Parameter
from device_lens.domain.values import (
    Const,
    DeviceValue,
    DtypeValue,
    HostArray,
    SliceValue,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.models.call import tensor_of


def device(concrete: torch.device) -> Device:
    return Device(concrete.type, concrete.index)


def tensor(concrete: torch.Tensor, shapes: bool = True) -> Tensor:
    """What an ideal analysis knows of a tensor; without `shapes`, neither shape nor dtype nor
    whether there are dimensions."""
    if not shapes:
        return Tensor(device(concrete.device), requires_grad=None, leaf=None)
    return Tensor(
        device(concrete.device),
        str(concrete.dtype).removeprefix("torch."),
        tuple(concrete.shape),
        requires_grad=concrete.requires_grad,
        leaf=concrete.is_leaf,
    )


def value(
    concrete: Any, shapes: bool = True, replaced: Mapping[int, Any] = MappingProxyType({})
) -> Any:
    """The abstract value of anything; `replaced` gives other values for some objects, by id."""
    if id(concrete) in replaced:
        return replaced[id(concrete)]
    if isinstance(concrete, torch.nn.Parameter):
        return Parameter(tensor(concrete, shapes))
    if isinstance(concrete, torch.Tensor):
        return tensor(concrete, shapes)
    if concrete is None or isinstance(concrete, (bool, int, float, complex, str, type(...))):
        return Const(concrete)
    if isinstance(concrete, torch.dtype):
        return DtypeValue(str(concrete).removeprefix("torch."))
    if isinstance(concrete, torch.device):
        return DeviceValue(device(concrete))
    if isinstance(concrete, tuple):
        return TupleValue(tuple(value(item, shapes, replaced) for item in concrete))
    if isinstance(concrete, list):
        return ListObject(tuple(value(item, shapes, replaced) for item in concrete))
    if isinstance(concrete, dict):
        return DictObject({key: value(item, shapes, replaced) for key, item in concrete.items()})
    if isinstance(concrete, slice):
        parts = (concrete.start, concrete.stop, concrete.step)
        return SliceValue(*(value(part, shapes, replaced) for part in parts))
    if isinstance(concrete, np.ndarray):
        return HostArray(str(concrete.dtype), tuple(concrete.shape))
    return Unknown(type(concrete).__name__)


def differences(abstract: Any, concrete: Any, where: str = "result") -> Iterator[str]:
    """What the abstract value says that is not so of the concrete one. The text starts with
    `device`, `shape`, `dtype`, `gradient`, `kind` or `length`; `unknown` tells that the model does
    not say where a tensor is."""
    if isinstance(concrete, torch.Tensor):
        yield from _tensor_differences(abstract, concrete, where)
    elif isinstance(concrete, (tuple, list)) and any(_holds_tensor(item) for item in concrete):
        yield from _sequence_differences(abstract, concrete, where)
    elif type(abstract) is Tensor:
        yield f"kind: {where} is no tensor but {type(concrete).__name__}"
    elif _says_other(abstract, concrete):
        yield f"kind: {where} is {concrete!r}, not {abstract.value!r}"


def _says_other(abstract: Any, concrete: Any) -> bool:
    """Whether the abstract value is a constant, and another one."""
    known = type(abstract) is Const and type(concrete) in (bool, int, float)
    return known and bool(abstract.value != concrete)


def _holds_tensor(item: Any) -> bool:
    if isinstance(item, (tuple, list)):
        return any(map(_holds_tensor, item))
    return isinstance(item, torch.Tensor)


def _sequence_differences(abstract: Any, concrete: Any, where: str) -> Iterator[str]:
    if isinstance(abstract, TupleValue):
        if len(abstract.items) != len(concrete):
            yield f"length: {where} has {len(concrete)} items, not {len(abstract.items)}"
            return
        for position, (item, other) in enumerate(zip(abstract.items, concrete, strict=True)):
            yield from differences(item, other, f"{where}[{position}]")
    elif isinstance(abstract, ListObject):
        for position, other in enumerate(concrete):
            found = abstract.items[position] if position < len(abstract.items) else abstract.rest
            yield from differences(found, other, f"{where}[{position}]")
    elif isinstance(abstract, Unknown):
        yield f"unknown: {where}"
    else:
        yield f"kind: {where} is a sequence, not {abstract!r}"


def _tensor_differences(abstract: Any, concrete: torch.Tensor, where: str) -> Iterator[str]:
    found = tensor_of(abstract)
    if found is None or type(abstract) is Unknown:
        is_kind = isinstance(abstract, (Unknown, type(None)))
        yield f"unknown: {where}" if is_kind else f"kind: {where} is a tensor, not {abstract!r}"
        return
    real = tensor(concrete)
    if not isinstance(found.device, Device):
        yield f"unknown: {where}"
    elif not _same_device(found.device, real.device):
        yield f"device: {where} is on {real.device}, not on {found.device}"
    if found.dtype not in (None, real.dtype):
        yield f"dtype: {where} is {real.dtype}, not {found.dtype}"
    if not _same_shape(found.shape, real.shape):
        yield f"shape: {where} is {real.shape}, not {found.shape}"
    if found.zero_dim not in (None, real.zero_dim):
        yield f"shape: {where} has {len(real.shape or ())} dimensions"
    if found.requires_grad not in (None, real.requires_grad):
        yield f"gradient: {where} has requires_grad={real.requires_grad}"
    if found.leaf not in (None, real.leaf):
        yield f"gradient: {where} has is_leaf={real.leaf}"


def _same_device(left: Any, right: Any) -> bool:
    return left.type == right.type and (left.index or 0) == (right.index or 0)


def _same_shape(found: Any, real: Any) -> bool:
    if found is None:
        return True
    pairs = zip(found, real, strict=False)
    return len(found) == len(real) and all(a in (None, b) for a, b in pairs)
