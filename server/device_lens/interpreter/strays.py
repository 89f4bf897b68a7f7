"""Which of two operands that do not share a device strays."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.device import CPU, Device, SymbolicDevice, is_accelerator
from device_lens.interpreter.facts import Operand
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame

LOST_MOVES = ("discarded", "loop-variable")
"""Origins that say more than that the operand is part of a module."""


def order(
    first: Operand, second: Operand, wants_cpu: bool, frame: Frame
) -> tuple[Operand, Operand]:
    """Which operand strays: the one that an earlier call has kept; the one whose move was lost; the
    one on the host beside an accelerator or a symbol; an input rather than a parameter; the one on
    whichever GPU is current beside a GPU that the program names by its number; what a factory made
    rather than what was moved."""
    if wants_cpu:
        return (first, second) if is_accelerator(first.device) else (second, first)
    cached = _cached(frame, first), _cached(frame, second)
    if cached[0] != cached[1]:
        return (first, second) if cached[0] else (second, first)
    lost = (first.origin.kind in LOST_MOVES, second.origin.kind in LOST_MOVES)
    if lost[0] != lost[1]:
        return (first, second) if lost[0] else (second, first)
    hosts = (first.device is CPU, second.device is CPU)
    if first.is_parameter != second.is_parameter:
        return (second, first) if first.is_parameter else (first, second)
    if hosts[0] != hosts[1]:
        return (first, second) if hosts[0] else (second, first)
    if isinstance(first.device, SymbolicDevice):
        return second, first
    current = _is_current(first), _is_current(second)
    if current[0] != current[1]:
        return (first, second) if current[0] else (second, first)
    return (second, first) if first.origin.kind == "moved" else (first, second)


def _is_current(operand: Operand) -> bool:
    """Whether an operand is on an accelerator that has no number: `cuda`."""
    device = operand.device
    return type(device) is Device and is_accelerator(device) and device.index is None


def _cached(frame: Frame, operand: Operand) -> bool:
    """Whether the function that runs has kept an operand as an attribute, in an earlier call: it is
    where that call's arguments were."""
    trail, function = operand.trail, frame.function
    if trail is None or trail.kind != "attribute" or function is None or operand.device is CPU:
        return False
    return stands_in(trail.site.node, function.node)


def stands_in(node: Any, function: ast.AST) -> bool:
    return any(each is node for each in walk(function))
