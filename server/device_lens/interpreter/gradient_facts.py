"""Facts about gradients that are not where what they belong to is."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING, Any

from device_lens.domain.heap import Instance, Parameter
from device_lens.domain.values import Tensor, TupleValue
from device_lens.interpreter import services
from device_lens.models.agreement import Placed, common_device
from device_lens.models.call import tensor_of
from device_lens.models.torch.autograd import INPUTS

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine

_SIDES = (-1, 1)
"""The positions of the two sides of `p.grad = value`."""
_ARGUMENTS = (0, 2)
"""Those in `setattr(p, "grad", value)`."""


def assigned(
    machine: Machine, receiver: Tensor | Parameter, value: Any, node: Any, frame: Frame
) -> None:
    """`p.grad = value`: raises where the gradient has another device than its tensor, of whatever
    size they are (`THPVariable_set_grad`)."""
    tensor, gradient = tensor_of(receiver), tensor_of(value)
    if tensor is None or gradient is None:
        return
    if isinstance(node, ast.Attribute):
        own, given = _SIDES
    elif isinstance(node, ast.Call) and len(node.args) == 3:
        own, given = _ARGUMENTS
    else:
        return
    sides: list[Placed] = [(tensor, receiver, own), (gradient, value, given)]
    services.with_active(
        machine, node, frame, partial(common_device, machine, ".grad =", sides, False)
    )


def returned(machine: Machine, node: ast.Return, value: Any, frame: Frame) -> None:
    """What `backward` of a `torch.autograd.Function` returns is checked when its inputs get their
    gradients: one of any dimensions has to be where the input is (`validate_outputs`)."""
    function = frame.function
    if function is None or function.name != "backward" or not function.node.args.args:
        return
    context = frame.scope.names.get(function.node.args.args[0].arg)
    inputs = context.fields.get(INPUTS) if type(context) is Instance else None
    if type(inputs) is not TupleValue:
        return
    names = _names(function.owner, len(inputs.items))
    many = type(value) is TupleValue
    gradients = value.items if many else (value,)
    for number, (given, its) in enumerate(zip(inputs.items, gradients, strict=False)):
        tensor, gradient = tensor_of(given), tensor_of(its)
        if tensor is None or tensor.requires_grad is not True:
            continue
        if gradient is None or gradient.zero_dim is not False:
            continue
        place = f"0[{number}]" if many else 0
        sides: list[Placed] = [(tensor, given, names[number]), (gradient, its, place)]
        told = f"{function.owner.name}.backward" if function.owner else function.name
        services.with_active(
            machine, node, frame, partial(common_device, machine, told, sides, False)
        )


def _names(owner: Any, count: int) -> list[str]:
    """What `forward` calls its inputs."""
    forward = owner.lookup("forward") if owner is not None else None
    found: list[str] = []
    if forward is not None:
        given = forward.node.args
        found = [each.arg for each in (*given.posonlyargs, *given.args)]
        if owner.lookup("setup_context") is None:
            del found[:1]
        rest = [given.vararg.arg] if given.vararg else ["input"]
        found += rest * count
    return found or ["input"] * count
