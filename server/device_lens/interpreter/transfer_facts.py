"""Facts about transfers: `x.to(d)`, `.cuda()`, `.cpu()` and what becomes of their results."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue, Function
from device_lens.domain.device import (
    ANY_INDEX,
    CPU,
    UNKNOWN_DEVICE,
    Device,
    SymbolicDevice,
    surely_same,
)
from device_lens.domain.guard import Guarded, atom_set, leaves
from device_lens.domain.heap import ModuleObject, Parameter
from device_lens.domain.values import (
    BoundExternal,
    DtypeValue,
    Tensor,
    Unknown,
)
from device_lens.interpreter import (
    container_facts,
    copied_again,
    creations,
    host_facts,
    pinned_facts,
    places,
    settable,
    tensor_facts,
)
from device_lens.interpreter.dispatch import EVALUATORS
from device_lens.interpreter.facts import Kind, Transfer
from device_lens.models.call import constant, device_of, tensor_of
from device_lens.models.torch.transfers import is_called_dtype
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.domain.trail import Site, Trail
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine

MOVES = frozenset({"to", "cuda", "cpu", "xpu", "mps", "to_empty"})
CONVERSIONS = frozenset(
    "half float double bfloat16 long int short bool type type_as pin_memory".split()
)


class Watch:
    """A transfer that is about to run."""

    __slots__ = ("device", "frame", "node", "receiver", "tensor")

    def __init__(
        self, node: ast.Call, frame: Frame, receiver: Any, tensor: Tensor | None, device: Any
    ) -> None:
        self.node = node
        self.frame = frame
        self.receiver = receiver
        self.tensor = tensor
        self.device = device


def watch(machine: Machine, node: ast.Call, receiver: Any, frame: Frame) -> Watch | None:
    """Remembers where the receiver is, if the call is a transfer of a tensor or module."""
    if not isinstance(node.func, ast.Attribute):
        return None
    method = node.func.attr
    if method not in MOVES and method not in CONVERSIONS:
        return None
    if method == "type" and not (node.args or node.keywords):
        return None  # it tells the type
    if type(receiver) is ModuleObject:
        machine.findings.doubtful.add(node)
        if type(receiver.cls) is ClassValue and type(receiver.cls.lookup(method)) is Function:
            return None
        device = machine.recorder.module_device(receiver)
        return Watch(node, frame, receiver, None, UNKNOWN_DEVICE if device is None else device)
    if any(type(leaf) is Unknown and not leaf.tensor_evidence for leaf in leaves(receiver)):
        machine.findings.doubtful.add(node)
        return None
    tensor = tensor_of(receiver)
    if tensor is None:
        machine.findings.doubtful.add(node)
        container_facts.moved(machine, node, receiver, frame)
        return None
    return Watch(node, frame, receiver, tensor, tensor.device)


def finish(
    machine: Machine, seen: Watch, args: tuple[Any, ...], kwargs: dict[str, Any], value: Any
) -> None:
    """Writes the fact down once the result is known."""
    node, frame = seen.node, seen.frame
    assert isinstance(node.func, ast.Attribute)
    method = node.func.attr
    moves, argument = _target(node, args, kwargs, method)
    if seen.tensor is None:
        target = machine.recorder.module_device(seen.receiver)
        kind = Kind.MODULE
    else:
        result = tensor_of(value)
        target = result.device if result is not None else UNKNOWN_DEVICE
        kind = Kind.TENSOR
    target = UNKNOWN_DEVICE if target is None else target
    tensor = seen.tensor
    is_known = tensor is not None and all(map(_is_known, leaves(target)))
    is_settled = is_known and all(atom.named for atom in atom_set(target))
    names_other = is_settled and _reads_device(argument)
    in_background = pinned_facts.in_background(node, method, args, kwargs)
    fact = Transfer(
        machine.site(node, frame),
        machine.site(node.func.value, frame),
        kind,
        method,
        seen.device,
        target if moves else seen.device,
        moves,
        tensor.shape if tensor else None,
        tensor.dtype if tensor else None,
        places.loops_around(frame),
        _invariant(node, tensor, argument if names_other else None, frame),
        in_place=seen.tensor is None,
        conditional=frame.may_be_left_out,
        non_blocking=constant(in_background) is True,
        pinned=tensor.pinned if tensor else False,
        requires_grad=tensor.requires_grad if tensor else None,
        trail=tensor.trail if tensor else seen.receiver.trail,
        condition=places.condition_text(machine),
        device_argument=None if argument is None else machine.site(argument, frame),
        follows_other=names_other,
        redundant=_redundant(method, args, kwargs, seen, target, moves),
        presumed=_of_module_inputs(seen.device),
        of_parameter=type(seen.receiver) is Parameter,
        settable=settable.takes_value(machine, node.func.value, frame),
        holder_settable=settable.holder_takes_value(machine, node.func.value, frame),
        set_by_method=settable.sets_by_method(machine, node.func.value, frame),
    )
    if tensor is not None and moves and is_known:
        fact.repeated = copied_again.repeated_by(machine, node, tensor, frame)
    creations.note(fact, node.func.value, tensor, frame)
    machine.findings.keep(fact)
    if tensor is not None:
        tensor_facts.transferred(machine, seen, fact, value, frame)
        pinned_facts.transferred(machine, fact, tensor, seen.receiver, in_background)
        host_facts.transferred(machine, fact, tensor, frame)


def _invariant(
    node: ast.Call, tensor: Tensor | None, settled: ast.expr | None, frame: Frame
) -> tuple[Site, ...]:
    """The loops that leave the tensor as it is. An optimizer writes into what requires grad and
    by that into its views, and whether a loop steps one may be decided in what it calls. `settled`
    is an argument that gives the same whatever it reads."""
    if tensor is None or tensor.requires_grad is True:
        return ()
    if settled is None:
        return places.invariant_loops(frame, node)
    assert isinstance(node.func, ast.Attribute)
    parts = [node.func.value, *node.args, *(keyword.value for keyword in node.keywords)]
    each = (places.invariant_loops(frame, part) for part in parts if part is not settled)
    return min(each, key=len)


def _reads_device(argument: Any) -> bool:
    """Whether the target is where another value is: `x.device`."""
    return isinstance(argument, ast.Attribute) and argument.attr == "device"


def _is_known(device: Any) -> bool:
    return isinstance(device, Device) and _is_one(device)


def _target(
    node: ast.Call, args: tuple[Any, ...], kwargs: dict[str, Any], method: str
) -> tuple[bool, Any]:
    """Whether the call names a device, and the expression that does."""
    if method in CONVERSIONS:
        return False, None
    if method != "to":
        return True, node.args[0] if node.args else None
    for index, value in enumerate(args):
        if _names_device(value):
            return True, node.args[index] if index < len(node.args) else None
    for name in ("device", "other", "tensor"):
        if name in kwargs and _names_device(kwargs[name]):
            return True, next((k.value for k in node.keywords if k.arg == name), None)
    return False, None


def _names_device(value: Any) -> bool:
    if type(value) is DtypeValue or value is None or is_called_dtype(value):
        return False
    if type(value) in (Tensor, Parameter):
        return True
    if type(value) is Guarded and tensor_of(value) is not None:
        return True
    if constant(value, ...) in (True, False):
        return False
    return device_of(value) is not None


def _redundant(
    method: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    seen: Watch,
    target: Any,
    moves: bool,
) -> bool:
    """A move to where the value already is in every case, with nothing else asked for."""
    if not moves or method == "to_empty" or len(args) > 1:
        return False
    if any(name not in ("device", "non_blocking") for name in kwargs):
        return False
    if args and (type(args[0]) in (Tensor, Parameter) or type(args[0]) is Unknown):
        return False
    if _is_element(seen):
        return False
    return all(map(_is_one, leaves(target))) and surely_same(seen.device, target)


def _is_element(seen: Watch) -> bool:
    """Whether the tensor may be one of several that a parameter stands for, which need not be in
    one place: anything but the parameter itself, until a step of its history tells more."""
    if seen.tensor is None or seen.tensor.trail is not None:
        return False
    if not any(isinstance(leaf, SymbolicDevice) for leaf in leaves(seen.device)):
        return False
    function = seen.frame.function
    subject = seen.node.func.value if isinstance(seen.node.func, ast.Attribute) else None
    own = () if function is None else ast.walk(function.node.args)
    names = {node.arg for node in own if isinstance(node, ast.arg)}
    return not (isinstance(subject, ast.Name) and subject.id in names)


def _is_one(device: Any) -> bool:
    """Whether a device is the same one wherever it is met: not one of some number, nor that of an
    element or a formatted text, which stands for those of every index."""
    if isinstance(device, SymbolicDevice):
        return all(part.isidentifier() for part in device.label.split("."))
    return not (isinstance(device, Device) and device.index == ANY_INDEX)


def _of_module_inputs(device: Any) -> bool:
    return any(isinstance(leaf, SymbolicDevice) and leaf.of_module_input for leaf in leaves(device))


def discarded(machine: Machine, expression: ast.expr, frame: Frame) -> None:
    """Marks the transfers whose results an expression statement throws away."""
    for node in _thrown_away(expression):
        fact = machine.findings.transfers.get(node)
        if fact is None or fact.in_place or (fact.called and _is_made_in(fact.trail, expression)):
            continue  # nothing of the program has missed a move that makes something and drops it
        fact.discarded = True
        for trail in (fact.trail, *fact.further):
            if trail is not None:
                machine.shared.setdefault(("discarded", id(trail)), fact.site)
    if isinstance(expression, ast.Attribute):
        uncalled(machine, expression, None, frame)


def _is_made_in(trail: Trail | None, expression: ast.expr) -> bool:
    """Whether an expression makes the tensor that it moves."""
    if trail is None or trail.kind != "created":
        return False
    return any(each is trail.site.node for each in walk(expression))


def _thrown_away(expression: ast.expr) -> list[ast.expr]:
    """The expressions whose values an expression statement gives and nobody takes."""
    match expression:
        case ast.ListComp(elt=element) | ast.SetComp(elt=element) | ast.GeneratorExp(elt=element):
            return _thrown_away(element)
        case ast.DictComp(value=element):
            return _thrown_away(element)
        case ast.Tuple(elts=elements):
            return elements
        case ast.IfExp(body=body, orelse=otherwise):
            return [*_thrown_away(body), *_thrown_away(otherwise)]
        case ast.BoolOp(values=[*_, last]):
            return _thrown_away(last)
        case ast.Call(
            func=ast.Name(id="list" | "tuple"),
            args=[ast.Call(func=ast.Name(id="map"), args=[ast.Lambda(body=body), *_])],
        ):
            return [body]
        case ast.Call(func=ast.Name(id="map"), args=[ast.Lambda(body=body), *_]):
            return [body]
    return [expression]


def rebound(machine: Machine, node: ast.Assign, value: Any, frame: Frame) -> None:
    """`x = x.cuda`: under another name the method may be meant."""
    if not isinstance(node.value, ast.Attribute) or node.value.attr not in MOVES:
        return
    if [ast.unparse(target) for target in node.targets] == [ast.unparse(node.value.value)]:
        uncalled(machine, node.value, value, frame)


def uncalled(machine: Machine, expression: Any, value: Any, frame: Frame) -> None:
    """`x.cuda` without the call: the bound method instead of the moved tensor."""
    if not isinstance(expression, ast.Attribute) or expression.attr not in MOVES:
        return
    if value is None:
        value = EVALUATORS[ast.Attribute](machine, expression, frame)
    if type(value) is not BoundExternal or expression.attr == "to_empty":
        return
    tensor = tensor_of(value.receiver)
    if tensor is None or not value.name.startswith("torch.Tensor."):
        return
    fact = Transfer(
        machine.site(expression, frame),
        machine.site(expression.value, frame),
        Kind.TENSOR,
        expression.attr,
        tensor.device,
        CPU if expression.attr == "cpu" else UNKNOWN_DEVICE,
        True,
        tensor.shape,
        tensor.dtype,
        places.loops_around(frame),
        discarded=True,
        called=False,
        trail=tensor.trail,
    )
    machine.findings.transfers.setdefault(expression, fact)
