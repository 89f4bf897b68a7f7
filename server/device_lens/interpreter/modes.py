"""Modes of the program through which all of PyTorch's functions are called: `TorchFunctionMode` and
`TorchDispatchMode`. What they make of the answers is not followed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue, Function
from device_lens.domain.device import UNKNOWN_DEVICE
from device_lens.domain.values import Tensor, Unknown
from device_lens.models.torch.collation import map_tensors
from device_lens.models.torch.defaults import MODES
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

STATE = "modes"
"""The entry of the interpreter's state that tells whether a mode is on that may move tensors."""
_HANDLERS = ("__torch_function__", "__torch_dispatch__")
_MOVES = frozenset({"to", "cuda", "cpu", "copy_"})
_MAY_MOVE = "_may_move"
"""The entry of a handler's node under which the answer is kept, for as long as the node lives."""


def is_moving(cls: ClassValue) -> bool:
    """Whether a manager of a class is such a mode, and its text names devices or moves."""
    if set(MODES).isdisjoint(cls.foreign):
        return False
    handlers = [cls.lookup(each) for each in _HANDLERS]
    return any(type(each) is Function and _may_move(each.node) for each in handlers)


def _may_move(node: Any) -> bool:
    known: bool | None = node.__dict__.get(_MAY_MOVE)
    if known is None:
        known = node.__dict__[_MAY_MOVE] = any(map(_names_place, walk(node)))
    return known


def _names_place(node: ast.AST) -> bool:
    parts = (getattr(node, each, None) for each in ("id", "attr", "arg", "value"))
    words = [each for each in parts if isinstance(each, str)]
    return any(word in _MOVES or "device" in word.lower() for word in words)


def answer(machine: Machine, name: str, value: Any) -> Any:
    """What a library's function gives, with the modes that are on."""
    if value is None:
        return Unknown()
    if machine.globals[STATE] and name[:6] == "torch.":
        return map_tensors(value, _lost)
    return value


def _lost(value: Any) -> Any:
    return value.with_(device=UNKNOWN_DEVICE, trail=None) if type(value) is Tensor else value
