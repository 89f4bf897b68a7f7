"""What annotations say of parameters and variables: is it a tensor, a device, a module?"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue, Deferred
from device_lens.domain.heap import MISSING, ListObject, ModuleObject
from device_lens.domain.values import (
    DeviceValue,
    External,
    HostArray,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.interpreter import imports
from device_lens.interpreter.conditions import symbol_of
from device_lens.interpreter.frames import Frame
from device_lens.models import registry
from device_lens.models.numbers import number
from device_lens.syntax.names import last_name

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_TENSORS = frozenset(
    {
        "torch.Tensor",
        "torch.FloatTensor",
        "torch.LongTensor",
        "torch.BoolTensor",
        "torch.IntTensor",
        "torch.nn.Parameter",
        "torch.nn.parameter.Parameter",
    }
)
_WRAPPERS = frozenset({"Optional", "Annotated", "Final", "Union"})
_SEQUENCES = frozenset({"list", "List", "Sequence", "Iterable", "Iterator"})
_JAXTYPING = frozenset({"Float", "Int", "Bool", "Shaped", "Num", "UInt", "Complex"})
_NUMBERS = frozenset({"int", "float", "complex"})
_HOST = frozenset({"int", "float", "str", "bool", "bytes", "complex"})


def refine(machine: Machine, value: Unknown, annotation: ast.expr | None, frame: Frame) -> Any:
    """`value` as its annotation describes it; unchanged where that says nothing of devices."""
    if annotation is None:
        return value
    node = _parsed(annotation)
    if node is None:
        return value
    found = _described(machine, value, node, frame)
    return value if found is None else found


def of_host(annotation: ast.expr | None) -> Any:
    """A value of a type that holds nothing but numbers, as `tuple[int, int]`; None for others."""
    node = None if annotation is None else _parsed(annotation)
    if isinstance(node, ast.Name):
        return number(node.id) if node.id in _NUMBERS else None
    if not isinstance(node, ast.Subscript):
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    name, repeated = last_name(node.value), any(map(_is_ellipsis, parts))
    items = [of_host(part) for part in parts if not _is_ellipsis(part)]
    if not items or any(item is None for item in items):
        return None
    if name in ("tuple", "Tuple"):
        return ListObject((), items[0], "tuple", node) if repeated else TupleValue(tuple(items))
    return ListObject((), items[0], "list", node) if name in _SEQUENCES else None


def _parsed(annotation: ast.expr) -> ast.expr | None:
    """The annotation as an expression: strings are read as code."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return ast.parse(annotation.value, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    return annotation


def _described(machine: Machine, value: Unknown, node: ast.expr, frame: Frame) -> Any:
    if isinstance(node, ast.BinOp):
        return _alternative(machine, value, [node.left, node.right], frame)
    if isinstance(node, ast.Subscript):
        return _subscript(machine, value, node, frame)
    if isinstance(node, ast.Constant):
        inner = _parsed(node)
        return None if inner is node or inner is None else _described(machine, value, inner, frame)
    cls = _resolve(machine, node, frame)
    if type(cls) is External:
        return _library(value, cls.name)
    if type(cls) is ClassValue and cls.is_module:
        return symbolic_module(machine, cls, value)
    return None


def _subscript(machine: Machine, value: Unknown, node: ast.Subscript, frame: Frame) -> Any:
    name = last_name(node.value)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name in _WRAPPERS:
        return _alternative(machine, value, parts, frame)
    if name in _SEQUENCES:
        element = _described(machine, _element(value), parts[0], frame)
        return None if element is None else ListObject((), element, "list", node)
    if name in ("tuple", "Tuple") and not any(_is_ellipsis(p) for p in parts):
        items = [_described(machine, _element(value), p, frame) or Unknown() for p in parts]
        return TupleValue(tuple(items))
    if name in _JAXTYPING:
        return _jaxtyping(value, parts)
    return None


def _alternative(machine: Machine, value: Unknown, parts: list[ast.expr], frame: Frame) -> Any:
    """What one of several types says; nothing where another one is a number or a string."""
    if any(last_name(part) in _HOST for part in parts):
        return None
    for part in parts:
        found = _described(machine, value, part, frame)
        if found is not None:
            return found
    return None


def _jaxtyping(value: Unknown, parts: list[ast.expr]) -> Tensor:
    shape: tuple[int | str | None, ...] | None = None
    if len(parts) == 2 and isinstance(parts[1], ast.Constant) and isinstance(parts[1].value, str):
        names = parts[1].value.split()
        if not any(n.startswith(("*", "...")) for n in names):
            shape = tuple(int(n) if n.isdigit() else n for n in names)
    return Tensor(
        symbol_of(value), shape=shape, requires_grad=None, leaf=None, zero_dim=shape == ()
    )


def _element(value: Unknown) -> Unknown:
    return Unknown(value.label, symbol_of(value))


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def named_class(machine: Machine, annotation: ast.expr | None, frame: Frame) -> Any:
    """The class that an annotation names, or those of a union as a tuple; unknown where it says
    anything else."""
    node = None if annotation is None else _parsed(annotation)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return TupleValue(
            (named_class(machine, node.left, frame), named_class(machine, node.right, frame))
        )
    if isinstance(node, ast.Subscript) and last_name(node.value) == "Union":
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return TupleValue(tuple(named_class(machine, part, frame) for part in parts))
    if node is None:
        return Unknown()
    found = _resolve(machine, node, frame)
    if found is MISSING and isinstance(node, ast.Name):
        return External("builtins." + node.id)
    return found if type(found) in (ClassValue, External) else Unknown()


def _resolve(machine: Machine, node: ast.expr, frame: Frame) -> Any:
    """The class that a dotted name means, without recording it as an expression."""
    from device_lens.interpreter.expressions import lookup

    if isinstance(node, ast.Name):
        found = lookup(machine, node.id, frame)
        if isinstance(found, Deferred):
            return imports.settled(machine, found, frame.namespace.scope.names, node.id)
        return External("builtins." + node.id) if found is MISSING and node.id in _HOST else found
    if isinstance(node, ast.Attribute):
        outer = _resolve(machine, node.value, frame)
        if type(outer) is External:
            return External(registry.canonical(f"{outer.name}.{node.attr}"))
        scope = getattr(outer, "scope", None)
        return scope.names.get(node.attr, MISSING) if scope is not None else MISSING
    return MISSING


def _library(value: Unknown, name: str) -> Any:
    name = registry.canonical(name)
    if name in _TENSORS:
        return Tensor(symbol_of(value), requires_grad=None, leaf=None)
    if name == "torch.device":
        from device_lens.models.call import device_of

        device = device_of(value)
        return DeviceValue(device) if device is not None else None
    if name == "numpy.ndarray":
        return HostArray()
    if registry.module(name) is not None or "torch.nn.Module" in registry.bases(name):
        return _opaque_module(External(name), value)
    return None


def _opaque_module(cls: Any, value: Unknown) -> ModuleObject:
    module = ModuleObject(cls)
    module.own["opaque"] = True
    module.own["device"] = symbol_of(value)
    return module


def symbolic_module(machine: Machine, cls: ClassValue, value: Unknown) -> Any:
    """An instance of one of the program's module classes that lives wherever it lives."""
    from device_lens.interpreter import standalone

    instance = standalone.instance_of(machine, cls)
    return instance if instance is not None else value
