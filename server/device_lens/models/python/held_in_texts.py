"""What a text of the program holds: as JSON, or as a literal of Python."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from typing import Any

from device_lens.domain.guard import combine
from device_lens.domain.heap import DictObject, ListObject
from device_lens.domain.values import Const, TupleValue, Unknown
from device_lens.models.call import Call, Model, Value
from device_lens.models.python.builtins import first_argument
from device_lens.models.registry import FUNCTIONS

MOST_LETTERS = 20_000
"""Longest text that is read."""


def literal(text: str, node: Any) -> Value:
    """What `ast.literal_eval(text)` gives, made at a node; None of Python where that is no
    literal."""
    if len(text) > MOST_LETTERS:
        return None
    try:
        return _value(ast.literal_eval(text), node)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def _json(text: str, node: Any) -> Value:
    if len(text) > MOST_LETTERS:
        return None
    try:
        return _value(json.loads(text), node)
    except (ValueError, RecursionError):
        return None


def _reads(held: Callable[[str, Any], Value]) -> Model:
    def model(call: Call) -> Value:
        plain = call.complete and len(call.args) == 1 and not call.kwargs

        def read(text: Value) -> Value:
            known = plain and type(text) is Const and isinstance(text.value, str)
            found = held(text.value, call.site.node) if known else None
            return Unknown(f"{call.name}(…)") if found is None else found

        return combine(read, first_argument(call))

    return model


def _value(found: Any, node: Any) -> Value:
    if isinstance(found, dict):
        return DictObject({key: _value(each, node) for key, each in found.items()}, None, node)
    if isinstance(found, list):
        return ListObject(tuple(_value(each, node) for each in found), None, "list", node)
    if isinstance(found, tuple):
        return TupleValue(tuple(_value(each, node) for each in found))
    return Unknown("a set") if isinstance(found, set) else Const(found)


def register() -> None:
    """Fills the registry."""
    FUNCTIONS["json.loads"] = _reads(_json)
    FUNCTIONS["ast.literal_eval"] = _reads(literal)
