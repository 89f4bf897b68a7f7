"""Datasets whose items need not be on the host: those that run code of the program which names
devices, a method of theirs or a transform that a library's dataset was given."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from device_lens.domain.code import BoundMethod, ClassValue, Function
from device_lens.domain.heap import Instance, ListObject
from device_lens.domain.values import Partial, TupleValue, Unknown
from device_lens.models.call import Value

OF_MOVING_CODE = "an item of a dataset that names devices"
"""The label of items that are not known, and that are not taken to be on the host."""
RUNS_IT = "<moving code>"
"""A part of what is not known and was given such code."""
Weigh = Callable[[ast.AST, Callable[[ast.AST], bool]], bool]
DEEPEST = 3
"""Containers within containers that are looked into."""
MOST_HELD = 16
"""Items of one that are looked at."""
_OF_DEVICES = frozenset({"cuda", "device", "xpu", "mps"})


def names_device(function: ast.AST) -> bool:
    """Whether a dataset's own code speaks of devices, so that its items may be on any."""
    return any(
        (isinstance(node, ast.Attribute) and node.attr in _OF_DEVICES)
        or (isinstance(node, ast.Name) and node.id in _OF_DEVICES)
        or (isinstance(node, ast.keyword) and node.arg in _OF_DEVICES)
        for node in ast.walk(function)
    )


def any_runs_it(values: Iterable[Value], weigh: Weigh, deepest: int = DEEPEST) -> bool:
    """Whether any of some values is such code, or holds it. `weigh` asks a question of the code of
    a function, and remembers that it was asked."""
    return any(_runs_it(value, weigh, deepest) for value in values)


def is_run_by(value: Value) -> bool:
    """Whether what is not known was given such code."""
    return type(value) is Unknown and value.fields is not None and RUNS_IT in value.fields


def _runs_it(value: Value, weigh: Weigh, deepest: int) -> bool:
    if type(value) is Unknown:
        return is_run_by(value)
    held = _held(value)
    if held:
        return deepest > 0 and any_runs_it(held[:MOST_HELD], weigh, deepest - 1)
    if isinstance(value, Instance) and type(value.cls) is ClassValue:
        value = value.cls.lookup("__call__")
    function = value.function if type(value) is BoundMethod else value
    return type(function) is Function and bool(weigh(function.node, names_device))


def _held(value: Value) -> tuple[Value, ...]:
    """What a list, a tuple or a partial function has that may be run."""
    if type(value) is Partial:
        return (value.function, *value.args)
    if type(value) is TupleValue:
        return value.items
    return (*value.items, value.rest) if type(value) is ListObject else ()
