"""Loops that are there to be timed: what repeats in them is meant to."""

from __future__ import annotations

import ast

from device_lens.fixes.place import Place
from device_lens.syntax.names import last_name

_MEASURED = ("to", "cuda", "cpu", "copy_", "clone", "numpy", "item")
_CLOCKS = ("synchronize", "perf_counter", "time", "monotonic", "record", "elapsed_time")


def is_timed(loop: Place) -> bool:
    """Whether a loop does nothing but copy, in a function that reads a clock or waits for the
    device: the copies are what it measures."""
    body = getattr(loop.statement.node, "body", None)
    if not body or not all(map(_only_copies, body)):
        return False
    around = loop.function or loop.statement.node
    return any(isinstance(node, ast.Call) and _calls(node, _CLOCKS) for node in ast.walk(around))


def _only_copies(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Assign | ast.Expr):
        return False
    value = statement.value
    if isinstance(value, ast.BinOp):  # `elapsed = time.time() - start`
        value = value.left
    names = (*_MEASURED, *_CLOCKS, "append")
    return isinstance(value, ast.Call) and _calls(value, names)


def _calls(call: ast.Call, names: tuple[str, ...]) -> bool:
    return last_name(call.func) in names
