"""When is a value true? And what does a test tell of the names in it?"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.atom import EITHER_WAY, HOW_FAR, Atom, shared_atom
from device_lens.domain.code import BoundMethod, ClassValue, Function, Namespace
from device_lens.domain.condition import negation
from device_lens.domain.device import UNNAMED, SymbolicDevice, is_unknown
from device_lens.domain.guard import Guarded, combine, node, undecided
from device_lens.domain.heap import DictObject, Instance, ListObject, ModuleObject
from device_lens.domain.lengths import at_least
from device_lens.domain.optional_items import has_any
from device_lens.domain.presence import any_present
from device_lens.domain.values import (
    BoundExternal,
    Const,
    DeviceValue,
    External,
    Partial,
    TupleValue,
    Unknown,
)
from device_lens.interpreter import dimensions
from device_lens.models import registry
from device_lens.models.numbers import (
    COUNTED,
    is_never_none,
    is_number,
    is_text,
    told_by_bound,
)

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine

_ZERO = Const(0)
_ALWAYS_TRUE = (Function, BoundMethod, ClassValue, Namespace, DeviceValue)


def truth(value: Any, text: str = "") -> Any:
    """The condition under which `value` is true: True, False, or a tree over atoms."""
    kind = type(value)
    if kind is Const:
        return bool(value.value)
    if kind is Guarded:
        return combine(lambda leaf: truth(leaf, text), value)
    if kind is Unknown:
        if value.label == COUNTED:
            return told_by_count(value, ast.NotEq, _ZERO)
        return told_by_bound(value, ast.NotEq, _ZERO) or _opaque(value, "truth", text)
    if kind is TupleValue:
        return bool(value.items)
    if kind is ListObject and value.kind in ("list", "set", "deque"):
        if at_least(value):
            return True
        if value.rest is None and not value.items:
            return False
        there = has_any(value)
        return Guarded(Atom(text), True, False) if there is None else there
    if kind is DictObject:
        found = any_present(value.entries)
        return found if found is True or value.rest is None else Guarded(Atom(text), True, False)
    if kind in _ALWAYS_TRUE or kind is Partial:
        return True
    if kind is BoundExternal:
        return registry.function(value.name) is not None or undecided(text)
    if kind is External:
        return registry.names_code(value.name) or Guarded(
            shared_atom(f"{value.name} is true"), True, False
        )
    if kind is ModuleObject or (kind is Instance and _is_callable(value.cls)):
        return True
    return Guarded(Atom(text), True, False)


def _is_callable(cls: Any) -> bool:
    """Whether objects of a library's class are there to be called, as transforms are, and have no
    length that could be 0."""
    name = cls.name if type(cls) is External else ""
    is_called = registry.function(f"{name}.__call__") is not None
    return bool(name) and is_called and registry.function(f"{name}.__len__") is None


def opaque(value: Unknown, test: Any, text: str = "") -> Any:
    """A condition about an unknown that is the same each time it is asked."""
    return _opaque(value, test, text)


def either_way(value: Unknown, test: Any) -> Any:
    """The same of a random number, where it decides either way."""
    return asked(value, test, EITHER_WAY)


def told_by_count(value: Unknown, comparison: type[ast.cmpop], other: Const) -> Any:
    """The same of the number of a step, for each of its comparisons with one number and what says
    the reverse."""
    kind, limit = comparison, other.value
    if not isinstance(limit, int | float):
        return kind is ast.NotEq if kind in (ast.Eq, ast.NotEq) else undecided()
    if kind in (ast.LtE, ast.Gt) and type(limit) is int:
        kind, limit = (ast.Lt if kind is ast.LtE else ast.GtE), limit + 1
    asked_for = _REVERSE.get(kind, kind)
    found = asked(value, (asked_for.__name__, limit), HOW_FAR)
    return found if asked_for is kind else negation(found)


_REVERSE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.NotEq: ast.Eq,
}


def _opaque(value: Unknown, test: Any, text: str) -> Any:
    return asked(value, test, value.label or text)


def asked(value: Unknown, test: Any, text: str) -> Any:
    """The same with a text of its own, unless it was asked before."""
    value.note()
    if value.truths is None:
        value.truths = {}
    atom = value.truths.get(test)
    if isinstance(atom, Guarded):
        return atom
    if atom is None:
        atom = value.truths[test] = Atom(text)
    return node(atom, True, False)


def is_known_as_no_tensor(machine: Machine, value: Any) -> bool:
    """Whether an unknown was asked whether it is a tensor, and is none on this path. It may have
    been used as one where the answer was yes."""
    if type(value) is not Unknown or value.truths is None:
        return False
    denied = (
        test
        for test, atom in value.truths.items()
        if type(test) is tuple and isinstance(atom, Atom) and machine.path.known.get(atom) is False
    )
    return any(kind == "isinstance" and "torch.Tensor" in _names(of) for kind, of in denied)


def _names(classes: Any) -> tuple[Any, ...]:
    return classes if type(classes) is tuple else (classes,)


def is_none_condition(value: Any) -> Any:
    """The condition under which `value` is None."""
    kind = type(value)
    if kind is Const:
        return value.value is None
    if kind is Guarded:
        return combine(is_none_condition, value)
    if kind is Unknown:
        if is_number(value) or is_text(value) or is_never_none(value):
            return False
        return negation(_opaque(value, "not none", ""))
    if kind is External and not registry.names_code(value.name):
        return Guarded(shared_atom(f"{value.name} is None"), True, False)
    return False


def narrow(machine: Machine, test: ast.expr, frame: Frame, positive: bool) -> list[Unknown]:
    """Notes what a test says of the names in it: an unknown that the program asks whether it is a
    tensor is used as one where the answer is yes. Answers those that were not before: elsewhere
    they are anything (`forget_narrowed`)."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return narrow(machine, test.operand, frame, not positive)
    if isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) == positive:
            return [
                found for value in test.values for found in narrow(machine, value, frame, positive)
            ]
    elif positive and isinstance(test, ast.Call):
        return _narrow_call(machine, test, frame)
    elif isinstance(test, ast.Compare):
        dimensions.compared(machine, test, frame, positive)
    return []


def _narrow_call(machine: Machine, test: ast.Call, frame: Frame) -> list[Unknown]:
    name = test.func.attr if isinstance(test.func, ast.Attribute) else getattr(test.func, "id", "")
    if name not in ("isinstance", "is_tensor") or not test.args:
        return []
    target = test.args[0]
    if not isinstance(target, ast.Name):
        return []
    value = frame.scope.names.get(target.id)
    if type(value) is not Unknown or value.tensor_evidence:
        return []
    classes = machine.evaluate(test.args[1], frame) if name == "isinstance" else None
    if name == "is_tensor" or (
        type(classes) is External and classes.name in ("torch.Tensor", "torch.nn.Parameter")
    ):
        symbol_of(value)
        value.note()
        value.tensor_evidence = True
        return [value]
    return []


def forget_narrowed(values: list[Unknown]) -> None:
    """To be called where a test has not been answered as `narrow` was told."""
    for value in values:
        value.note()
        value.tensor_evidence = False


def symbol_of(value: Unknown) -> Any:
    """The device that an unknown has if it is a tensor: a symbol of its own where none is known."""

    if is_unknown(value.device):
        parts = value.parts()
        symbol = parts.get("<device>")
        if symbol is None:
            symbol = parts["<device>"] = SymbolicDevice(value.label or UNNAMED)
        return symbol
    return value.device
