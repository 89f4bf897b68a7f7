"""Fields of `attrs` classes that are declared by calls: `x = attr.ib(default=…)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue, Function
from device_lens.domain.heap import MISSING
from device_lens.domain.values import External, Unknown
from device_lens.interpreter.frames import Frame

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

CLASSES = frozenset(
    f"{package}.{name}"
    for package in ("attr", "attrs")
    for name in ("s", "attrs", "dataclass", "define", "mutable", "frozen")
)
"""What makes a class one whose `__init__` takes its fields."""
_FIELDS = frozenset({"attr.ib", "attr.attrib", "attr.field", "attrs.field"})
_FACTORIES = frozenset({"attr.Factory", "attrs.Factory"})
_PLAIN = frozenset(
    {"default", "factory", "converter", "type", "repr", "eq", "cmp", "hash", "order"}
)
"""What may be said of a field that is a parameter in its place, by its name."""


class DefaultFactory:
    """What makes a field's default: a function, or a method of the object that is being made."""

    __slots__ = ("function", "of_object")

    def __init__(self, function: Any, of_object: bool = False) -> None:
        self.function = function
        self.of_object = of_object


class Converted:
    """A field whose value goes through a function."""

    __slots__ = ("converter", "default")

    def __init__(self, default: Any, converter: Any) -> None:
        self.default = default
        self.converter = converter


def declared(
    machine: Machine, cls: ClassValue, node: ast.ClassDef, frame: Frame
) -> dict[str, Any] | None:
    """The fields with their defaults; None where one of them is given otherwise than in its place
    or by its name."""
    found: dict[str, Any] = {}
    for item in node.body:
        if isinstance(item, ast.Assign) and _is_field(machine, item, frame):
            target, call = item.targets[0], item.value
            assert isinstance(target, ast.Name)
            assert isinstance(call, ast.Call)
            if target.id.startswith("_") or call.args or not _is_plain(call):
                return None
            found[target.id] = _default(machine, call, frame)
        elif isinstance(item, ast.FunctionDef):
            name = _names_default_of(item)
            method = cls.fields.get(item.name)
            if name in found and type(method) is Function:
                found[name] = _by_method(found[name], method)
    return found


def _is_field(machine: Machine, item: ast.Assign, frame: Frame) -> bool:
    if len(item.targets) != 1 or not isinstance(item.targets[0], ast.Name):
        return False
    return isinstance(item.value, ast.Call) and _is_call_of(machine, item.value, _FIELDS, frame)


def _is_call_of(machine: Machine, call: ast.Call, names: frozenset[str], frame: Frame) -> bool:
    if not isinstance(call.func, ast.Name | ast.Attribute):
        return False
    function = machine.evaluate(call.func, frame)
    return type(function) is External and function.name in names


def _is_plain(call: ast.Call) -> bool:
    return all(keyword.arg in _PLAIN for keyword in call.keywords)


def _default(machine: Machine, call: ast.Call, frame: Frame) -> Any:
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    default: Any = MISSING
    if "factory" in given:
        default = DefaultFactory(machine.evaluate(given["factory"], frame))
    elif "default" in given:
        default = _value(machine, given["default"], frame)
    if "converter" in given:
        return Converted(default, machine.evaluate(given["converter"], frame))
    return default


def _value(machine: Machine, node: ast.expr, frame: Frame) -> Any:
    if not isinstance(node, ast.Call) or not _is_call_of(machine, node, _FACTORIES, frame):
        return machine.evaluate(node, frame)
    if len(node.args) != 1 or node.keywords:
        return Unknown("default")
    return DefaultFactory(machine.evaluate(node.args[0], frame))


def _names_default_of(item: ast.FunctionDef) -> str | None:
    """The field whose default a method makes: `@x.default`."""
    for each in item.decorator_list:
        if isinstance(each, ast.Attribute) and each.attr == "default":
            return each.value.id if isinstance(each.value, ast.Name) else None
    return None


def _by_method(declaration: Any, method: Function) -> Any:
    made = DefaultFactory(method, of_object=True)
    if type(declaration) is Converted:
        return Converted(made, declaration.converter)
    return made
