"""Moved tensors that an assignment keeps under a name which nothing reads: `_ = x.to(device)`, and
`x = x.to(device)` in a function that gives nothing back, of its own parameter."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from device_lens.interpreter.facts import Kind
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine

_NOBODY = "_"
_LOST = "_assignments_that_are_lost"
"""The entry of a function under which its assignments are kept that nothing reads."""
_GIVES = (ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def assigned(machine: Machine, node: ast.Assign, frame: Frame) -> None:
    """Marks the transfer of an assignment whose result nothing reads."""
    if not isinstance(node.value, ast.Call) or node.value not in machine.findings.transfers:
        return
    function = frame.function.node if frame.function is not None else None
    if isinstance(function, _FUNCTIONS):
        known: frozenset[ast.AST] | None = function.__dict__.get(_LOST)
        if known is None:
            known = function.__dict__[_LOST] = frozenset(_lost(function))
        if node not in known:
            return
    elif not _keeps_for_nobody(node):
        return
    fact = machine.findings.transfers[node.value]
    if not fact.moves or fact.redundant or fact.in_place or fact.kind is not Kind.TENSOR:
        return
    fact.lost = True
    for trail in (fact.trail, *fact.further):
        if trail is not None:
            machine.shared.setdefault(("discarded", id(trail)), fact.site)


def _lost(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.Assign]:
    """The assignments of a function that nothing reads, by its text."""
    nodes = list(walk(function))
    own = [(_mover(each), each) for each in nodes if isinstance(each, ast.Assign)]
    moved = {id(mover) for mover, _ in own}
    read = {
        each.id
        for each in nodes
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and id(each) not in moved
    }
    gives = any(
        isinstance(each, _GIVES) or (isinstance(each, ast.Return) and each.value is not None)
        for each in nodes
    )
    given = _parameters(function)
    for mover, statement in own:
        if _keeps_for_nobody(statement):
            if _NOBODY not in read:
                yield statement
        elif mover is not None and mover.id in given - read and not gives:
            yield statement


def _keeps_for_nobody(node: ast.Assign) -> bool:
    match node.targets:
        case [ast.Name(id=name)]:
            return name == _NOBODY
    return False


def _mover(node: ast.Assign) -> ast.Name | None:
    """The `x` that is moved in `x = x.to(device)`."""
    match node:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Call(func=ast.Attribute(value=ast.Name() as moved)),
        ):
            return moved if moved.id == name else None
    return None


def _parameters(function: Any) -> set[str]:
    given = function.args
    return {each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
