"""Making modules inside models: those that a module's constructor makes, and opaque ones."""

from __future__ import annotations

from typing import Any

from device_lens.domain.device import DeviceTree
from device_lens.domain.heap import ModuleObject
from device_lens.domain.values import TRUE, Const, External
from device_lens.models import registry, wording
from device_lens.models.call import Call, Value


def construct(call: Call, name: str, *args: Value, **kwargs: Value) -> ModuleObject:
    """An instance of the module class `name`, as `name(*args, **kwargs)` makes it. Python numbers
    may stand for constants."""
    module = ModuleObject(External(name), call.site.node)
    module.fields["training"] = TRUE
    model = registry.module(name)
    if model is not None:
        wrapped = tuple(as_value(value) for value in args)
        named = {key: as_value(value) for key, value in kwargs.items() if value is not None}
        model.initialise(Call(name, None, wrapped, named, call.site, call.services), module)
    return module


def as_value(value: Any) -> Value:
    """A Python constant as a value; values stay."""
    return Const(value) if value is None or isinstance(value, (bool, int, float, str)) else value


def place_of(call: Call) -> dict[str, Value]:
    """The `device` and `dtype` that a constructor hands on to the modules that it makes."""
    return {name: call.kwargs[name] for name in ("device", "dtype") if name in call.kwargs}


def opaque(
    call: Call, class_name: str, device: DeviceTree, dtype: str | None = None
) -> ModuleObject:
    """A module of which only the device is known."""
    module = ModuleObject(External(class_name), call.site.node)
    make_opaque(call, module, device, dtype)
    return module


def make_opaque(
    call: Call, module: ModuleObject, device: DeviceTree, dtype: str | None = None
) -> None:
    """Tells that the module has parts that are not listed, and where they are."""
    call.write(module.fields, "training", TRUE)
    call.write(module.own, "opaque", True)
    call.write(module.own, "device", device)
    call.write(module.own, "dtype", dtype)
    trail = call.trail("created", wording.created(call.name, device))
    call.write(module.own, "trail", trail)
