"""A `try` whose body does nothing but read a key: which way it goes is known where the dict is."""

from __future__ import annotations

import ast
from typing import Any

from device_lens.domain.heap import MISSING, DictObject
from device_lens.domain.presence import presence
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.machine import Machine

_CAUGHT = frozenset("KeyError LookupError Exception BaseException".split())


def key_is_there(machine: Machine, node: Any, frame: Frame) -> Any:
    """The condition under which the key that the body reads is there, else the handler runs; None
    where the body does something else, or where nobody knows all keys."""
    read = _read(node)
    if read is None or not _catches(node.handlers):
        return None
    from device_lens.interpreter.expressions import key_of

    receiver = machine.evaluate(read.value, frame)
    if type(receiver) is not DictObject or receiver.rest is not None:
        return None
    key = key_of(machine.evaluate(read.slice, frame))
    if key is MISSING or "default" in receiver.fields:
        return None
    return machine.decide(presence(receiver.entries, key))


def _read(node: Any) -> ast.Subscript | None:
    """The key that a body reads if it does nothing else: `x = d[k]`, `return d[k]`."""
    statement = node.body[0]
    if len(node.body) > 1 or not isinstance(statement, ast.Assign | ast.Return):
        return None
    if isinstance(statement, ast.Assign) and not all(
        isinstance(target, ast.Name) for target in statement.targets
    ):
        return None
    value = statement.value
    plain = isinstance(value, ast.Subscript) and _is_plain(value.value) and _is_plain(value.slice)
    return value if plain and isinstance(value, ast.Subscript) else None


def _is_plain(node: ast.expr) -> bool:
    """Whether looking at it does nothing, and does not fail."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name | ast.Constant)


def _catches(handlers: list[ast.ExceptHandler]) -> bool:
    if len(handlers) != 1:
        return False
    kind = handlers[0].type
    return kind is None or (isinstance(kind, ast.Name) and kind.id in _CAUGHT)
