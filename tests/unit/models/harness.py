"""Calls models of functions and methods without the interpreter."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "server" / "tools"))

from model_check.recorder import SITE, Recorder, run_model

from device_lens.domain.device import Device, DeviceTree
from device_lens.domain.heap import ListObject
from device_lens.domain.values import (
    NONE,
    Const,
    DeviceValue,
    DtypeValue,
    SliceValue,
    Tensor,
    TupleValue,
)
from device_lens.models import registry
from device_lens.models.call import Call

CUDA = Device("cuda", 0)
CUDA1 = Device("cuda", 1)


def value(thing: Any) -> Any:
    """The abstract value of a Python constant, list, tuple or slice; other values as they are."""
    if thing is None:
        return NONE
    if isinstance(thing, (bool, int, float, complex, str, bytes)) or thing is Ellipsis:
        return Const(thing)
    if isinstance(thing, tuple):
        return TupleValue(tuple(map(value, thing)))
    if isinstance(thing, list):
        return ListObject(tuple(map(value, thing)))
    if isinstance(thing, slice):
        return SliceValue(value(thing.start), value(thing.stop), value(thing.step))
    if isinstance(thing, Device):
        return DeviceValue(thing)
    return thing


def dtype(name: str) -> DtypeValue:
    return DtypeValue(name)


def on(device: DeviceTree, *shape: int, dtype: str = "float32", **more: Any) -> Tensor:
    """A tensor there, of that shape."""
    return Tensor(device, dtype, shape, **more)


def call(
    name: str,
    *args: Any,
    services: Recorder | None = None,
    complete: bool = True,
    **kwargs: Any,
) -> Any:
    """What the model of `name` gives back; of a method, the first argument is the receiver."""
    keywords = {key: value(item) for key, item in kwargs.items()}
    values = tuple(map(value, args))
    return run_model(name, values, keywords, services or Recorder(), complete)


def conflicts(name: str, *args: Any, **kwargs: Any) -> list[tuple[Any, ...]]:
    """The conflicts that a call reports: operation, the two operands with their places, the case,
    and whether the host is wanted."""
    services = Recorder()
    call(name, *args, services=services, **kwargs)
    return services.conflicts


def waits(name: str, *args: Any, **kwargs: Any) -> list[str]:
    """What a call says to wait for the device."""
    services = Recorder()
    call(name, *args, services=services, **kwargs)
    return services.waits


def read(receiver: Any, name: str) -> Any:
    """The attribute of a tensor or another library value, by qualified name."""
    model = registry.attribute(name)
    assert model is not None, f"no attribute {name}"
    return model(Call(name, receiver, (), {}, SITE, Recorder()))
