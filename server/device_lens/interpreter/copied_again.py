"""Copies that a function makes of the same tensor each time that a loop calls it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.heap import ModuleObject
from device_lens.domain.values import Tensor
from device_lens.interpreter import frequency, scan
from device_lens.interpreter.facts import Repeated

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine

_CHANGED = "_words_changed"
"""The entry of a chunk's statement under which the names are kept that its functions change."""


def repeated_by(machine: Machine, node: ast.Call, tensor: Tensor, frame: Frame) -> Repeated | None:
    """The loop of a caller through which what a call moves stays as it is: a global name that
    nothing changes, an attribute that `__init__` alone sets, or what a caller hands on from outside
    of its loop. What requires grad an optimizer may change."""
    if frame.loops or tensor.requires_grad is not False or not isinstance(node.func, ast.Attribute):
        return None
    found = _named(node.func.value)
    if found is None or _is_part(frame, *found):
        return None
    repeated = frequency.repeated_by(machine, node, frame)
    return repeated if repeated is not None and _is_the_same(frame, *found) else None


def _named(node: ast.expr) -> tuple[str, list[str]] | None:
    """A name with the attributes that are read of it, outermost first."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    return (node.id, attributes[::-1]) if isinstance(node, ast.Name) else None


def _is_part(frame: Frame, name: str, attributes: list[str]) -> bool:
    """Whether it is an attribute of a module, of which `PlainAttribute` tells."""
    return bool(attributes) and type(frame.scope.names.get(name)) is ModuleObject


def _is_the_same(frame: Frame, name: str, attributes: list[str]) -> bool:
    """Whether `name.attributes` in a frame is the same in each pass of the loop that calls it. No
    branch on the way leaves the call out."""
    inner, is_global = frame, False
    while not inner.loops:
        function, caller = inner.function, inner.parent
        if function is None or caller is None or inner.exits or inner.open_branches:
            return False
        own = scan.loop_info(function.node)
        if not {name, *attributes}.isdisjoint(_changed_in(inner)) or name in own.names:
            return False
        parameters = _parameters(function.node)
        if not is_global and name in parameters:
            given = _argument(inner.call_site, function, parameters, name)
            place = _named(given) if given is not None else None
            if place is None:
                return False
            name, attributes = place[0], [*place[1], *attributes]
        elif not is_global:
            if name in inner.scope.names:
                return False
            is_global = True
        inner = caller
    record = inner.loops[-1]
    info = scan.loop_info(record.node)
    texts = {".".join([name, *attributes[:count]]) for count in range(len(attributes) + 1)}
    changes = info.names | info.places | info.mutated
    return inner.open_branches <= record.depth and texts.isdisjoint(changes)


def _parameters(node: Any) -> list[str]:
    given = node.args
    return [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _argument(call: Any, function: Any, parameters: list[str], name: str) -> ast.expr | None:
    """What a call gives for a parameter; None where that is not plain."""
    if not isinstance(call, ast.Call) or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    place = parameters.index(name)
    if function.owner is not None:
        if place == 0:
            own = isinstance(call.func, ast.Attribute) and call.func.attr == function.name
            return call.func.value if own and isinstance(call.func, ast.Attribute) else call.func
        place -= 1
    return call.args[place] if place < len(call.args) else None


def _changed_in(frame: Frame) -> set[str]:
    """The last words of what the functions of a frame's file change, `__init__` apart: names of the
    file, attributes, what is written into."""
    words: set[str] = set()
    for chunk in frame.namespace.file.chunks:
        for statement in chunk.body:
            known: frozenset[str] | None = statement.__dict__.get(_CHANGED)
            if known is None:
                known = statement.__dict__[_CHANGED] = _changed(statement)
            words |= known
    return words


def _changed(statement: ast.stmt) -> frozenset[str]:
    functions = (
        node
        for node in ast.walk(statement)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name != "__init__"
    )
    found: set[str] = set()
    for function in functions:
        info = scan.loop_info(function)
        found |= {text.rpartition(".")[2] for text in (*info.places, *info.mutated)}
        found |= scan.globals_of(function)
    return frozenset(found)
