"""Copies that a function makes of the same tensor each time that a loop calls it."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import BoundMethod, ClassValue, Function
from device_lens.domain.heap import Instance, ModuleObject
from device_lens.domain.values import Tensor
from device_lens.interpreter import frequency, scan
from device_lens.interpreter.facts import Repeated
from device_lens.interpreter.places import changes_in
from device_lens.syntax.names import last_name

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine


def repeated_by(machine: Machine, node: ast.Call, tensor: Tensor, frame: Frame) -> Repeated | None:
    """The loop of a caller through which what a call moves stays as it is: a global name, an
    attribute, or what a caller hands on from outside of its loop, unless a function on the way or
    the loop changes it. What requires grad an optimizer may change."""
    if frame.loops or tensor.requires_grad is not False or not isinstance(node.func, ast.Attribute):
        return None
    found = _named(node.func.value)
    if found is None or _is_part(frame, *found):
        return None
    repeated = frequency.repeated_by(machine, node, frame)
    words = _read_on_the_way(frame, *found) if repeated is not None else None
    return None if repeated is None or words is None else replace(repeated, words=words)


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


def _read_on_the_way(frame: Frame, name: str, attributes: list[str]) -> frozenset[str] | None:
    """The names and attributes by which `name.attributes` comes into a frame, up to the loop that
    calls it; None where it may be another one in each pass, or a branch leaves the call out."""
    inner, is_global, call = frame, False, frame.call_site
    words: set[str] = set()
    while not inner.loops:
        function, caller = inner.function, inner.parent
        if function is None or caller is None or inner.exits or inner.open_branches:
            return None
        if name in scan.loop_info(function.node).names:
            return None
        words |= {name, *attributes}
        parameters = _parameters(function.node)
        if not is_global and name in parameters:
            direct = _is_called_itself(inner.call_site, function, caller)
            given = _argument(inner.call_site, function, parameters, name) if direct else None
            place = _named(given) if given is not None else None
            if place is None:
                return None
            name, attributes = place[0], [*place[1], *attributes]
        elif not is_global:
            if name in inner.scope.names:
                return None
            is_global = True
        inner, call = caller, inner.call_site
    record = inner.loops[-1]
    info = changes_in(record)
    texts = {".".join([name, *attributes[:count]]) for count in range(len(attributes) + 1)}
    if info is not None and not texts.isdisjoint(info.mutated):
        info = changes_in(record, call)  # the method that was run may be called `step`
    if info is None:
        return None
    changes = info.names | info.places | info.mutated
    is_same = inner.open_branches <= record.depth and texts.isdisjoint(changes)
    return frozenset(words) if is_same else None


def _parameters(node: Any) -> list[str]:
    given = node.args
    return [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _is_called_itself(call: Any, function: Any, caller: Frame) -> bool:
    """Whether a call gives its arguments to the function that it runs: `map(f, xs)` gives `f` what
    it likes."""
    if not isinstance(call, ast.Call):
        return False
    if last_name(call.func) == function.name:
        return True
    if isinstance(call.func, ast.Name):
        tables = (caller.scope.names, caller.namespace.scope.names)
        value = next((table[call.func.id] for table in tables if call.func.id in table), None)
        code = value.function if type(value) is BoundMethod else value
        if type(code) is Function:
            return code.node is function.node
        return type(value) is ClassValue or isinstance(value, Instance)
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    is_own = function.name in ("forward", "__call__", "__init__")
    return is_own and all(last_name(each) != function.name for each in given)


def _argument(call: Any, function: Any, parameters: list[str], name: str) -> ast.expr | None:
    """What a call gives for a parameter; None where that is not plain."""
    if not isinstance(call, ast.Call) or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    place = parameters.index(name)
    if function.owner is not None and function.kind != "static":
        if place == 0:
            match call.func:
                case ast.Attribute(value=receiver, attr=method) if method == function.name:
                    return receiver
            return call.func
        place -= 1
    return call.args[place] if place < len(call.args) else None
