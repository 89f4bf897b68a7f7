"""What a program gives its own parser: `parser.parse_args(["--gpu", "1"])`."""

from __future__ import annotations

from collections.abc import Iterator

from device_lens.domain.heap import Instance, ListObject
from device_lens.domain.values import NONE, Const, External, TupleValue, Unknown
from device_lens.models.call import Call, Value, constant

OPTIONS = "<options>"
"""The field of a parser for its options: the names of each, its destination, and how it was
declared."""
_DECLARED = ("action", "const", "nargs", "type")
_SWITCHES = {"store_true": True, "store_false": False}
_NUMBERS = {External("builtins.int"): int, External("builtins.float"): float}


def declare(call: Call, names: tuple[str, ...], destination: str) -> None:
    """Takes note of what `add_argument` says."""
    parser = call.receiver
    if isinstance(parser, Instance):
        declared = tuple(call.kwargs.get(each, NONE) for each in _DECLARED)
        option = (names, destination, declared)
        call.write(parser.fields, OPTIONS, (*parser.fields.get(OPTIONS, ()), option))


def given(call: Call) -> dict[str, Value] | None:
    """What `parse_args` gives by destination; None where the program gives words that are not
    known, or may mean anything."""
    texts = call.get(0, "args", NONE)
    if type(texts) not in (ListObject, TupleValue):
        return {}
    items, rest = call.services.iterate(texts)
    words = [constant(item) for item in items]
    parser = call.receiver
    options = parser.fields.get(OPTIONS, ()) if isinstance(parser, Instance) else ()
    if rest is not None or type(options) is not tuple:
        return None
    found: dict[str, Value] = {}
    waiting = [each for each in words if isinstance(each, str)]
    if len(waiting) != len(words):
        return None
    waiting.reverse()
    while waiting:
        word = waiting.pop()
        name, has_value, value = word.partition("=")
        option = _option(options, name) if word.startswith("-") else None
        if option is None:
            return None  # a value for what stands by position, or an abbreviated name
        if has_value:
            waiting.append(value)
        _, destination, declared = option
        found[destination] = _value(call, destination, declared, waiting)
    return found


def _option(options: tuple[Value, ...], name: str) -> Value:
    """The option of a name; Python's None where none has it, or more than one."""
    fitting = [each for each in options if type(each) is tuple and name in each[0]]
    return fitting[0] if len(fitting) == 1 and len(fitting[0]) == 3 else None


def _value(call: Call, destination: str, declared: Value, waiting: list[str]) -> Value:
    """What an option gets, with the words that it takes taken off the waiting ones."""
    action, const, nargs, converter = declared
    unknown = Unknown(f"args.{destination}")
    switch = _SWITCHES.get(str(constant(action)))
    if switch is not None:
        return Const(switch)
    if constant(action) == "store_const":
        return const
    words = [*_taken(waiting)] if nargs is not NONE else [waiting.pop()] if waiting else []
    if nargs is not NONE or action not in (NONE, Const("store")) or len(words) != 1:
        return unknown
    word: Value = Const(words[0])
    if converter in (NONE, External("builtins.str")):
        return word
    number = _NUMBERS.get(converter) if isinstance(converter, External) else None
    if number is None:
        return call.services.invoke(converter, (word,), {})
    try:
        return Const(number(words[0]))
    except ValueError:
        return unknown


def _taken(waiting: list[str]) -> Iterator[str]:
    """The words up to the next option."""
    while waiting and not waiting[-1].startswith("-"):
        yield waiting.pop()
