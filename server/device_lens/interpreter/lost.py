"""What a statement leaves behind that was lost by a fault of ours: nothing is known of it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue, Function, Namespace
from device_lens.domain.heap import MISSING
from device_lens.domain.values import Const, DeviceValue, External, Unknown
from device_lens.interpreter.assignment import assign_name
from device_lens.interpreter.scan import own_nodes

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine

_UNCHANGED = (ClassValue, Const, DeviceValue, External, Function, Namespace, type(MISSING))


def forget(machine: Machine, statement: ast.stmt, frame: Frame) -> None:
    """Takes what the statement assigns for unknown, and what it names: it may have been moved."""
    names = [node for node in own_nodes([statement]) if isinstance(node, ast.Name)]
    assigned = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    for name in dict.fromkeys(node.id for node in names):
        if name in assigned or not _is_unchanged(frame.scope.names.get(name, MISSING), name):
            assign_name(machine, name, Unknown(), frame)


def _is_unchanged(value: Any, name: str) -> bool:
    """Whether a name has a value that no statement changes, or stands for the object whose method
    runs, which others know by other names."""
    return isinstance(value, _UNCHANGED) or name in ("self", "cls")
