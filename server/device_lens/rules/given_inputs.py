"""The input of a module as the caller of its `forward` gives it: it is moved there."""

from __future__ import annotations

import ast

from device_lens.fixes.edit import Fix
from device_lens.fixes.move_operand import move_operand
from device_lens.fixes.names import stores
from device_lens.fixes.place import Place
from device_lens.interpreter.facts import Conflict, Kind
from device_lens.rules.context import Context
from device_lens.syntax.names import last_name


def move_given(conflict: Conflict, context: Context) -> Fix | None:
    """`self.conv(x)` in a `forward` that gets its `x` from `net(image)` → `net(image.to(device))`.
    None where the stray operand is no parameter of a `forward`, or no device is at hand there."""
    stray, calls = conflict.stray, list(conflict.call_chain)
    if stray.is_parameter or stray.is_unpacked or not context.knows(stray.site):
        return None
    place = context.place(stray.site)
    while calls:
        given = _given(place, calls[-1].node)
        if given is None or not context.knows(calls[-1]):
            break
        place = context.place(calls.pop()).at(given)
    if len(calls) == len(conflict.call_chain):
        return None
    known = context.all_facts[place.path].expression_at(place.node)
    if known is None or known.kind is not Kind.TENSOR or known.device != stray.device:
        return None
    device = context.at_hand_in(place.path).find(conflict.other.device, place, kinds=(Kind.DEVICE,))
    return None if device is None else move_operand([place], device)


def _given(place: Place, call: ast.AST) -> ast.expr | None:
    """The same for a `forward`, whose caller calls the module."""
    function = place.function
    is_forward = isinstance(function, ast.FunctionDef) and function.name == "forward"
    return argument_for(place, call) if is_forward else None


def argument_for(place: Place, call: ast.AST) -> ast.expr | None:
    """What a call gives for the parameter that stands at the place, as it came in; None where that
    is not plain."""
    name, function = place.node, place.function
    if not isinstance(name, ast.Name) or not isinstance(function, ast.FunctionDef):
        return None
    if not isinstance(call, ast.Call) or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    if len(stores(function, name.id)) != 1:
        return None
    for keyword in call.keywords:
        if keyword.arg == name.id:
            return keyword.value
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if place.owner is not None and function in place.owner.body and not _is_static(function):
        del names[:1]
    position = names.index(name.id) if name.id in names else len(call.args)
    return call.args[position] if position < len(call.args) else None


def _is_static(function: ast.FunctionDef) -> bool:
    return any(last_name(each) == "staticmethod" for each in function.decorator_list)
