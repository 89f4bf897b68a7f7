"""The whole module that a layer is part of, as the program makes it: it is moved there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from device_lens.domain.device import CPU, DeviceTree
from device_lens.domain.trail import Site, Trail
from device_lens.fixes.blocks import insert_above
from device_lens.fixes.bound_value import bound_value
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.move_operand import move_operand
from device_lens.fixes.place import Place
from device_lens.interpreter.facts import Conflict, Kind
from device_lens.rules.context import Context
from device_lens.rules.given_inputs import argument_for

_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
MOST_STEPS = 8
"""Names that are followed to where a module is made."""


def move_whole(device: DeviceTree, conflict: Conflict, context: Context) -> Fix | None:
    """`model = Net()` → `model = Net().to(device)`, where a layer of `model` meets an input on
    `device`: of the outermost module that is called on the way there and is on the host as a whole.
    None where none was made in plain sight of such a device."""
    calls = conflict.call_chain
    for position, call in enumerate(calls):
        if not isinstance(call.node, ast.Call) or not context.knows(call):
            continue
        called = context.place(call).at(call.node.func)
        if not _is_on_host(called, context):
            continue
        for made in reversed(list(_made(called, calls[:position], context))):
            text = context.at_hand_in(made.path).find(device, made, kinds=(Kind.DEVICE,))
            if text is not None:
                return move_operand([made], text)
    return None


def move_back(device: DeviceTree, conflict: Conflict, context: Context) -> Fix | None:
    """`model.to(device)` above the statement that calls `model`, which was moved to the host since
    it was made. None where no such device is at hand there, or the statement is more than that."""
    calls = [*conflict.call_chain, *filter(None, [conflict.module_call])]
    sides = (conflict.stray, conflict.other)
    for call in calls:
        if not isinstance(call.node, ast.Call) or call.path != context.facts.path:
            continue
        called = context.place(call).at(call.node.func)
        known = context.facts.expression_at(called.node)
        is_module = known is not None and known.kind is Kind.MODULE
        if not is_module or not isinstance(called.node, ast.Name | ast.Attribute):
            continue
        text = context.at_hand.find(device, called, kinds=(Kind.DEVICE,))
        if text is None or not isinstance(called.statement.node, _SIMPLE):
            return None
        if any(each.is_parameter and _was_moved_to(each.trail, text) for each in sides):
            return None  # in the case that raises, that is where it is
        line = f"{called.text}.to({text})"
        edit = insert_above(called.statement, line)
        return Fix(f"Move the module back first: {line}", Safety.UNSAFE, (edit,))
    return None


def _was_moved_to(trail: Trail | None, device: str) -> bool:
    """Whether the last step of a module's history was a move to what a text names."""
    call = None if trail is None else trail.site.node
    return isinstance(call, ast.Call) and any(ast.unparse(each) == device for each in call.args)


def _made(reader: Place, calls: Sequence[Site], context: Context) -> Iterator[Place]:
    """What a name is set to, and what that is set to, through the arguments of `calls`."""
    remaining = list(calls)
    for _ in range(MOST_STEPS):
        value = bound_value(reader)
        if value is None:
            given = argument_for(reader, remaining[-1].node) if remaining else None
            if given is None or not context.knows(remaining[-1]):
                return
            value = context.place(remaining.pop()).at(given)
        elif not _is_on_host(value, context):
            return
        else:
            yield value
        reader = value


def _is_on_host(place: Place, context: Context) -> bool:
    """Whether an expression is a module of which all is on the host."""
    known = context.all_facts[place.path].expression_at(place.node)
    return known is not None and known.kind is Kind.MODULE and known.device is CPU
