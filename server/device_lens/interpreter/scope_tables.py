"""Built-in functions that give the names of scopes as tables, import by a text, or run one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.code import Namespace
from device_lens.domain.guard import combine
from device_lens.domain.heap import DictObject, Instance
from device_lens.domain.values import Const, Unknown
from device_lens.interpreter import attributes, imports
from device_lens.interpreter.frames import Frame

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


def local_names(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    """`locals()`: the names of the present scope."""
    return DictObject(dict(frame.scope.names), None, node)


def global_names(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    """`globals()`: the names of the module."""
    return DictObject(dict(frame.namespace.scope.names), None, node)


def names_of(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    """`vars(x)`: the attributes of an object or module."""
    if args and isinstance(args[0], Instance):
        return DictObject(args[0].fields, None, node)
    if args and type(args[0]) is Namespace:
        return attributes.read(machine, args[0], "__dict__", node, frame)
    return DictObject({}, Unknown(), node)


def import_module(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    """`importlib.import_module(name)`."""

    def load(name: Any) -> Any:
        if type(name) is not Const or not isinstance(name.value, str):
            return Unknown("a module")
        return imports.named(machine, name.value, frame)

    return combine(load, args[0]) if args else Unknown()


def evaluated(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    """`eval` and `exec`, which are not followed."""
    machine.skip_at(node, frame, "code made at run time is not followed")
    return Unknown()
