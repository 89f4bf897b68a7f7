"""Factories that create where a tensor is: `torch.arange(n, device=lengths.device)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.device import DeviceTree
from device_lens.domain.guard import leaves
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


def with_followed(machine: Machine, trail: Trail | None, device: DeviceTree) -> Trail | None:
    """A history that ends with such a factory, behind that of the tensor: what made that one is
    why the new one is where it is."""
    if trail is None or trail.kind != "created" or trail.previous is not None:
        return trail
    tensor = followed(trail.site.node)
    for seen in reversed(machine.recorder.seen.get(tensor, ())):
        known = tensor_of(seen.value)
        if known is None or known.trail is None or device not in leaves(known.device):
            continue
        return trail.behind(known.trail)
    return trail
