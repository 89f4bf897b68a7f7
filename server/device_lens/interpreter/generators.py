"""Calls that but make what runs the body of a function: a generator or a coroutine, which may be
dropped, or left before its end."""

from __future__ import annotations

import ast

from device_lens.domain.code import Function
from device_lens.interpreter import scan
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.read_up import is_read_up
from device_lens.syntax.names import last_name


def is_dropped(function: Function, frame: Frame) -> bool:
    """Whether a call only makes what would run the body, and nobody takes it."""
    caller = frame.parent
    return type(caller and caller.statement) is ast.Expr and _waits(function, frame)


def may_stop_early(function: Function, frame: Frame) -> bool:
    """Whether the body that a call makes a generator of need not run to its end, or not yet."""
    caller, node = frame.parent, frame.call_site
    if type(caller and caller.statement) is ast.Assign and _waits(function, frame):
        return True
    if frame.yields is None or function.manages or type(node) is not ast.Call:
        return False
    return last_name(node.func) == function.name and not is_read_up(node, caller)


def _waits(function: Function, frame: Frame) -> bool:
    """Whether the statement that a call is all of does not run the body: somebody may do so later.
    A decorator may run it at once."""
    node, caller = function.node, frame.parent
    if caller is None or caller.statement.value is not frame.call_site:
        return False
    if isinstance(node, ast.Lambda) or node.decorator_list:
        return False
    if isinstance(node, ast.AsyncFunctionDef):
        return True
    return scan.function_info(node, function.chunk.text).generates
