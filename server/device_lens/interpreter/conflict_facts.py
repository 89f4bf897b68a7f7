"""Facts about operands that do not share a device."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.atom import WHICH_ITEM
from device_lens.domain.condition import exclude, together
from device_lens.domain.device import (
    CONTESTED,
    CPU,
    Agreement,
    Device,
    SymbolicDevice,
    agree,
    is_accelerator,
)
from device_lens.domain.guard import Guarded, Literals, assume_all, atom_set
from device_lens.domain.heap import ModuleObject
from device_lens.domain.trail import Site, Trail
from device_lens.domain.values import Tensor
from device_lens.interpreter import cuda_facts, existence, lent_places, places, shape_tests
from device_lens.interpreter.container_parts import kept_in, keys_around
from device_lens.interpreter.facts import Certainty, Conflict, Kind, Operand, Origin
from device_lens.interpreter.followed_devices import followed, with_followed
from device_lens.interpreter.now_and_then import cannot_be, may_be_apart_in_time
from device_lens.interpreter.part_facts import OwnPart, own_part
from device_lens.interpreter.strays import LOST_MOVES, order, stands_in
from device_lens.models.call import tensor_of
from device_lens.models.torch.like import TAKING_AFTER
from device_lens.syntax.names import last_name

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine

_CALLING = ("forward", "__call__", "generate", "update")
"""Methods that run the module itself; a metric is updated."""


def conflict(
    machine: Machine,
    operation: str,
    left: tuple[Any, int | str],
    right: tuple[Any, int | str],
    literals: Literals,
    wants_cpu: bool,
) -> None:
    """Writes a conflict down, unless a test expects an error, or it rests on a condition without
    words, on there being no accelerator, or on two that no machine has, on what the path excludes,
    or in what was picked, or is run, by a condition that another one may exclude. In a handler for
    values of another kind these may be such values, and where the path has asked which object
    something is, it may be another one."""
    if machine.globals["expecting"] or machine.pick.is_doubtful:
        return
    if any(atom.text == WHICH_ITEM for atom, _ in machine.path.literals):
        return
    if places.without_accelerator(literals):
        return
    if _may_be_told_apart(machine, literals):
        return
    if not all(atom.named or atom.goes_both_ways for atom, _ in literals):
        return
    if cannot_be(machine, literals):
        return
    if places.on_no_machine(machine, literals):
        return
    if existence.contradicts(machine, literals) or existence.may_be_excluded(machine, literals):
        return
    if not machine.path.allows(literals):
        return
    node, frame = machine.active_place()
    if frame is machine.recorder.telling_apart:
        return
    first = _operand(machine, left, literals, node, frame)
    second = _operand(machine, right, literals, node, frame)
    if first is None or second is None or _decided_together(machine, first, second, literals):
        return
    if any(places.is_absent(machine, each.device, literals) for each in (first, second)):
        return
    if may_be_apart_in_time(machine, (first, second), literals):
        return
    part = None
    if not (first.is_parameter or second.is_parameter or wants_cpu):
        part = _as_part(machine, first, second)
    stray, other = order(first, second, wants_cpu, frame)
    certainty = _certainty(stray, other)
    if certainty is None and _is_made_beside_input(machine, stray, other, node, frame):
        certainty = Certainty.EVIDENCED
        stray, other = (stray, other) if stray.is_parameter else (other, stray)
    if certainty is None:
        return
    if stray.origin.kind == "plain-attribute" and shape_tests.are_alike(
        machine, stray.text, other.text
    ):
        return
    if not wants_cpu:
        stray.origin = _of_container(machine, stray, other) or stray.origin
        stray.origin.keys = keys_around(machine, stray.trail) | keys_around(machine, other.trail)
    if certainty is Certainty.SURE:
        _forget_written(machine, node, frame)
    key = machine.findings.place_of(node, stray.origin, certainty)
    if key is None:
        return
    machine.findings.conflicts[key] = Conflict(
        machine.site(node, frame),
        operation,
        stray,
        other,
        certainty,
        places.condition_text(machine, literals),
        module_call=part.call if part else _module_call(machine, node, frame, (left, right)),
        module_text=part.text if part else _module_text(machine, node, left, right),
        wants_cpu=wants_cpu,
        call_chain=_call_chain(machine, frame),
    )


def _may_be_told_apart(machine: Machine, literals: Literals) -> bool:
    """Whether chance or a loop's turn decides, and the path has asked something since of which
    nobody knows what it hangs on: `if tag == "gpu"` may be the answer to how that fell."""
    drawn = [atom.order for atom, _ in literals if atom.goes_both_ways]
    return bool(drawn) and any(
        not (atom.named or atom.goes_both_ways) and atom.order > min(drawn)
        for atom, _ in machine.path.literals
    )


def _forget_written(machine: Machine, node: Any, frame: Frame) -> None:
    """Makes what an operation in place was to write into unknown, as the result of any other is
    after a conflict: `mask.scatter_(1, index, 1)`."""
    function = node.func if isinstance(node, ast.Call) else None
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
        return
    if not function.attr.endswith("_") or function.attr.endswith("__"):
        return
    value = machine.evaluate(function.value, frame)
    if type(value) is Tensor:
        from device_lens.interpreter.assignment import assign_name

        assign_name(machine, function.value.id, value.with_(device=CONTESTED), frame)


def _operand(
    machine: Machine, side: tuple[Any, int | str], literals: Literals, node: Any, frame: Frame
) -> Operand | None:
    value, position = side
    tensor = tensor_of(value)
    if tensor is None:
        return None
    device = assume_all(assume_all(tensor.device, literals), machine.path.literals)
    if type(device) is Guarded:
        return None
    place = machine.argument_site(position)
    parameter = place is None and _of_module(position)
    if place is None and not parameter and node is machine.lent:
        place = lent_places.written(machine, node, value, frame)
        position = "input"
    site = place if place is not None else machine.site(node, frame)
    absent = place is None and isinstance(position, str) and position.isidentifier()
    text = _text(None if absent else site.node, position, parameter)
    told = tensor.trail if _is_told(tensor.device, literals) else None
    case = together(literals, machine.path.named)
    trail = with_followed(
        machine, _of_case(told, case), device, (*literals, *machine.path.literals)
    )
    return Operand(
        site,
        text,
        device,
        trail,
        origin_of(machine, trail, site, text, parameter),
        is_parameter=parameter,
        is_unpacked=_is_unpacked(node, place),
    )


def _is_told(tree: Any, literals: Literals) -> bool:
    """Whether the one history that a tensor keeps is that of some literals. Where chance decides
    nobody knows of which way it is; of a test of a loop's turn it is what happened where that
    holds. That of how far a run is tells of both."""
    asked = [each for each in literals if each[0] in atom_set(tree) and not each[0].is_counted]
    ways = [each for each in asked if each[0].goes_both_ways]
    return not ways or (all(atom.is_of_turn for atom, _ in ways) and any(held for _, held in ways))


def _of_case(trail: Trail | None, case: Any) -> Trail | None:
    """A history without the steps that are not taken in a case: that of the primary case is the one
    that is told, and what happened instead is kept beside it."""
    if trail is None:
        return None
    if exclude(trail.case, case):
        other = trail.instead if trail.instead is not None else trail.previous
        return trail if other is None else _of_case(other, case)
    previous = _of_case(trail.previous, case)
    return trail if previous is trail.previous else trail.behind(previous)


def _decided_together(
    machine: Machine, first: Operand, second: Operand, literals: Literals
) -> bool:
    """Whether the program asked where one of them is, and runs this where the other is as well."""
    decided = (*literals, *machine.path.literals)
    return any(
        isinstance(one.device, SymbolicDevice)
        and isinstance(other.device, Device | SymbolicDevice)
        and not one.device.may_be_apart(other.device, decided)
        for one, other in ((first, second), (second, first))
    )


def _as_part(machine: Machine, first: Operand, second: Operand) -> OwnPart | None:
    """Makes that operand a parameter which a running module holds, on the host beside another on
    an accelerator, or wherever a caller has it."""
    for operand, beside in ((first, second), (second, first)):
        if operand.device is not CPU:
            continue
        wherever = isinstance(beside.device, SymbolicDevice)
        if not (is_accelerator(beside.device) or wherever):
            continue
        if operand.origin.kind in LOST_MOVES:
            continue
        part = own_part(machine, operand.trail, wherever_moved=wherever)
        if part is not None:
            operand.is_parameter, operand.trail = True, part.trail
            operand.origin = Origin("parameter", operand.site, operand.text)
            return part
    return None


def _of_container(machine: Machine, *operands: Operand) -> Origin | None:
    """The plain list or dict from which moves of a running module miss one of them."""
    for operand in operands:
        kept = kept_in(machine, operand.trail) if operand.device is CPU else None
        if kept is not None:
            return Origin("plain-container", kept, ast.unparse(kept.node))
    return None


def _is_unpacked(node: Any, place: Site | None) -> bool:
    """Whether an argument comes out of `*values` or `**values`, which stands at the place."""
    if place is None or not isinstance(node, ast.Call):
        return False
    mappings = (keyword.value for keyword in node.keywords if keyword.arg is None)
    return isinstance(place.node, ast.Starred) or any(place.node is each for each in mappings)


def _of_module(position: int | str) -> bool:
    """Whether a position is a part of the module that is called: `self.weight`."""
    return isinstance(position, str) and position.startswith("self.")


def _text(node: Any, position: int | str, parameter: bool) -> str:
    if parameter:
        return str(position)
    if isinstance(node, ast.expr):
        return ast.unparse(node)
    return str(position)


def origin_of(
    machine: Machine, trail: Trail | None, site: Site, text: str, parameter: bool
) -> Origin:
    """Why the operand is where it is, from the last step of its history."""
    if trail is None:
        return Origin("parameter" if parameter else "other", site, text)
    thrown = machine.shared.get(("discarded", id(trail)))
    if thrown is not None:
        return Origin("discarded", thrown, text)
    rebound = machine.shared.get(("loop-variable", id(trail)))
    if rebound is not None:
        return Origin("loop-variable", rebound, text)
    if trail.kind == "attribute":
        return Origin("plain-attribute", trail.site, trail.text.rpartition("`self.")[2].rstrip("`"))
    if trail.kind == "late-part":
        return Origin("late-part", trail.site, text)
    if trail.kind == "created" and _takes_after(trail):
        return origin_of(machine, trail.previous, site, text, parameter)
    if cuda_facts.met(machine, trail.site.node, trail.site):
        return Origin("cuda-block", trail.site, _factory(trail))
    if trail.kind == "created" and _on_default(trail.site.node):
        kind = "parameter" if parameter else "factory"
        if not parameter and not _gives_it(machine, trail):
            kind = "other"
        return Origin(kind, trail.site, _factory(trail))
    if trail.kind == "moved":
        return Origin("moved", trail.site, text)
    if trail.kind == "loaded":
        return Origin("loaded", trail.site, text)
    return Origin("parameter" if parameter else "other", trail.site, text)


def _on_default(node: Any) -> bool:
    """Whether a factory call leaves the device to the default."""
    return isinstance(node, ast.Call) and not any(
        keyword.arg in ("device", None) for keyword in node.keywords
    )


def _takes_after(trail: Trail) -> bool:
    """Whether a factory makes its tensor where another tensor is, of which the reason is."""
    if trail.previous is not None and followed(trail.site.node) is not None:
        return True
    return _on_default(trail.site.node) and _factory(trail).rpartition(".")[2] in TAKING_AFTER


def _gives_it(machine: Machine, trail: Trail) -> bool:
    """Whether the call where a tensor was made gives it: not a module of which it is a copy of a
    parameter, which was right where it was made, nor what makes tensors when it is gone through."""
    node = trail.site.node
    seen = machine.recorder.seen.get(node, ())
    if any(type(entry.value) is ModuleObject for entry in seen):
        return False
    maker = trail.text.rpartition("`")[0].rpartition("`")[2]
    is_maker = bool(maker) and maker.rpartition(".")[2] == last_name(node.func)
    return is_maker or any(entry.kind is Kind.TENSOR for entry in seen)


def _factory(trail: Trail) -> str:
    node = trail.site.node
    return ast.unparse(node.func) if isinstance(node, ast.Call) else "a factory"


_MADE_ON_DEFAULT = ("factory", "plain-attribute", "cuda-block")


def _certainty(stray: Operand, other: Operand) -> Certainty | None:
    """What stands behind it; None where nothing does."""
    concrete = isinstance(stray.device, Device), isinstance(other.device, Device)
    if all(concrete):
        perhaps = agree(stray.device, other.device) is Agreement.MAYBE
        return None if perhaps else Certainty.SURE
    symbol = other.device if concrete[0] else stray.device
    made = stray if concrete[0] else other
    if not isinstance(symbol, SymbolicDevice) or not any(concrete):
        return None
    if made.device is not CPU or made.origin.kind not in _MADE_ON_DEFAULT:
        return None
    return Certainty.EVIDENCED if symbol.of_module_input else Certainty.POSSIBLE


def _is_made_beside_input(
    machine: Machine, stray: Operand, other: Operand, node: Any, frame: Frame
) -> bool:
    """Whether a module's input meets a layer that its `forward` itself makes on the host, or of
    what is there, and does not move: whoever moves the module cannot move that one."""
    made, given = (stray, other) if stray.is_parameter else (other, stray)
    symbol, trail, function = given.device, made.trail, frame.function
    if not made.is_parameter or made.device is not CPU or trail is None or function is None:
        return False
    if not isinstance(symbol, SymbolicDevice) or not symbol.of_module_input:
        return False
    if trail.kind != "created" or stands_in(trail.site.node, function.node):
        return trail.kind == "created"
    if not _on_default(trail.site.node) or not isinstance(node, ast.Call):
        return False
    seen = machine.recorder.seen.get(node.func, ())
    makers = [entry.value.site for entry in seen if type(entry.value) is ModuleObject]
    return bool(makers) and all(stands_in(each, function.node) for each in makers)


def _module_call(
    machine: Machine, node: Any, frame: Frame, sides: tuple[tuple[Any, int | str], ...]
) -> Site | None:
    """The module call that is written in the workspace, where a parameter takes part."""
    if not isinstance(node, ast.Call):
        return None
    if any(isinstance(position, str) and position.startswith("self.") for _, position in sides):
        return machine.site(node, frame)
    return None


def _module_text(
    machine: Machine, node: Any, left: tuple[Any, int | str], right: tuple[Any, int | str]
) -> str | None:
    if not isinstance(node, ast.Call) or not _is_module_call(left, right):
        return None
    function = lent_places.module(machine, node) if node is machine.lent else node.func
    if isinstance(function, ast.Attribute) and function.attr in _CALLING:
        function = function.value
    return ast.unparse(function)


def _is_module_call(left: tuple[Any, int | str], right: tuple[Any, int | str]) -> bool:
    return any(_of_module(position) for _, position in (left, right))


def _call_chain(machine: Machine, frame: Frame) -> tuple[Site, ...]:
    found: list[Site] = []
    for inner in machine.stack:
        if inner.call_site is not None and inner.parent is not None:
            found.append(machine.site(inner.call_site, inner.parent))
    return tuple(found[-6:])
