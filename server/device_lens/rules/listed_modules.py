"""Modules of one list, each of which is called in a loop or comprehension."""

from __future__ import annotations

import ast

from device_lens.domain.device import CPU, DeviceTree
from device_lens.fixes.bound_value import binders, bound_value
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.map_container import mapped
from device_lens.fixes.move_operand import move_operand
from device_lens.fixes.place import Place
from device_lens.interpreter.facts import Conflict, Kind
from device_lens.rules.context import Context
from device_lens.syntax.names import names_in
from device_lens.syntax.sharing import ADDERS
from device_lens.syntax.walking import walk


def move_listed(conflict: Conflict, device: DeviceTree, context: Context) -> Fix | None:
    """`losses = [t.to(device) for t in build(names)]`, where each of `losses` is called and has
    never moved."""
    through = _list_of_called(conflict, context)
    call = conflict.module_call
    if through is None or call is None or not isinstance(call.node, ast.Call):
        return None
    known = context.facts.expression_at(call.node.func)
    if known is None or known.kind is not Kind.MODULE or known.device is not CPU:
        return None
    value = bound_value(through)
    if value is None or value.function is not through.function or not _is_made(value.node):
        return None
    if context.container_at(through) != "list" or _grows(through):
        return None
    there = context.at_hand.find(device, value)
    if there is not None and isinstance(value.node, ast.ListComp):
        return move_operand([value.at(value.node.elt)], there)
    text = None if there is None else mapped(value, ("list",), f".to({there})")
    if text is None:
        return None
    return Fix(f"Move each of them: {text}", Safety.UNSAFE, (value.replace(text),))


def is_put_together(conflict: Conflict, context: Context) -> bool:
    """Whether the called module is one of a list that has some from where it is made and takes in
    others below: to move those that are made at one place does not do."""
    through = _list_of_called(conflict, context)
    value = None if through is None or not _grows(through) else bound_value(through)
    return value is not None and _is_made(value.node)


def _list_of_called(conflict: Conflict, context: Context) -> Place | None:
    """The name of the list whose modules are called one by one."""
    call = conflict.module_call
    if call is None or not isinstance(call.node, ast.Call) or call.path != context.facts.path:
        return None
    return _gone_through(context.place(call).at(call.node.func))


def _gone_through(name: Place) -> Place | None:
    """`losses` of the comprehension or loop around a place whose variable a name is, which it
    binds alone."""
    if not isinstance(name.node, ast.Name):
        return None
    for around in name.ancestors():
        loops = getattr(around, "generators", [around] if isinstance(around, ast.For) else [])
        for loop in loops:
            if name.node.id not in names_in(loop.target):
                continue
            plain = isinstance(loop.target, ast.Name) and isinstance(loop.iter, ast.Name)
            within = {id(node) for node in walk(around)}
            bound = [each for each in binders(name, name.node.id) if id(each.node) in within]
            return name.at(loop.iter) if plain and len(bound) == 1 else None
    return None


def _grows(name: Place) -> bool:
    """Whether something is put into a list under its name."""
    roots = name.top_level if name.function is None else (name.function,)
    text = ast.unparse(name.node)
    return any(
        isinstance(node, ast.Attribute) and node.attr in ADDERS and ast.unparse(node.value) == text
        for root in roots
        for node in walk(root)
    )


def _is_made(node: ast.AST) -> bool:
    """Whether an expression gives a list that is filled."""
    return isinstance(node, ast.Call | ast.ListComp) or (
        isinstance(node, ast.List) and len(node.elts) > 0
    )
