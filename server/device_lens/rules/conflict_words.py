"""What the rules about mixed devices share: sentences, related places and the usual fix."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from device_lens.domain.device import CPU, UNKNOWN_DEVICE, DeviceTree
from device_lens.domain.guard import Guarded
from device_lens.fixes.edit import Edit, Fix, Safety
from device_lens.fixes.map_container import mapped
from device_lens.fixes.move_operand import (
    innermost,
    is_changed,
    is_kept,
    move_operand,
    move_to_host,
)
from device_lens.fixes.names import is_local, of_comprehension
from device_lens.fixes.place import Place
from device_lens.interpreter.facts import Certainty, Conflict, Expression, Kind, Operand
from device_lens.rules.at_hand import matches
from device_lens.rules.context import Context
from device_lens.rules.finding import Related, Severity
from device_lens.rules.whence import is_moved_since, whence
from device_lens.rules.wording import leaf, on, quoted, telling_step, when
from device_lens.syntax.names import last_name

SEVERITIES = {
    Certainty.SURE: Severity.ERROR,
    Certainty.EVIDENCED: Severity.WARNING,
    Certainty.POSSIBLE: Severity.HINT,
}


def side(operand: Operand, conflict: Conflict, context: Context) -> str:
    """`` `x` is on the CPU (created by torch.zeros, line 3)``; a parameter by its module."""
    where = f"{on(operand.device)}{whence(operand, context)}"
    if operand.is_parameter and conflict.module_text is not None:
        return f"{parameters_of(conflict.module_text, conflict, context)} are {where}"
    return f"{quoted(operand.text)} is {where}"


def parameters_of(module: str, conflict: Conflict, context: Context) -> str:
    """``the parameters of `net` ``, or what is given in their place."""
    whose = "given for" if is_of_others(conflict) else "of"
    which = "some" if is_of_part(conflict, context) else "the"
    return f"{which} {state_of(conflict, context)} {whose} {quoted(module)}"


def is_of_part(conflict: Conflict, context: Context) -> bool:
    """Whether the parts of the called module are in several places: it is nowhere as a whole."""
    known = _module(conflict, context)
    return known is not None and known.kind is Kind.MODULE and known.device is UNKNOWN_DEVICE


def is_of_others(conflict: Conflict) -> bool:
    """Whether a module runs on parameters that it is given in place of its own."""
    call = conflict.module_call
    node = call.node if call is not None else None
    return isinstance(node, ast.Call) and last_name(node.func) == "functional_call"


def operation(conflict: Conflict) -> str:
    return quoted(conflict.operation)


def outcome(conflict: Conflict) -> str:
    """What the line does at run time."""
    if conflict.certainty is Certainty.SURE:
        return f"raises{when(conflict.condition)}"
    return "raises on any other device than the CPU"


def places(conflicts: Iterable[Conflict], context: Context) -> list[Related]:
    """Where the conflicts are, who called, and how both values got where they are."""
    found: list[Related] = []
    for conflict in conflicts:
        found += context.related(conflict.site, f"{operation(conflict)} {outcome(conflict)} here")
        for operand in (conflict.stray, conflict.other):
            name = conflict.module_text if operand.is_parameter else None
            if not is_moved_since(operand):
                found += context.history(name or operand.text, operand.trail)
        for call in reversed(conflict.call_chain):
            found += context.related(call, "called from here")
    return found


def move_fix(conflicts: list[Conflict], context: Context) -> Fix | None:
    """Moves the stray operand of each conflict to the device of the other one; where the stray one
    is changed in place, or follows a device that is not always that one, the other to it."""
    movable = [_movable(each, context) for each in conflicts]
    pairs = [each for each in movable if each is not None]
    if len(pairs) != len(movable):
        return None
    strays = [context.place(stray.site) for stray, _ in pairs]
    if conflicts[0].wants_cpu:
        return move_to_host(strays)
    fixes: list[Fix] = []
    moved = [place.node for place in innermost(strays)]
    for place, (_, other), conflict in zip(strays, pairs, conflicts, strict=True):
        if not any(place.node is node for node in moved):
            continue
        if other is conflict.stray and _is_indexed(conflict, context):
            fix = _to_indexed(place, other, context)
        else:
            device = target_device(other, place, conflict, context)
            root = root_of(place.node)
            asks_itself = isinstance(root, ast.Name) and device == f"{root.id}.device"
            again = _again(place) if len(strays) == 1 else [place]
            fix = None if device is None or asks_itself else move_operand(again, device)
            if device is None:
                fix = _to_the_stray(place, other, conflict, context)
        if fix is None:
            return None
        fixes.append(fix)
    edits = tuple(dict.fromkeys(edit for fix in fixes for edit in fix.edits))
    return Fix(fixes[0].title, fixes[0].safety, edits)


def _again(item: Place) -> list[Place]:
    """The places where a list or tuple has the same name as an item: `[y, x, y]`."""
    around = item.parent
    if not isinstance(item.node, ast.Name) or not isinstance(around, ast.List | ast.Tuple):
        return [item]
    return [item.at(each) for each in around.elts if getattr(each, "id", "") == item.node.id]


def _to_the_stray(stray: Place, other: Operand, conflict: Conflict, context: Context) -> Fix | None:
    """Moves the other operand to a stray one that hangs on conditions, as the device does that the
    program has for it: nothing names one that the other is on in all cases."""
    if other is not conflict.other or type(_device_at(stray, context)) is not Guarded:
        return None
    written = context.knows(other.site) and not (other.is_parameter or other.is_unpacked)
    if not written or not isinstance(other.site.node, ast.expr) or not _is_tensor(other, context):
        return None
    place, operation = context.place(other.site), context.place(conflict.site)
    if place.node is operation.node or is_changed(operation, place.node):
        return None
    device = followed(conflict.stray, context)
    return None if device is None else move_operand([place], device)


def _device_at(place: Place, context: Context) -> DeviceTree | None:
    """Where what stands at a place is, in each case."""
    known = context.all_facts[place.path].expression_at(place.node)
    return None if known is None else known.device


def move_each(conflicts: list[Conflict], context: Context) -> Fix | None:
    """Moves each tensor of the tuples that stray to the device of what they meet."""
    edits: dict[Edit, None] = {}
    for conflict in conflicts:
        stray = conflict.stray
        if not context.knows(stray.site) or not plain(context.text(stray.site)):
            return None
        place = context.place(stray.site)
        device = target_device(conflict.other, place, conflict, context)
        moved = None if device is None else mapped(place, ("tuple",), f".to({device})")
        if moved is None:
            return None
        edits[place.replace(moved)] = None
    return Fix("Move each tensor where it is used", Safety.UNSAFE, tuple(edits)) if edits else None


_AMONG_PROCESSES = "torch.distributed."


def _movable(conflict: Conflict, context: Context) -> tuple[Operand, Operand] | None:
    """The operand to move and the one to follow; None where it is not written at the operation, or
    where that gives its result in the operand, of which a copy would be lost."""
    if conflict.operation.startswith(_AMONG_PROCESSES):
        return None
    stray, other = conflict.stray, conflict.other
    if context.knows(conflict.site) and not conflict.wants_cpu:
        place = context.place(conflict.site)
        node = stray.site.node
        changed = is_changed(place, node) or is_kept(place, node)
        if changed or _is_indexed(conflict, context):
            stray, other = other, stray
    written = context.knows(stray.site) and not (stray.is_parameter or stray.is_unpacked)
    written = written and stray.site.node is not conflict.site.node and _is_tensor(stray, context)
    return (stray, other) if written and isinstance(stray.site.node, ast.expr) else None


def _is_indexed(conflict: Conflict, context: Context) -> bool:
    """Whether the stray is what the program itself took to the host, and the other operand an index
    into it: the small one goes where the large one is kept."""
    stray, node = conflict.stray, conflict.site.node
    step = telling_step(stray.trail)
    if stray.device is not CPU or step is None or step.kind != "moved":
        return False
    if not isinstance(node, ast.Subscript) or stray.site.node is not node.value:
        return False
    return any(conflict.other.site.node is each for each in ast.walk(node.slice))


def _to_indexed(index: Place, indexed: Operand, context: Context) -> Fix | None:
    text = followed(indexed, context) if plain(context.text(indexed.site)) else None
    return move_to_host([index]) if text is None else move_operand([index], text)


def target_device(other: Operand, place: Place, conflict: Conflict, context: Context) -> str | None:
    """An expression, at the place of the operand that moves, of the device of the other one."""
    if not other.is_parameter and context.knows(other.site):
        text = followed(other, context)
        if text is not None:
            return text
    own = _device_at(place, context)
    if other.is_parameter and conflict.module_text is not None and plain(conflict.module_text):
        device = context.at_hand.find(other.device, place, (Kind.DEVICE,), own)
        if device is None or (place.owner is not None and is_of_around(device, place)):
            return device_of_module(conflict, context) or device
        return device
    device = context.at_hand.find(other.device, place, own=own)
    if device is not None and device.endswith(".device"):
        return _of_item(other, context) or device
    if device is None or device.startswith("next(") or is_of_around(device, place):
        return _of_item(other, context) or of_part(other, context) or device
    return device


def is_of_around(device: str, place: Place) -> bool:
    """Whether a function names a device of what is around it: its callers may be elsewhere."""
    base, function = device.partition(".")[0], place.function
    return function is not None and base != "self" and not is_local(function, base)


def device_of_module(conflict: Conflict, context: Context) -> str | None:
    """An expression of the device of the called module; None where the text names no module."""
    call, text = conflict.module_call, conflict.module_text
    if call is None or text is None or not plain(text) or not isinstance(call.node, ast.Call):
        return None
    known = _module(conflict, context)
    if known is not None and known.kind is not Kind.MODULE:
        return None
    if is_of_part(conflict, context):
        return None  # the first of them may be elsewhere
    if known is not None and not (known.parameter_count or known.bytes):
        return None  # it has neither to ask, or its parts are not known any more
    if known is not None and known.is_bare_at_times:
        return None  # it has neither to ask yet
    return f"next({text}.{state_of(conflict, context)}()).device"


def _module(conflict: Conflict, context: Context) -> Expression | None:
    """What is known of the called module."""
    call = conflict.module_call
    facts = None if call is None else context.all_facts.get(call.path)
    if call is None or facts is None or not isinstance(call.node, ast.Call):
        return None
    called = call.node.func
    if isinstance(called, ast.Attribute) and ast.unparse(called) != conflict.module_text:
        called = called.value
    return facts.expression_at(called)


def state_of(conflict: Conflict, context: Context) -> str:
    """What the called module has of its own that can be on a device."""
    known = _module(conflict, context)
    return "buffers" if known is not None and known.has_buffers_alone else "parameters"


def plain(text: str) -> bool:
    """Whether a text is a name or a chain of attributes, which can be written twice."""
    return all(part.isidentifier() for part in text.split("."))


def followed(other: Operand, context: Context) -> str | None:
    """`x.device` for a tensor that can be written twice, `device` for one that is made with
    `device=device` where it is used."""
    text = context.text(other.site)
    if plain(text):
        return f"{text}.device" if _is_tensor(other, context) else None
    return _asked_for(other, context)


def _of_item(other: Operand, context: Context) -> str | None:
    """`sums[key].device` for a tensor that a container of a plain name holds, and for what changes
    it in place: `sums[key].mul_(0.9)`."""
    node = other.site.node
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if not node.func.attr.endswith("_"):
            return None
        node = node.func.value
    if not isinstance(node, ast.Subscript) or not context.knows(other.site):
        return None
    if not plain(ast.unparse(node.value)) or not plain(ast.unparse(node.slice)):
        return None
    holds = context.all_facts[other.site.path].expression_at(node.value)
    if holds is None or holds.kind is not Kind.CONTAINER:
        return None
    if isinstance(node.ctx, ast.Load) and not _is_tensor(other, context):
        return None
    return f"{ast.unparse(node)}.device"


_MOVERS = ("to", "cuda", "cpu", "xpu", "mps", "type", "type_as")


def _of_root(other: Operand, context: Context) -> str | None:
    """`y.device` for `y.abs()[0]`."""
    root = root_of(other.site.node)
    known = None if root is None else context.all_facts[other.site.path].expression_at(root)
    is_tensor = known is not None and known.kind is Kind.TENSOR
    return f"{root.id}.device" if is_tensor and isinstance(root, ast.Name) else None


def _of_input(other: Operand, context: Context) -> str | None:
    """`x.device` for `self.layer(x)`: the layer runs where its input is."""
    call, facts = other.site.node, context.all_facts[other.site.path]
    if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
        return None
    layer, given = facts.expression_at(call.func), call.args[0]
    known = facts.expression_at(given) if isinstance(given, ast.Name) else None
    if layer is None or layer.kind is not Kind.MODULE:
        return None
    if known is None or known.kind is not Kind.TENSOR:
        return None
    same = leaf(known.device) is UNKNOWN_DEVICE or matches(known.device, other.device)
    return f"{ast.unparse(given)}.device" if same else None


def root_of(node: ast.AST) -> ast.AST | None:
    """`y` of `y.abs()[0]`: methods leave a tensor where it is, unless they move it."""
    while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute) and node.attr in _MOVERS:
            return None
        if isinstance(node, ast.Call) and not isinstance(node.func, ast.Attribute):
            return None
        node = node.func if isinstance(node, ast.Call) else node.value
    return node


def of_part(other: Operand, context: Context) -> str | None:
    """`scores.device` for `scores / heat`: of a tensor with a name that the operand is computed
    from and that came where it is on the same way."""
    trail = other.trail
    if trail is None or not context.knows(other.site):
        return None
    root = _of_root(other, context) or _of_input(other, context)
    if root is not None:
        return root
    facts = context.all_facts[other.site.path]
    for node in ast.walk(other.site.node):
        if not isinstance(node, ast.Name | ast.Attribute) or not plain(ast.unparse(node)):
            continue
        known = facts.expression_at(node)
        if known is None or known.kind is not Kind.TENSOR or not trail.tells_the_same(known.trail):
            continue
        if not isinstance(node, ast.Name) or not of_comprehension(
            context.place(other.site).at(node), node.id
        ):
            return f"{ast.unparse(node)}.device"
    return None


def _asked_for(other: Operand, context: Context) -> str | None:
    """The device that the operand, which is the call of a factory, names."""
    call, trail = other.site.node, other.trail
    if not isinstance(call, ast.Call) or trail is None or trail.kind != "created":
        return None
    if trail.site.node is not call:
        return None
    for keyword in call.keywords:
        if keyword.arg == "device" and isinstance(keyword.value, (ast.Name, ast.Attribute)):
            device = ast.unparse(keyword.value)
            return device if plain(device) else None
    return None


def _is_tensor(operand: Operand, context: Context) -> bool:
    """Whether the expression is the tensor each time, not an object that holds it."""
    if not operand.is_always_tensor:
        return False
    known = context.all_facts[operand.site.path].expression_at(operand.site.node)
    return known is not None and known.kind is Kind.TENSOR
