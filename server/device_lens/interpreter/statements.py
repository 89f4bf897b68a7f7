"""Statements without control flow of their own, and those that end a path."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING, Any

from device_lens.domain.guard import atom_set
from device_lens.domain.heap import DictObject, ListObject, moment
from device_lens.domain.values import NONE, External, Tensor, Unknown
from device_lens.interpreter import (
    assignment,
    classes,
    imports,
    late_names,
    operators,
    replaced_models,
    reports,
    unknown_containers,
)
from device_lens.interpreter.annotations import refine
from device_lens.interpreter.conditions import narrow, truth
from device_lens.interpreter.dispatch import DEAD, EVALUATORS, EXECUTORS, NEXT
from device_lens.interpreter.frames import Frame
from device_lens.syntax.resting import Resting
from device_lens.syntax.twins import twin
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


def _expression(machine: Machine, node: ast.Expr, frame: Frame) -> int:
    if isinstance(node.value, ast.Constant):
        return NEXT
    if _is_dropped_iterator(machine, node.value, frame):
        if _would_move(node.value):
            _run_for_nothing(machine, node, frame)
        return NEXT
    value = machine.evaluate(node.value, frame)
    reports.discarded(machine, node, value, frame)
    if _never_returns(node.value):
        frame.stuck = True
    return NEXT


def _applies_later(node: ast.expr, value: Any) -> bool:
    """Whether what an expression makes does its work when somebody reads it."""
    if type(value) is not ListObject:
        return False
    return type(node) is ast.GeneratorExp or (
        type(node) is ast.Call and value.kind in ("map", "filter") and value.site is node
    )


def _is_dropped_iterator(machine: Machine, node: ast.expr, frame: Frame) -> bool:
    """Evaluates what makes an iterator at which nobody looks: it applies nothing to its items."""
    if isinstance(node, ast.GeneratorExp):
        machine.evaluate(node.generators[0].iter, frame)
        return True
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    if node.func.id not in ("map", "filter"):
        return False
    made_by = machine.evaluate(node.func, frame)
    if type(made_by) is not External or not made_by.name.startswith("builtins."):
        return False
    for argument in node.args:
        machine.evaluate(argument, frame)
    return True


def _would_move(node: ast.expr) -> bool:
    """Whether an iterator would give its items moved: `map(lambda t: t.to(d), xs)`."""
    if isinstance(node, ast.GeneratorExp):
        given: ast.expr | None = node.elt
    else:
        first = node.args[0] if isinstance(node, ast.Call) and node.args else None
        given = first.body if isinstance(first, ast.Lambda) else None
    return (
        isinstance(given, ast.Call)
        and isinstance(given.func, ast.Attribute)
        and isinstance(given.func.value, ast.Name)
        and given.func.attr in ("to", "cuda", "cpu")
    )


def _run_for_nothing(machine: Machine, node: ast.Expr, frame: Frame) -> None:
    """What an iterator that nobody reads would have moved: what it did is undone."""
    mark = machine.journal.mark()
    value = machine.evaluate(node.value, frame)
    reports.discarded(machine, node, value, frame)
    machine.journal.undo(mark)


def _never_returns(node: ast.expr) -> bool:
    """`sys.exit()`, `exit()`, `quit()`."""
    if not isinstance(node, ast.Call):
        return False
    func = node.func
    if isinstance(func, ast.Attribute):
        return func.attr in ("exit", "_exit") and isinstance(func.value, ast.Name)
    return isinstance(func, ast.Name) and func.id in ("exit", "quit")


def _assign(machine: Machine, node: ast.Assign, frame: Frame) -> int:
    mark, since = machine.journal.mark(), moment()
    value = late_names.evaluate(machine, node.value, frame)
    if _applies_later(node.value, value):
        machine.doubt(mark, since)
    if isinstance(node.value, ast.Constant) and node.value.value is Ellipsis:
        value = Unknown()
    reports.assigned(machine, node, value, frame)
    if type(value) in replaced_models.MODELS:
        replaced_models.assigned(machine, node, value, frame)
    for target in node.targets:
        assignment.assign(machine, target, value, frame, node.value)
    return NEXT


def _annotated(machine: Machine, node: ast.AnnAssign, frame: Frame) -> int:
    if node.value is not None:
        value = late_names.evaluate(machine, node.value, frame)
        if type(value) is Unknown:
            value = refine(machine, value, node.annotation, frame)
        if type(value) in replaced_models.MODELS:
            replaced_models.assigned(machine, node, value, frame)
        assignment.assign(machine, node.target, value, frame, node.value)
    return NEXT


def _augmented(machine: Machine, node: ast.AugAssign, frame: Frame) -> int:
    target: Any = node.target
    load = twin(target, partial(_as_load, target))
    left = EVALUATORS[type(load)](machine, load, frame)
    right = machine.evaluate(node.value, frame)
    if type(node.op) is ast.Add and unknown_containers.extended(machine, left, right):
        if _stays_in_place(machine, target, frame):
            return NEXT
        value = left
    else:
        value = operators.operate(machine, node, type(node.op), left, right, frame, in_place=True)
        value = unknown_containers.put_in_place(machine, left, value)
    reports.accumulated(machine, node, left, right, value, frame)
    if type(left) is Tensor and type(value) is Tensor and left.device == value.device:
        value = value.with_(trail=left.trail)
    assignment.assign(machine, target, value, frame, node.value)
    return NEXT


def _stays_in_place(machine: Machine, target: ast.expr, frame: Frame) -> bool:
    """Whether a list that is added to is an item of a list or dict, which has it as before."""
    if not isinstance(target, ast.Subscript):
        return False
    return type(machine.evaluate(target.value, frame)) in (ListObject, DictObject)


def _as_load(target: Any) -> ast.expr:
    """The target read: an equal expression, which is not shown since the target is."""
    if isinstance(target, ast.Name):
        found: ast.expr = ast.Name(target.id, ast.Load())
    elif isinstance(target, ast.Attribute):
        found = ast.Attribute(target.value, target.attr, ast.Load())
    else:
        found = ast.Subscript(target.value, target.slice, ast.Load())
    return ast.copy_location(found, target)


def _return(machine: Machine, node: ast.Return, frame: Frame) -> int:
    value = NONE if node.value is None else machine.evaluate(node.value, frame)
    if node.value is not None:
        reports.returned(machine, node, value, frame)
    if not frame.branch_depth and not frame.loops and not frame.try_depth:
        frame.exits.append((machine.path, value, None))
        return DEAD
    return machine.leave(frame, value, frame.exits, frame.entry_mark)


def _raise(machine: Machine, node: ast.Raise, frame: Frame) -> int:
    if node.exc is not None:
        machine.evaluate(node.exc, frame)
    frame.raised = frame.thrown = True
    frame.open_ended = frame.open_ended or _is_for_others(node.exc)
    return DEAD


def _is_for_others(exception: ast.expr | None) -> bool:
    """Whether an exception tells that another class does what is asked for."""
    named = exception.func if isinstance(exception, ast.Call) else exception
    return isinstance(named, ast.Name) and named.id == "NotImplementedError"


def _assert(machine: Machine, node: ast.Assert, frame: Frame) -> int:
    value = machine.evaluate(node.test, frame)
    reports.tested(machine, node.test, value, frame)
    condition = machine.decide(truth(value))
    frame.raised = True
    if condition is False:
        frame.open_ended = True
        return DEAD
    if not _compares_sizes(node.test, condition):
        machine.path = machine.path.assume(condition)
    narrow(machine, node.test, frame, True)
    return NEXT


def _compares_sizes(test: ast.expr, condition: Any) -> bool:
    """Whether what has to hold is that an unknown number is larger than another. That tells nothing
    of kinds: what is picked later is none that it may exclude."""
    if not isinstance(test, ast.Compare) or not all(isinstance(op, _BY_SIZE) for op in test.ops):
        return False
    counts = any(
        isinstance(each, ast.Call) and isinstance(each.func, ast.Name) for each in walk(test)
    )
    return not counts and not any(atom.named for atom in atom_set(condition))


_BY_SIZE = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def _break(machine: Machine, node: ast.Break, frame: Frame) -> int:
    if not frame.loops:
        return DEAD
    loop = frame.loops[-1]
    return machine.leave(frame, None, loop.breaks, loop.mark)


def _continue(machine: Machine, node: ast.Continue, frame: Frame) -> int:
    if not frame.loops:
        return DEAD
    loop = frame.loops[-1]
    return machine.leave(frame, None, loop.continues, loop.mark)


def _delete(machine: Machine, node: ast.Delete, frame: Frame) -> int:
    for target in node.targets:
        assignment.delete(machine, target, frame)
    return NEXT


def _function(machine: Machine, node: ast.FunctionDef, frame: Frame) -> int:
    classes.define_function(machine, node, frame)
    return NEXT


def _class(machine: Machine, node: ast.ClassDef, frame: Frame) -> int:
    classes.define_class(machine, node, frame)
    return NEXT


def _import(machine: Machine, node: ast.Import, frame: Frame) -> int:
    imports.run_import(machine, node, frame)
    return NEXT


def _import_from(machine: Machine, node: ast.ImportFrom, frame: Frame) -> int:
    imports.run_import_from(machine, node, frame)
    return NEXT


def _global(machine: Machine, node: ast.Global | ast.Nonlocal, frame: Frame) -> int:
    frame.scope.outer = frame.scope.outer | frozenset(node.names)
    return NEXT


EXECUTORS.update(
    {
        ast.Expr: _expression,
        ast.Assign: _assign,
        ast.AnnAssign: _annotated,
        ast.AugAssign: _augmented,
        ast.Return: _return,
        ast.Raise: _raise,
        ast.Assert: _assert,
        ast.Break: _break,
        ast.Continue: _continue,
        ast.Delete: _delete,
        ast.FunctionDef: _function,
        Resting: _function,
        ast.AsyncFunctionDef: _function,
        ast.ClassDef: _class,
        ast.Import: _import,
        ast.ImportFrom: _import_from,
        ast.Global: _global,
        ast.Nonlocal: _global,
    }
)
