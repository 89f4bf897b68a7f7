"""Libraries that compute in host memory: they read tensors as arrays, which raises for one on an
accelerator or one that requires grad, and give back host values."""

from __future__ import annotations

from collections.abc import Callable

from device_lens.domain.code import BoundMethod, Function
from device_lens.domain.heap import DictObject, Instance, ListObject, contents
from device_lens.domain.values import Const, External, HostArray, Partial, TupleValue
from device_lens.models.call import Call, Model, Value, tensor_of

DEPTH = 2
"""How deep in lists a function looks for tensors."""
_CODE = (Function, BoundMethod, Partial)
_HANDED_ON = ("args", "kwargs", "fargs")


def written(name: str) -> str:
    """A function of NumPy as programs write it: `np.mean`."""
    return "np." + name.removeprefix("numpy.")


def host_function(what: str, reads: bool = True, result: Callable[[], Value] = HostArray) -> Model:
    """A function of a host library. `what` is how a reader knows it; `reads` tells that it turns
    its arguments into arrays."""

    def model(call: Call) -> Value:
        if reads:
            read_arguments(call, what)
        return result()

    return model


def host_class(name: str, what: str, reads: bool = True) -> Model:
    """A class of a host library: its instances' methods are looked up under `name`."""

    def model(call: Call) -> Value:
        if reads:
            read_arguments(call, what)
        return Instance(External(name), call.site.node)

    return model


def read_arguments(call: Call, what: str) -> None:
    """Reports the tensors among the arguments as read from host memory. What is handed on to a
    function of the program, as solvers do with their `args=`, is not read."""
    hands_on = any(type(value) in _CODE for value in call.args)
    for position, value in enumerate(call.args):
        if not (hands_on and type(value) is TupleValue):
            read(call, what, value, position)
    for name, value in call.kwargs.items():
        if name not in _HANDED_ON:
            read(call, what, value, name)


def read(call: Call, what: str, value: Value, place: int | str) -> None:
    """Reports the tensors in one argument as read from host memory."""
    opens_dicts = not call.name.startswith("numpy.")  # which keeps a dict as an object
    found = _first_tensor(value, DEPTH, opens_dicts)
    if found is not None:
        nested = found is not value and not all(map(_is_tensor, contents(value)))
        container = "dict" if type(value) is DictObject else None
        call.services.host_read(what, found, place, nested, container)
    elif type(value) in (Const, HostArray, ListObject, TupleValue):
        call.services.host_read(what, value, place)


def held_tensor(value: Value) -> tuple[Value, bool] | None:
    """A tensor that a list holds, and whether it holds other things beside; None where there is
    none."""
    found = _first_tensor(value, DEPTH, opens_dicts=False)
    return None if found is None else (found, not all(map(_is_tensor, contents(value))))


def _first_tensor(value: Value, depth: int, opens_dicts: bool) -> Value | None:
    if tensor_of(value) is not None:
        return value
    if not depth or (type(value) is DictObject and not opens_dicts):
        return None
    for item in contents(value):
        found = _first_tensor(item, depth - 1, opens_dicts)
        if found is not None:
            return found
    return None


def _is_tensor(value: Value) -> bool:
    return tensor_of(value) is not None


def is_class_name(name: str) -> bool:
    """Whether the last part of a qualified name is spelt like a class."""
    last = name.rpartition(".")[2]
    return last[:1].isupper()
