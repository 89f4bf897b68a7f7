"""Facts about calls of the program's own functions that give moved copies which nobody takes:
`to_device(batch, device)` as a statement."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import BoundMethod, ClassValue, Function, Namespace
from device_lens.domain.device import same_everywhere
from device_lens.domain.heap import DictObject, Instance, ListObject
from device_lens.domain.values import External, Tensor, TupleValue, Unknown
from device_lens.interpreter import settable
from device_lens.interpreter.doings import first_parameter
from device_lens.interpreter.rarer_facts import DroppedCopy
from device_lens.interpreter.settable import value_of
from device_lens.interpreter.transfer_facts import MOVES
from device_lens.syntax.names import root_name
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine

_HOLDERS = (Tensor, TupleValue, ListObject, DictObject, Instance)
_FILLING = frozenset({"append", "extend", "update", "add", "insert", "setdefault"})
_MAX_DEPTH = 4
_Moved = list[Tensor]
"""Tensors that were moved, as they were before."""


def dropped(machine: Machine, call: ast.expr, value: Any, frame: Frame) -> None:
    """Writes down that a call, an expression statement, gave `value`: the same as one of its
    arguments, or as several in turn, but moved. What the function does besides may be what it is
    called for, so it must do nothing else."""
    if not isinstance(call, ast.Call) or type(value) is Unknown:
        return
    if call in machine.findings.transfers:
        return
    subjects, moved = _subjects(machine, call, value, frame)
    if not moved or not _is_for_copies(machine, call.func, frame):
        machine.findings.no_copies.add(call)
        return
    fact = DroppedCopy(
        machine.site(call, frame),
        tuple(machine.site(subject, frame) for subject in subjects),
        moved[0].device,
        moved[0].trail,
        all(settable.takes_value(machine, subject, frame) for subject in subjects),
        all(settable.holder_takes_value(machine, subject, frame) for subject in subjects),
    )
    for tensor in moved:
        machine.shared.setdefault(("discarded", id(tensor.trail)), fact.site)
    machine.findings.add(fact)


def _subjects(
    machine: Machine, call: ast.Call, value: Any, frame: Frame
) -> tuple[list[ast.expr], _Moved]:
    """The arguments that the value is a moved copy of, and the tensors that were moved."""
    if type(value) not in _HOLDERS:
        return [], []
    given = [call.func.value, *call.args] if isinstance(call.func, ast.Attribute) else call.args
    held = [(each, value_of(machine, each, frame)) for each in given]
    for node, old in held:
        found: _Moved = []
        if _is_moved(old, value, found, 0) and found:
            return [node], found
    if type(value) is not TupleValue or value.names is not None or len(value.items) < 2:
        return [], []
    for start in range(len(held) - len(value.items) + 1):
        found = []
        part = held[start : start + len(value.items)]
        pairs = zip(part, value.items, strict=True)
        if all(_is_moved(old, new, found, 0) for (_, old), new in pairs) and found:
            return [node for node, _ in part], found
    return [], []


def _is_moved(old: Any, new: Any, found: _Moved, depth: int) -> bool:
    """Whether `new` is as `old` is, but for tensors that were moved out of it, which are put into
    `found`."""
    if old is new:
        return True
    if type(old) is not type(new) or depth > _MAX_DEPTH:
        return False
    if type(old) is Tensor:
        return _is_moved_tensor(old, new, found)
    if type(old) is TupleValue:
        pairs = list(zip(old.items, new.items, strict=False))
        alike = len(old.items) == len(new.items) and old.names == new.names
    elif type(old) is ListObject:
        pairs = [*zip(old.items, new.items, strict=False), (old.rest, new.rest)]
        alike = len(old.items) == len(new.items) and old.kind == new.kind
    elif type(old) is DictObject:
        pairs = [(each, new.entries.get(name)) for name, each in old.entries.items()]
        pairs.append((old.rest, new.rest))
        alike = old.entries.keys() == new.entries.keys()
    elif type(old) is Instance:
        pairs = [(each, new.fields.get(name)) for name, each in old.fields.items()]
        alike = old.cls == new.cls and old.fields.keys() == new.fields.keys()
    else:
        return bool(old == new)
    return alike and all(_is_moved(*pair, found, depth + 1) for pair in pairs)


def _is_moved_tensor(old: Tensor, new: Tensor, found: _Moved) -> bool:
    step = new.trail
    if step is old.trail:
        return True
    if step is None or step.kind != "moved" or step.previous is not old.trail:
        return False
    if old.trail is not None and not same_everywhere(old.device, new.device):
        found.append(old)
    return True


def _is_for_copies(machine: Machine, callee: ast.expr, frame: Frame) -> bool:
    """Whether what is called does nothing but give its result."""
    match callee:
        case ast.Name():
            called = value_of(machine, callee, frame)
        case ast.Attribute(value=owner, attr=name):
            held = value_of(machine, owner, frame)
            if type(held) is Instance and type(held.cls) is External:
                return name in MOVES
            called = _member(held, name)
        case _:
            return False
    function = called.function if type(called) is BoundMethod else called
    if type(function) is not Function:
        return False
    asked = machine.unit.weigh(function.node, _methods_of_made)
    return asked is not None and all(_only_fills(machine, function.owner, name) for name in asked)


def _only_fills(machine: Machine, cls: Any, name: str) -> bool:
    """Whether a method of a class does nothing but set what its object holds."""
    method = cls.lookup(name) if type(cls) is ClassValue else None
    if type(method) is not Function or not isinstance(method.node, ast.FunctionDef):
        return False
    return machine.unit.weigh(method.node, _sets_own) is True


def _sets_own(method: Any) -> bool:
    return _called_on(method, {first_parameter(method)}) == frozenset()


def _member(held: Any, name: str) -> Any:
    """What a module of the program has under a name, or the class of an object."""
    if type(held) is Namespace:
        return held.scope.names.get(name)
    cls = held.cls if isinstance(held, Instance) else None
    if type(held) is TupleValue:
        cls = getattr(held.names, "owner", None)
    return cls.lookup(name) if type(cls) is ClassValue else None


def _methods_of_made(function: Any) -> frozenset[str] | None:
    """The methods that a function calls, as statements, of what it has made, where its text keeps
    and shows nothing else. It may call itself, and fill what it has made."""
    return _called_on(function, set()) if isinstance(function, ast.FunctionDef) else None


def _called_on(function: ast.FunctionDef, filled: set[str]) -> frozenset[str] | None:
    """The same, where some names stand for what may be filled."""
    arguments = function.args
    given = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    made = {
        each.id for each in walk(function) if type(each) is ast.Name and type(each.ctx) is ast.Store
    } - given
    made |= filled
    called: set[str] = set()
    if not all(_gives(each, function.name, made, called) for each in walk(function)):
        return None
    return frozenset(called)


def _gives(node: ast.AST, name: str, made: set[str], asked: set[str]) -> bool:
    """Whether a node keeps and shows nothing; a method that fills what was made, perhaps, comes to
    those that are asked."""
    match node:
        case ast.Global() | ast.Nonlocal() | ast.Delete() | ast.Yield() | ast.YieldFrom():
            return False
        case ast.With() | ast.AugAssign(target=ast.Attribute() | ast.Subscript()):
            return False
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=called))):
            return called == name
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=filled, attr=attr))):
            if root_name(filled) not in made:
                return False
            if attr not in _FILLING:
                asked.add(attr)
            return attr in _FILLING or isinstance(filled, ast.Name)
        case ast.Expr():
            return False
        case (
            ast.Attribute(ctx=ast.Store(), value=owner)
            | ast.Subscript(ctx=ast.Store(), value=owner)
        ):
            return root_name(owner) in made
    return True
