"""An interpreter small enough to call models with: it invokes modules and Python functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from device_lens.domain.device import CPU, Device, DeviceTree
from device_lens.domain.guard import Guarded, combine
from device_lens.domain.heap import (
    DictObject,
    Instance,
    ListObject,
    ModuleObject,
)
from device_lens.domain.journal import Journal
from device_lens.domain.trail import Site
from device_lens.domain.values import (
    FALSE,
    NONE,
    TRUE,
    BoundExternal,
    Const,
    External,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.models import registry
from device_lens.models.call import Call
from device_lens.models.torch.module import get_attribute

CUDA = Device("cuda")
SITE = Site("test.py", None, None)


class FakeServices:
    """Records what models report."""

    def __init__(self) -> None:
        self.journal = Journal()
        self.conflicts: list[tuple[str, Any, Any]] = []
        self.synchronizations: list[str] = []
        self.host_reads: list[str] = []
        self.reported: list[Any] = []
        self.globals: dict[str, Any] = {
            "default_device": CPU,
            "default_type": CPU,
            "current_cuda": CUDA,
            "grad": True,
        }

    def default_device(self) -> DeviceTree:
        found: DeviceTree = self.globals["default_device"]
        return found

    def default_type_device(self) -> DeviceTree:
        found: DeviceTree = self.globals["default_type"]
        return found

    def may_be_left_out(self) -> bool:
        return False

    def is_called_unseen(self) -> bool:
        return False

    def current_cuda(self) -> DeviceTree:
        found: DeviceTree = self.globals["current_cuda"]
        return found

    def changed_in_place(self, old: Any, new: Any) -> None:
        """No name of a program holds the tensor."""

    def inference_mode(self) -> bool | None:
        return not self.globals["grad"]

    def gpus_hidden(self) -> Any:
        return Const(False)

    def gradients_cleared(self) -> bool:
        return False

    def set_global(self, name: str, value: Any) -> None:
        self.globals[name] = value

    def condition(self) -> Any:
        return True

    def took_no_tensor(self, position: int | str) -> None:
        pass

    def has_dimensions(self, position: int | str) -> None:
        pass

    def argument_site(self, position: int | str) -> Site | None:
        return SITE

    def conflict(
        self,
        operation: str,
        left: Any,
        right: Any,
        literals: Any,
        wants_cpu: bool = False,
    ) -> None:
        self.conflicts.append((operation, left[1], right[1]))

    def synchronize(self, what: str, subject: Any, position: Any) -> None:
        self.synchronizations.append(what)

    def host_read(
        self,
        what: str,
        value: Any,
        position: Any,
        nested: bool = False,
        container: str | None = None,
    ) -> None:
        self.host_reads.append(what)

    def report(self, fact: Any) -> None:
        self.reported.append(fact)

    def skip(self, reason: str) -> None:
        pass

    def truth(self, value: Any) -> Any:
        return combine(lambda leaf: bool(leaf.value) if type(leaf) is Const else True, value)

    def iterate(self, value: Any) -> tuple[tuple[Any, ...], Any]:
        if type(value) is ListObject:
            return value.items, value.rest
        if type(value) is TupleValue:
            return value.items, None
        if type(value) is DictObject:
            return tuple(Const(key) for key in value.entries), None
        if isinstance(value, Instance):
            return self.iterate(self.method(value, "__iter__"))
        return (), Unknown()

    def attribute(self, value: Any, name: str) -> Any:
        found: Any = None
        if isinstance(value, ModuleObject):
            found = get_attribute(self, value, name)
        elif isinstance(value, Instance):
            found = value.fields.get(name)
        if found is not None:
            return found
        model = self.find(value, name, registry.attribute)
        if model is not None:
            return model[1](Call(model[0], value, (), {}, SITE, self))
        model = self.find(value, name, registry.function)
        return BoundExternal(value, model[0]) if model is not None else Unknown(name)

    def find(self, value: Any, name: str, table: Callable[[str], Any]) -> Any:
        if not isinstance(value, Instance) or type(value.cls) is not External:
            return None
        owners = [value.cls.name, *registry.bases(value.cls.name)]
        if isinstance(value, ModuleObject):
            owners.append("torch.nn.Module")
        for owner in owners:
            model = table(f"{owner}.{name}")
            if model is not None:
                return f"{owner}.{name}", model
        return None

    def invoke(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if type(function) is Guarded:
            return combine(lambda leaf: self.invoke(leaf, args, kwargs), function)
        if type(function) is External:
            return call(self, function.name, *args, **kwargs)
        if type(function) is BoundExternal:
            return self.method(function.receiver, function.name.rpartition(".")[2], *args, **kwargs)
        if isinstance(function, ModuleObject):
            model = registry.module(function.cls.name)
            assert model is not None, function.cls.name
            return model.forward(Call(model.name, function, args, kwargs, SITE, self))
        if isinstance(function, Instance):
            return self.method(function, "__call__", *args, **kwargs)
        if callable(function):
            return function(*args, **kwargs)
        return Unknown()

    def method(self, receiver: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        found = self.find(receiver, name, registry.function)
        assert found is not None, (receiver, name)
        return found[1](Call(found[0], receiver, args, kwargs, SITE, self))


def value(thing: Any) -> Any:
    """A Python constant, tuple or list as an abstract value; values stay."""
    if thing is None:
        return NONE
    if thing is True or thing is False:
        return TRUE if thing else FALSE
    if isinstance(thing, (int, float, str)):
        return Const(thing)
    if type(thing) is tuple:
        return TupleValue(tuple(value(item) for item in thing))
    if type(thing) is list:
        return ListObject(tuple(value(item) for item in thing))
    if type(thing) is dict:
        return DictObject({key: value(item) for key, item in thing.items()})
    return thing


def call(services: FakeServices, name: str, *args: Any, **kwargs: Any) -> Any:
    """Calls a library function or constructor."""
    values = tuple(value(arg) for arg in args)
    named = {key: value(arg) for key, arg in kwargs.items()}
    model = registry.module(name)
    if model is not None:
        module = ModuleObject(External(name), SITE)
        model.initialise(Call(name, None, values, named, SITE, services), module)
        return module
    function = registry.function(name)
    assert function is not None, f"no model of {name}"
    return function(Call(name, None, values, named, SITE, services))


def run(services: FakeServices, receiver: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """Calls a method; `__call__` of a module is its forward."""
    values = tuple(value(arg) for arg in args)
    named = {key: value(arg) for key, arg in kwargs.items()}
    if name == "__call__" and isinstance(receiver, ModuleObject):
        return services.invoke(receiver, values, named)
    return services.method(receiver, name, *values, **named)


def tensor(device: Any = CPU, *shape: int, dtype: str = "float32", grad: bool = False) -> Tensor:
    """A tensor of that shape."""
    place = Device(device) if isinstance(device, str) else device
    return Tensor(place, dtype, tuple(shape), requires_grad=grad)
