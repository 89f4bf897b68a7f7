"""Factories that create where a tensor is: `torch.arange(n, device=lengths.device)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.device import DeviceTree
from device_lens.domain.guard import Literals, assume_all, leaves
from device_lens.domain.trail import Trail
from device_lens.models.call import tensor_of

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


def followed(node: Any) -> ast.expr | None:
    """The tensor whose device a factory is given as `device=`; None where it is given another."""
    for keyword in node.keywords if isinstance(node, ast.Call) else ():
        match keyword:
            case ast.keyword(arg="device", value=ast.Attribute(value=tensor, attr="device")):
                return tensor
    return None


def with_followed(
    machine: Machine, trail: Trail | None, device: DeviceTree, literals: Literals
) -> Trail | None:
    """A history that ends with such a factory, behind that of the tensor: what made that one is
    why the new one, which is there in a case, is where it is. Several calls may have been given
    different ones: the history is told where those that are there share it."""
    if trail is None or trail.kind != "created" or trail.previous is not None:
        return trail
    histories: list[Trail | None] = []
    for seen in machine.recorder.seen.get(followed(trail.site.node), ()):
        known = tensor_of(seen.value)
        if known is not None and device in leaves(assume_all(known.device, literals)):
            histories.append(known.trail)
    first = histories[0] if histories else None
    if first is None or any(each is None or each.site != first.site for each in histories):
        return trail
    return trail.behind(histories[-1])
