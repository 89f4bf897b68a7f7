"""Where the operands of what a library's function runs are written, in the call of that function:
`checkpoint(layer, x)`, `functional_call(net, parameters, (x,))`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from device_lens.domain.guard import leaves
from device_lens.domain.heap import ModuleObject
from device_lens.domain.trail import Site
from device_lens.models.call import tensor_of

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine


def written(machine: Machine, node: Any, value: Any, frame: Frame) -> Site | None:
    """The argument of a call, or the item of a list or tuple there, that has a value; else one that
    came where it is on the same way, of which it may be computed."""
    arguments = list(_arguments(node))
    found = [each for each in arguments if _holds(machine, each, value)]
    found = found or [each for each in arguments if _leads_to(machine, each, value)]
    return machine.site(found[0], frame) if found else None


def module(machine: Machine, node: ast.Call) -> ast.expr:
    """The expression of the module that a call runs: what is called, or an argument."""
    for each in (node.func, *node.args):
        if any(_is_module(seen.value) for seen in machine.recorder.seen.get(each, ())):
            return each
    return node.func


def _is_module(value: Any) -> bool:
    return all(type(leaf) is ModuleObject for leaf in leaves(value))


def _holds(machine: Machine, node: ast.expr, value: Any) -> bool:
    return any(seen.value is value for seen in machine.recorder.seen.get(node, ()))


def _leads_to(machine: Machine, node: ast.expr, value: Any) -> bool:
    tensor = tensor_of(value)
    trail = None if tensor is None else tensor.trail
    if tensor is None or trail is None:
        return False
    known = (tensor_of(seen.value) for seen in machine.recorder.seen.get(node, ()))
    return any(
        each is not None and each.device is tensor.device and trail.tells_the_same(each.trail)
        for each in known
    )


def _arguments(node: Any) -> Iterator[ast.expr]:
    if isinstance(node, ast.Call):
        for each in (*node.args, *(keyword.value for keyword in node.keywords)):
            yield each
            yield from getattr(each, "elts", ())
