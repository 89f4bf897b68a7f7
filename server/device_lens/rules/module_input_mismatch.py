"""A module called with a tensor on another device than its parameters.

## What it does
Flags the call of a module whose parameters or buffers are on one device and whose input is on
another; the innermost call that is written in the workspace.

## Why is this bad?
The first operation inside the module that combines the two raises: `Expected all tensors to be on
the same device`, or `Input type and weight type should be the same`.

## Example
```python
model = Regressor().to(device)
y = model(torch.from_numpy(sample))
```

## Use instead
```python
model = Regressor().to(device)
y = model(torch.from_numpy(sample).to(device))
```

## Known limits
Silent where the device of either is not known, and for modules that move their input themselves.

## Fix safety
Unsafe: either the input moves to the module, or a module that never moved does so after its
creation. Which was meant is for the author to say. Of several inputs in one place all move, or the
weights of a loss do.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from device_lens.domain.device import CPU, Device, SymbolicDevice
from device_lens.domain.trail import Site
from device_lens.fixes.bindings import means_the_same
from device_lens.fixes.blocks import insert_below
from device_lens.fixes.bound_value import bound_value
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.map_container import mapped
from device_lens.fixes.move_operand import move_alike, move_operand, whole_value
from device_lens.fixes.names import own_nodes
from device_lens.fixes.place import Place
from device_lens.interpreter.facts import Certainty, Conflict, Kind, Operand
from device_lens.rules.causes import MODULE_INPUT, Cause, sides
from device_lens.rules.conflict_words import (
    SEVERITIES,
    device_of_module,
    is_of_others,
    move_fix,
    outcome,
    parameters_of,
    places,
    plain,
)
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.given_inputs import move_given
from device_lens.rules.listed_modules import is_put_together, move_listed
from device_lens.rules.losses import given_together, move_inputs, move_loss
from device_lens.rules.rule import Rule
from device_lens.rules.whence import whence
from device_lens.rules.whole_modules import move_back, move_whole
from device_lens.rules.wording import on, quoted
from device_lens.syntax.names import names_in

RULE = Rule(MODULE_INPUT, Severity.ERROR, __doc__)


@RULE.reads(Cause)
def check(cause: Cause, context: Context) -> Finding | None:
    if cause.rule != RULE.name or cause.certainty is Certainty.POSSIBLE:
        return None
    conflict = cause.leading
    parameters, tensor = sides(conflict)
    module = conflict.module_text or parameters.text
    made = "" if isinstance(tensor.device, SymbolicDevice) else whence(tensor, context)
    whose = parameters_of(module, conflict, context)
    message = (
        f"{whose[:1].upper()}{whose[1:]} are {on(parameters.device)}"
        f"{whence(parameters, context)}, but {quoted(tensor.text)} is {on(tensor.device)}"
        f"{made}: the call {outcome(conflict)}."
    )
    return context.finding(
        RULE,
        cause.site,
        message,
        module if conflict.stray.is_parameter else tensor.text,
        severity=SEVERITIES[conflict.certainty],
        related=places(cause.conflicts, context),
        fixes=lambda: _fixes(cause, conflict, parameters, tensor, context),
    )


def _fixes(
    cause: Cause,
    conflict: Conflict,
    parameters: Operand,
    tensor: Operand,
    context: Context,
) -> Iterator[Fix | None]:
    if parameters.device is CPU and is_of_others(conflict):
        # The module may be where its input is, and not what it is given.
        yield _move_others(tensor, conflict, context)
        return
    if parameters.device is CPU and not is_put_together(conflict, context):
        whole = move_back if _has_moved(parameters) else move_whole
        yield (
            whole(tensor.device, conflict, context)
            or _move_module(parameters, tensor, context)
            or _move_bound(parameters, tensor, conflict, context)
            or move_listed(conflict, tensor.device, context)
        )
    call = conflict.module_call
    if _is_moved_by_call(tensor, conflict) or call is None or call.node is not conflict.site.node:
        return  # what the module's own code names is not the input as its caller names it
    if tensor.is_unpacked:
        yield _move_created(parameters, tensor, conflict, context)
        return
    if given_together(conflict, context):
        if parameters.device is not CPU:
            yield move_loss(conflict, context) or move_inputs(cause.conflicts, context)
        return
    if not conflict.stray.is_parameter:
        yield move_given(conflict, context)
        yield move_fix(cause.conflicts, context)
    yield _move_to_module(cause.conflicts, context)


def _move_to_module(conflicts: list[Conflict], context: Context) -> Fix | None:
    """`net(x)` → `net(x.to(next(net.parameters()).device))`."""
    fixes: list[Fix] = []
    for conflict in conflicts:
        _, tensor = sides(conflict)
        device, call = device_of_module(conflict, context), conflict.module_call
        if device is None or call is None or not context.knows(tensor.site):
            return None
        fix = move_operand([context.place(tensor.site)], device)
        if fix is None or tensor.site.node is call.node:
            return None
        fixes.append(fix)
    edits = tuple(dict.fromkeys(edit for fix in fixes for edit in fix.edits))
    return replace(fixes[0], edits=edits)


def _move_others(tensor: Operand, conflict: Conflict, context: Context) -> Fix | None:
    """`functional_call(model, {k: v.to(x.device) for k, v in params.items()}, x)`: the parameters
    that the call is given, where they are in one dict, go to the input."""
    call = conflict.module_call
    if call is None or not isinstance(call.node, ast.Call) or call.path != context.facts.path:
        return None
    named = [each.value for each in call.node.keywords if each.arg == _PARAMETERS]
    given = [*call.node.args[1:2], *named]
    place = context.place(call).at(given[0]) if given else None
    if place is None or context.container_at(place) != "dict":
        return None
    device = context.at_hand.find(tensor.device, place)
    moved = None if device is None else mapped(place, ("dict",), f".to({device})")
    if moved is None:
        return None
    return Fix(f"Move what it is given: {moved}", Safety.UNSAFE, (place.replace(moved),))


_PARAMETERS = "parameter_and_buffer_dicts"
"""What PyTorch calls the argument."""


def _move_created(
    parameters: Operand, tensor: Operand, conflict: Conflict, context: Context
) -> Fix | None:
    """`.to(device)` behind what makes the values that the call unpacks, where it does not move
    them yet."""
    trail = tensor.trail
    if trail is None or trail.has_moved:
        return None
    created = trail.first.site
    if trail.first.kind not in ("created", "encoded") or not context.knows(created):
        return None
    creation = whole_value(context.place(created))
    device = context.at_hand.find(parameters.device, creation)
    if device is None and created.chunk.lineage is tensor.site.chunk.lineage:
        device = device_of_module(conflict, context)
    return None if device is None else move_operand([creation], device)


def _is_moved_by_call(tensor: Operand, conflict: Conflict) -> bool:
    """Whether a wrapper of the module moves its input itself, so that moving it before is vain."""
    trail = tensor.trail
    return trail is not None and trail.kind == "moved" and trail.site == conflict.module_call


def _has_moved(operand: Operand) -> bool:
    return operand.trail is not None and operand.trail.has_moved


def _move_module(parameters: Operand, tensor: Operand, context: Context) -> Fix | None:
    """`.to(device)` behind the creation of a module that never moved."""
    trail = parameters.trail
    if trail is None or trail.has_moved:
        return None
    created = trail.first.site
    if not context.knows(created) or created.path != context.facts.path:
        return None
    if trail.first.kind == "loaded":
        return _move_loaded(context.place(created), tensor, context)
    creation = whole_value(context.place(created), partial(_is_module, context))
    device = context.at_hand.find(tensor.device, creation)
    if device is not None:
        return move_operand([creation], device)
    alike = (_move_alike(creation, each) for each in _transfers_of(tensor, created, context))
    return next((fix for fix in alike if fix is not None), None)


def _transfers_of(tensor: Operand, created: Site, context: Context) -> Iterator[Place]:
    """The input where it is given, and where the same function, or the file itself, has moved it
    to where it is now, come what may."""
    given = context.place(tensor.site)
    yield given
    for step in tensor.trail.steps() if tensor.trail is not None else ():
        there = [each.target for each in context.facts.transfers if each.site == step.site]
        is_told = step.site.path == created.path and len(there) > 0
        if not is_told or not all(_are_one(tensor.device, device) for device in there):
            continue
        moved = context.place(step.site)
        if moved.function is given.function and not any(map(_may_not_run, moved.ancestors())):
            yield moved


def _are_one(device: object, other: object) -> bool:
    """Whether two devices are the same, where GPU 0 is the present one."""
    known = type(device) is Device and type(other) is Device
    return device == other or (known and {str(device), str(other)} == {"cuda", "cuda:0"})


def _may_not_run(around: ast.AST) -> bool:
    return isinstance(around, ast.If | ast.IfExp | ast.Try | ast.BoolOp | ast.Match)


def _move_alike(creation: Place, moved: Place) -> Fix | None:
    arguments = moved.node.args if isinstance(moved.node, ast.Call) else []
    names = {name for each in arguments for name in names_in(each)}
    readable = all(means_the_same(name, moved, creation) for name in names)
    return move_alike(creation, moved) if readable else None


def _move_loaded(loading: Place, tensor: Operand, context: Context) -> Fix | None:
    """`net.to(device)` below `net.load_state_dict(state, assign=True)`, which gives no module."""
    match loading.node:
        case ast.Call(func=ast.Attribute(value=ast.Name() | ast.Attribute() as loaded)):
            statement = loading.statement
        case _:
            return None
    known = context.facts.expression_at(loaded)
    if known is None or known.kind is not Kind.MODULE:
        return None
    if not isinstance(statement.node, ast.Expr | ast.Assign) or not plain(ast.unparse(loaded)):
        return None
    device = context.at_hand.find(tensor.device, loading, kinds=(Kind.DEVICE,))
    if device is None:
        return None
    line = f"{loading.at(loaded).text}.to({device})"
    return Fix(f"Move it: {line}", Safety.UNSAFE, (insert_below(statement, line),))


def _move_bound(
    parameters: Operand, tensor: Operand, conflict: Conflict, context: Context
) -> Fix | None:
    """`.to(device)` behind what the called name is set to, where the module was made elsewhere:
    `criterion = build(options)`, `self.net = net`; or here, of a tensor that was."""
    call = conflict.module_call
    if call is None or not isinstance(call.node, ast.Call) or call.path != context.facts.path:
        return None
    if _has_moved(parameters):
        return None
    called = context.place(call)
    value = bound_value(called.at(call.node.func))
    if value is None or not isinstance(value.node, ast.Call | ast.Name):
        return None
    known = context.facts.expression_at(value.node)
    if known is None or known.kind is not Kind.MODULE or known.device is not CPU:
        return None
    kinds = tuple(Kind) if value.function is called.function else (Kind.DEVICE,)
    device = context.at_hand.find(tensor.device, value, kinds=kinds)
    if device is None and _is_moved_by_call(tensor, conflict):
        device = _first_device(value)
    return None if device is None else move_operand([value], device)


def _first_device(wrapper: Place) -> str | None:
    """`devices[0]` of `nn.DataParallel(net, device_ids=devices)`, where the wrapper wants its
    module."""
    given = wrapper.node.keywords if isinstance(wrapper.node, ast.Call) else ()
    devices = next((each.value for each in given if each.arg == "device_ids"), None)
    if isinstance(devices, ast.List) and devices.elts:
        first = devices.elts[0]
        return None if isinstance(first, ast.Starred) else wrapper.at(first).text
    if not isinstance(devices, ast.Name | ast.Attribute):
        return None
    first_of_them = f"{wrapper.at(devices).text}[0]"  # it may be None, unless it is read so anyway
    around = wrapper.function
    read = () if around is None else own_nodes(around)
    subscripts = (each for each in read if isinstance(each, ast.Subscript))
    return first_of_them if first_of_them in map(ast.unparse, subscripts) else None


def _is_module(context: Context, call: ast.Call) -> bool:
    known = context.facts.expression_at(call)
    return known is not None and known.kind is Kind.MODULE
