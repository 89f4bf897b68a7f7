"""Methods of strings: names of devices are often put together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from device_lens.domain.guard import combine
from device_lens.domain.heap import MISSING, DictObject, ListObject
from device_lens.domain.values import FALSE, TRUE, Const, TupleValue, Unknown
from device_lens.models import registry
from device_lens.models.call import Call, Value, constant
from device_lens.models.numbers import beginning, text, text_begun
from device_lens.models.python.text_cases import by_cases
from device_lens.models.torch.parts import REST, is_many
from device_lens.models.words import words

_TEXTS = frozenset(
    words(
        """lower upper strip lstrip rstrip replace title removeprefix removesuffix format zfill
        center ljust rjust capitalize decode"""
    )
)
"""Methods that give a string."""
_LISTS = frozenset(words("split rsplit splitlines"))
_PADDING = frozenset(words("zfill center ljust rjust"))
MOST_LETTERS = 10_000
"""Letters of a text that methods are run on, and of what they give."""
_LONG_NUMBER = re.compile(r"\d{4}|\{[^{}]*\{")
"""A width that may be large, or one that an argument gives."""
_OTHERS = words("startswith endswith partition rpartition isdigit isnumeric find count")
_ENDS = ("startswith", "endswith")
_QUESTIONS = (*_ENDS, "isdigit", "isnumeric", "find", "count")
"""Methods that tell something of a string's letters."""
_PURE = _TEXTS | _LISTS | frozenset(_OTHERS)


def _method(call: Call) -> Value:
    """A method of a string, run for real where everything is constant and small, in each case."""
    method = call.name.rpartition(".")[2]
    if method not in _TEXTS:
        return _run(call, method, call.args)
    if method == "format":
        given = (*call.args, *call.kwargs.values())
        return by_cases(lambda *values: _formatted(call, values), given, _begun(call))
    return by_cases(lambda *args: _run(call, method, args), call.args, text("a string"))


def _formatted(call: Call, given: Sequence[Value]) -> Value:
    """`form.format(…)` of values by position, then of those that have names."""
    form, values = constant(call.receiver), [constant(value, MISSING) for value in given]
    plain = all(isinstance(value, str | int | None) for value in values)
    if not call.complete or not isinstance(form, str) or not plain:
        return _begun(call)
    if not _is_small("format", form, values):
        return _begun(call)
    count = len(call.args)
    named = dict(zip(call.kwargs, values[count:], strict=True))
    try:
        return Const(form.format(*values[:count], **named))
    except (AttributeError, TypeError, ValueError, IndexError, KeyError):
        return _begun(call)


def _format_map(call: Call) -> Value:
    """`form.format_map(words)`, of a dict whose keys are known."""
    table = call.args[0] if call.args else None
    if type(table) is not DictObject or table.rest is not None:
        return _begun(call)
    named = {name: value for name, value in table.entries.items() if isinstance(name, str)}
    return _method(Call("str.format", call.receiver, (), named, call.site, call.services))


def _of_class(call: Call) -> Value:
    """`str.upper(name)`: the method of its first argument, in each case."""
    name, others = f"str.{call.name.rpartition('.')[2]}", call.args[1:]

    def bound(receiver: Value) -> Value:
        return _method(Call(name, receiver, others, call.kwargs, call.site, call.services))

    return combine(bound, call.args[0]) if call.args else call.unknown()


def _run(call: Call, method: str, args: Sequence[Value]) -> Value:
    subject = constant(call.receiver)
    arguments = [constant(value, MISSING) for value in args]
    plain = isinstance(subject, str) and not call.kwargs and MISSING not in arguments
    if (
        plain
        and method in _PURE
        and all(isinstance(a, str | int | None) for a in arguments)
        and _is_small(method, str(subject), arguments)
    ):
        if is_many(str(subject)) and method in _QUESTIONS:
            return _asked_of_many(str(subject), method, arguments)
        try:
            return _lifted(getattr(subject, method)(*arguments), call)
        except (AttributeError, TypeError, ValueError, IndexError, KeyError):
            return Unknown("a string")
    begun = beginning(call.receiver)
    if begun is not None and len(arguments) == 1 and isinstance(arguments[0], str):
        found = _of_begun(begun, method, arguments[0], call)
        if found is not None:
            return found
    if method in _LISTS:
        return ListObject((), text("a string"), "list", call.site.node)
    return text("a string") if method in _TEXTS else Unknown("a string")


def _asked_of_many(name: str, method: str, arguments: list[Any]) -> Value:
    """What a method says of any of the names that one stands for: what it has besides the open
    parts, they all have."""
    argument = arguments[0] if len(arguments) == 1 else None
    if method in _ENDS and isinstance(argument, str) and REST not in argument:
        return TRUE if getattr(name, method)(argument) else Unknown("whether it is so")
    return Unknown("a name's")


def _of_begun(begun: str, method: str, argument: str, call: Call) -> Value | None:
    """What a method says of a string of which the beginning is known, and that digits follow."""
    if method == "startswith":
        if begun.startswith(argument):
            return TRUE
        return None if argument.startswith(begun) else FALSE
    if method == "endswith" and not argument[-1:].isdigit():
        return Const(not argument)
    if method == "split" and argument == ":":
        items = (Const(begun[:-1]), text("a number"))
        return ListObject(items, None, "list", call.site.node)
    return None


def _begun(call: Call) -> Value:
    """What `format` gives: a string that begins as the form does."""
    return text_begun(str(constant(call.receiver, "")).partition("{")[0])


def _is_small(method: str, subject: str, arguments: list[Any]) -> bool:
    """Whether what a method gives is surely not huge, whatever a program asks for."""
    texts = [subject, *(each for each in arguments if isinstance(each, str))]
    if any(len(each) > MOST_LETTERS for each in texts) or len(arguments) > MOST_LETTERS:
        return False
    if method in _PADDING:
        return all(each <= MOST_LETTERS for each in arguments if isinstance(each, int))
    if method == "replace" and len(texts) == 3:
        return (len(subject) + 1) * len(texts[2]) <= MOST_LETTERS
    return method != "format" or _LONG_NUMBER.search(subject) is None


def _lifted(found: Any, call: Call) -> Value:
    if isinstance(found, list):
        return ListObject(tuple(Const(part) for part in found), None, "list", call.site.node)
    if isinstance(found, tuple):
        return TupleValue(tuple(Const(part) for part in found))
    return Const(found)


def _join(call: Call) -> Value:
    between = constant(call.receiver)
    items, rest = call.services.iterate(call.args[0]) if call.args else ((), None)
    parts = [constant(item) for item in items]
    if isinstance(between, str) and rest is None and all(isinstance(p, str) for p in parts):
        return Const(between.join(str(p) for p in parts))
    return text("a string")


def register() -> None:
    """Fills the registry."""
    for name in (*_PURE, *words("encode isalpha islower")):
        registry.FUNCTIONS["str." + name] = _method
        registry.FUNCTIONS["builtins.str." + name] = _of_class
    registry.FUNCTIONS["str.join"] = _join
    registry.FUNCTIONS["str.format_map"] = _format_map
