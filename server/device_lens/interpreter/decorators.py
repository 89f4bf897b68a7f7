"""What decorators make of functions and classes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import BoundMethod, ClassValue, Function
from device_lens.domain.guard import Guarded
from device_lens.domain.heap import MISSING, Instance, ListObject
from device_lens.domain.values import Const, DeviceValue, External, Partial, Unknown
from device_lens.interpreter import (
    attrs_fields,
    calls,
    kept_answers,
    single_dispatch,
    suspended,
)
from device_lens.interpreter.attrs_fields import DefaultFactory
from device_lens.interpreter.frames import Frame
from device_lens.models import registry

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_KINDS = {
    "builtins.staticmethod": "static",
    "builtins.classmethod": "class",
    "builtins.property": "property",
    "functools.cached_property": "cached_property",
    "torch.utils._contextlib.classproperty": "property",
    "abc.abstractproperty": "property",
}
_DATACLASSES = frozenset({"dataclasses.dataclass"}) | attrs_fields.CLASSES


_WRAPPERS = (Function, BoundMethod, ClassValue, Instance, Partial, Guarded)


def apply(machine: Machine, decorator: ast.expr, value: Any, node: Any, frame: Frame) -> Any:
    """The function that a decorator leaves. One that is not known is taken to keep it."""
    if isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "deleter", "getter"):
        if type(value) is Function:
            value.name = f"{node.name}.{decorator.attr}"
        return value
    wrapper = machine.evaluate(decorator, frame)
    if type(wrapper) is External and wrapper.name in _KINDS and type(value) is Function:
        value.kind = _KINDS[wrapper.name]
        return value
    _note(machine, wrapper, decorator, value, frame)
    if type(wrapper) is External and wrapper.name in single_dispatch.MAKERS:
        return single_dispatch.dispatcher(wrapper.name, value, node)
    if type(value) is Function and _is_manager(wrapper):
        value.within = (wrapper, *value.within)
        return value
    if type(wrapper) in _WRAPPERS:
        found = calls.call(machine, wrapper, (value,), {}, decorator, frame)
        return value if type(found) is Unknown or found == Const(None) else found
    if type(wrapper) is External and registry.function(wrapper.name) is not None:
        found = calls.call(machine, wrapper, (value,), {}, decorator, frame)
        if type(found) is Function or type(found) is Partial:
            return found
    return value


def _is_manager(wrapper: Any) -> bool:
    """Whether a decorator is a context manager of the program, or a device: each call is a block
    of it."""
    if type(wrapper) is ListObject:
        return isinstance(wrapper.fields.get(suspended.FIELD), suspended.Suspension)
    if type(wrapper) is Instance and type(wrapper.cls) is ClassValue:
        return _DECORATING in wrapper.cls.foreign
    return type(wrapper) is DeviceValue


_DECORATING = "contextlib.ContextDecorator"


def _note(machine: Machine, wrapper: Any, decorator: ast.expr, value: Any, frame: Frame) -> None:
    """Keeps with a function what a decorator makes of its calls, if it leaves the function."""
    if isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name | ast.Attribute):
        wrapper = machine.evaluate(decorator.func, frame)
    if type(wrapper) is not External or type(value) is not Function:
        return
    if wrapper.name in kept_answers.KEEPING:
        value.kept = kept_answers.kept_by(machine, decorator, wrapper.name, frame)
    elif wrapper.name in suspended.MANAGING:
        value.manages = True


def apply_to_class(
    machine: Machine, decorator: ast.expr, value: Any, node: ast.ClassDef, frame: Frame
) -> Any:
    wrapper = machine.evaluate(
        decorator.func if isinstance(decorator, ast.Call) else decorator, frame
    )
    if type(value) is not ClassValue:
        return value
    if type(wrapper) is External:
        if wrapper.name in _DATACLASSES:
            value.data_fields = _data_fields(machine, value, node, frame)
            if wrapper.name in attrs_fields.CLASSES:
                _add_declared(machine, value, node, frame)
        return value
    if isinstance(decorator, ast.Call):
        wrapper = machine.evaluate(decorator, frame)
    if type(wrapper) is Function:
        found = calls.call(machine, wrapper, (value,), {}, decorator, frame)
        return found if type(found) is ClassValue else value
    return value


def _data_fields(
    machine: Machine, cls: ClassValue, node: ast.ClassDef, frame: Frame
) -> tuple[tuple[str, Any], ...]:
    """Fields in order with their defaults, those of dataclass bases first."""
    fields: dict[str, Any] = {}
    for base in reversed(cls.mro[1:]):
        fields.update(base.data_fields or ())
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            if "ClassVar" in ast.dump(item.annotation):
                continue
            fields[item.target.id] = _default(machine, cls, item, frame)
    return tuple(fields.items())


def _add_declared(machine: Machine, cls: ClassValue, node: ast.ClassDef, frame: Frame) -> None:
    """Fields that are declared by calls. Beside annotated ones their order is not known."""
    found = attrs_fields.declared(machine, cls, node, frame)
    known = dict(cls.data_fields or ())
    annotated = any(isinstance(item, ast.AnnAssign) for item in node.body)
    if found and not annotated and known.keys().isdisjoint(found):
        cls.data_fields = tuple((known | found).items())


def _default(machine: Machine, cls: ClassValue, item: ast.AnnAssign, frame: Frame) -> Any:
    assert isinstance(item.target, ast.Name)
    if item.value is None:
        return MISSING
    if isinstance(item.value, ast.Call):
        for keyword in item.value.keywords:
            if keyword.arg in ("default_factory", "factory"):
                return DefaultFactory(machine.evaluate(keyword.value, frame))
            if keyword.arg == "default":
                return machine.evaluate(keyword.value, frame)
    return cls.fields.get(item.target.id, Unknown(item.target.id))
