"""Whether an attribute or item can be assigned to: what a fix is to do that keeps a result."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue, Function
from device_lens.domain.guard import leaves
from device_lens.domain.heap import DictObject, Instance, ListObject, Parameter
from device_lens.domain.values import Tensor, TupleValue
from device_lens.interpreter.descriptors import property_setter
from device_lens.syntax.names import last_name
from device_lens.syntax.pairing import LOOPS, holders

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine


def takes_value(machine: Machine, node: ast.expr, frame: Frame) -> bool:
    """Whether nothing speaks against an assignment to an expression that was just evaluated: a
    tuple keeps its items, a frozen object and a property without a setter what they have, and a
    tensor makes its parts and views anew."""
    if not isinstance(node, ast.Attribute | ast.Subscript):
        return True
    owner = _owner(machine, node, frame)
    takes = _takes_attribute if isinstance(node, ast.Attribute) else _takes_item
    return all(takes(each, node) for each in leaves(owner))


def holder_takes_value(machine: Machine, node: ast.expr, frame: Frame) -> bool:
    """The same of what a loop that is being run goes through, where the expression is its
    variable."""
    if not isinstance(node, ast.Name):
        return True
    loops = (each.node for each in frame.loops if isinstance(each.node, LOOPS))
    found = (container for loop in loops for container in holders(loop, node.id))
    return all(takes_value(machine, container, frame) for container in found)


def sets_by_method(machine: Machine, node: ast.expr, frame: Frame) -> bool:
    """Whether an assignment to an expression that was just evaluated runs a method of a class: the
    setter of a property, `__setattr__`, `__setitem__`."""
    if not isinstance(node, ast.Attribute | ast.Subscript):
        return False
    return any(_has_setter(each, node) for each in leaves(_owner(machine, node, frame)))


def _has_setter(owner: Any, node: ast.Attribute | ast.Subscript) -> bool:
    cls = owner.cls if isinstance(owner, Instance) else None
    if type(cls) is not ClassValue:
        return False
    if isinstance(node, ast.Subscript):
        return cls.lookup("__setitem__") is not None
    found = cls.lookup(node.attr)
    kind = found.cls if isinstance(found, Instance) else None
    is_descriptor = type(kind) is ClassValue and kind.lookup("__set__") is not None
    return (
        is_descriptor
        or property_setter(cls, node.attr) is not None
        or cls.lookup("__setattr__") is not None
    )


def _owner(machine: Machine, node: ast.Attribute | ast.Subscript, frame: Frame) -> Any:
    """What an attribute or item is one of."""
    seen = machine.recorder.seen.get(node.value)
    return seen[-1].value if seen else value_of(machine, node.value, frame)


def _takes_item(owner: Any, node: Any) -> bool:
    if type(owner) in (TupleValue, Tensor, Parameter):
        return False
    return not (type(owner) is ListObject and owner.kind in ("tuple", "generator", "iterator"))


def _takes_attribute(owner: Any, node: Any) -> bool:
    if type(owner) is TupleValue:
        return False
    if type(owner) in (Tensor, Parameter):
        return bool(node.attr == "data")
    cls = owner.cls if isinstance(owner, Instance) else None
    if type(cls) is not ClassValue:
        return True
    if any(map(_is_frozen, cls.mro)):
        return False
    found = cls.lookup(node.attr)
    is_property = type(found) is Function and found.kind == "property"
    return not is_property or property_setter(cls, node.attr) is not None


def _is_frozen(cls: ClassValue) -> bool:
    """Whether a decorator of the class freezes its objects: `@dataclass(frozen=True)`,
    `@attrs.frozen`."""
    if any(_decorator_name(each) == "frozen" for each in cls.node.decorator_list):
        return True
    calls = (each for each in cls.node.decorator_list if isinstance(each, ast.Call))
    return any(
        keyword.arg == "frozen"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is True
        for call in calls
        for keyword in call.keywords
    )


def _decorator_name(decorator: ast.expr) -> str:
    return last_name(decorator.func if isinstance(decorator, ast.Call) else decorator)


def value_of(machine: Machine, node: ast.expr, frame: Frame) -> Any:
    """What a name or an attribute holds after the call, without another look of the program at it;
    None where that is not plain."""
    from device_lens.interpreter.expressions import lookup

    match node:
        case ast.Name(id=name):
            return lookup(machine, name, frame)
        case ast.Attribute(value=owner, attr=name):
            held = value_of(machine, owner, frame)
            return held.fields.get(name) if isinstance(held, Instance) else None
        case ast.Subscript(value=owner, slice=ast.Constant(value=key)):
            held = value_of(machine, owner, frame)
            return held.entries.get(key) if type(held) is DictObject else None
    return None
