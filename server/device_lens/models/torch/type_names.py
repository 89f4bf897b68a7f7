"""`x.type()`, the name of a tensor's type: `torch.cuda.FloatTensor`. It tells the kind of device
and the dtype, and no number of a GPU (`torch/csrc/utils/tensor_types.cpp`)."""

from __future__ import annotations

from typing import Any

from device_lens.domain.device import CPU, Device, DeviceTree, SymbolicDevice, is_unknown
from device_lens.domain.guard import Guarded, combine, undecided
from device_lens.domain.values import TRUE, Const, Tensor, Unknown
from device_lens.models import dtypes
from device_lens.models.call import Value
from device_lens.models.numbers import text

_MARK = "<type name>"


def type_name(tensor: Tensor | None) -> Unknown:
    """What `.type()` tells of a tensor: a text whose `device` is that of the tensor."""
    found = text()
    if tensor is not None:
        found.device = tensor.device
        found.parts()[_MARK] = TRUE
    return found


def equal_types(left: Value, right: Value) -> Any:
    """The condition under which two names of types are equal, or a name and a text; None where
    this is no such comparison."""
    if not (_is_name(left) or _is_name(right)):
        return None
    here, there = device_named(left), device_named(right)
    return None if here is None or there is None else combine(_alike, here, there)


def _is_name(value: Value) -> bool:
    return type(value) is Unknown and value.fields is not None and _MARK in value.fields


def device_named(value: Value) -> DeviceTree | None:
    """The device that a value names with the type of a tensor, of which only the kind counts; None
    where it names no type."""
    if type(value) is Const and isinstance(value.value, str):
        module, _, kind = value.value.rpartition(".")
        if kind not in dtypes.TENSOR_TYPES or not module.startswith("torch"):
            return None
        return Device("cuda") if module == "torch.cuda" else CPU
    return value.device if _is_name(value) else None


def _alike(here: Any, there: Any) -> Any:
    """Whether devices are of one kind; then the dtypes decide."""
    if is_unknown(here) or is_unknown(there):
        return undecided()
    if isinstance(here, Device) and isinstance(there, Device):
        return undecided() if here.type == there.type else False
    if here is there:
        return undecided()
    symbol, other = (here, there) if isinstance(here, SymbolicDevice) else (there, here)
    atom = symbol.is_at(other) if isinstance(other, SymbolicDevice) else symbol.is_of(other.type)
    return Guarded(atom, undecided(), False)


def names_kind(part: Value, name: Value) -> tuple[str, DeviceTree] | None:
    """The kind and the device of `"cuda" in x.type()`; None of any other test."""
    asked = part.value if type(part) is Const else None
    known = _is_name(name) and isinstance(asked, str) and asked.strip(".") == "cuda"
    return ("cuda", name.device) if known else None
