"""A call of a module with several tensors that are in one place: of a loss the weights are what
goes there, else all of the tensors go to the module."""

from __future__ import annotations

import ast
from functools import partial

from device_lens.domain.device import CPU
from device_lens.fixes.edit import Fix
from device_lens.fixes.move_operand import move_operand, whole_value
from device_lens.fixes.place import Place
from device_lens.fixes.transfer_call import read_transfer
from device_lens.interpreter.facts import Conflict, Kind
from device_lens.rules.at_hand import matches
from device_lens.rules.causes import sides
from device_lens.rules.conflict_words import move_fix, state_of, target_device
from device_lens.rules.context import Context


def given_together(conflict: Conflict, context: Context) -> list[Place]:
    """The arguments of a module's call, where several of them are tensors and all of these are on
    the device of the one that strays; else empty."""
    call, (_, tensor) = conflict.module_call, sides(conflict)
    if call is None or not isinstance(call.node, ast.Call) or not context.knows(call):
        return []
    place, facts = context.place(call), context.all_facts[call.path]
    given = [*call.node.args, *(each.value for each in call.node.keywords)]
    tensors = [
        place.at(each)
        for each in given
        if (known := facts.expression_at(each)) is not None
        and known.kind is Kind.TENSOR
        and matches(known.device, tensor.device)
    ]
    found = any(each.node is tensor.site.node for each in tensors)
    return tensors if found and len(tensors) > 1 else []


def move_loss(conflict: Conflict, context: Context) -> Fix | None:
    """`criterion.to("cuda:1")` → `criterion.to(next(net.parameters()).device)`, where a module
    without parameters is on another accelerator than all that it is called with: where it was moved
    last, or where it was made. None for any other module, and where no such device is at hand."""
    parameters, tensor = sides(conflict)
    trail = parameters.trail
    if trail is None or CPU in (parameters.device, tensor.device):
        return None
    if state_of(conflict, context) != "buffers":
        return None
    site = trail.site if trail.has_moved else trail.first.site
    if site.path != context.facts.path or not context.knows(site):
        return None
    place = context.place(site)
    if not trail.has_moved:
        place = whole_value(place, partial(_is_module, context))
    elif trail.kind != "moved" or read_transfer(place) is None:
        return None
    device = context.at_hand.find(tensor.device, place)
    return None if device is None else move_operand([place], device)


def move_inputs(conflicts: list[Conflict], context: Context) -> Fix | None:
    """Moves what the calls are given to the module, all of it where it is in one place."""
    fixes: list[Fix] = []
    for conflict in conflicts:
        places = given_together(conflict, context)
        if places:
            parameters, _ = sides(conflict)
            device = target_device(parameters, places[0], conflict, context)
            fix = None if device is None else move_operand(places, device)
        else:
            fix = move_fix([conflict], context)
        if fix is None:
            return None
        fixes.append(fix)
    edits = tuple(dict.fromkeys(edit for fix in fixes for edit in fix.edits))
    return Fix(fixes[0].title, fixes[0].safety, edits)


def _is_module(context: Context, call: ast.Call) -> bool:
    known = context.facts.expression_at(call)
    return known is not None and known.kind is Kind.MODULE
