"""json: what a text holds that is in the program."""

from __future__ import annotations

import json
from typing import Any

from device_lens.domain.guard import combine
from device_lens.domain.heap import DictObject, ListObject
from device_lens.domain.values import Const, Unknown
from device_lens.models.call import Call, Value
from device_lens.models.python.builtins import first_argument
from device_lens.models.registry import FUNCTIONS

MOST_LETTERS = 20_000
"""Longest text that is read."""


def _loads(call: Call) -> Value:
    plain = call.complete and len(call.args) == 1 and not call.kwargs

    def read(text: Value) -> Value:
        if not plain or type(text) is not Const or not isinstance(text.value, str):
            return Unknown("what a text holds")
        if len(text.value) > MOST_LETTERS:
            return Unknown("what a text holds")
        try:
            return _value(json.loads(text.value), call.site.node)
        except (ValueError, RecursionError):
            return Unknown("what a text holds")

    return combine(read, first_argument(call))


def _value(found: Any, node: Any) -> Value:
    if isinstance(found, dict):
        return DictObject({key: _value(each, node) for key, each in found.items()}, None, node)
    if isinstance(found, list):
        return ListObject(tuple(_value(each, node) for each in found), None, "list", node)
    return Const(found)


def register() -> None:
    """Fills the registry."""
    FUNCTIONS["json.loads"] = _loads
