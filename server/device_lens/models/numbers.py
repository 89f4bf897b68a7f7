"""Numbers and strings that the analysis knows to be such, though not which."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from device_lens.domain.device import some_device
from device_lens.domain.guard import Guarded
from device_lens.domain.heap import ListObject
from device_lens.domain.plain import FRACTION, NUMBER, WHOLE_NUMBER, type_of_number
from device_lens.domain.values import TRUE, Const, Dim, Shape, TupleValue, Unknown
from device_lens.models.call import Value

NUMBERS = "numbers"
"""The field of a range for its numbers where it has too many to be told one by one as a rule."""
FIRST_NUMBER = "first number"
"""The field of what counts the items of something for the number of the first."""
DRAWN = "a random number"
"""What a number that is drawn is called."""
COUNTED = "how far the run is"
"""What a number is called that begins at 0 and grows, and whatever hangs on such a one alone."""
_SHARE = "<share of one>"
_TEXT = "<text>"
_NOT_NONE = "<not None>"
_START = "<start>"
_AMONG = "<one of these>"


def number(label: str = "") -> Unknown:
    """An unknown that is surely a Python number: one size, not a tuple of sizes."""
    value = Unknown(label)
    value.fields = {NUMBER: TRUE}
    return value


def share() -> Unknown:
    """A random number that is at least 0, and less than 1."""
    value = fraction(DRAWN)
    value.parts()[_SHARE] = TRUE
    return value


def whole_number(label: str = "") -> Unknown:
    """One that is surely an `int`, and no `bool`."""
    value = Unknown(label)
    value.fields = {NUMBER: TRUE, WHOLE_NUMBER: TRUE}
    return value


def fraction(label: str = "") -> Unknown:
    """One that is surely a `float`."""
    value = Unknown(label)
    value.fields = {NUMBER: TRUE, FRACTION: TRUE}
    return value


def number_above(bound: int | float, label: str = "") -> Unknown:
    """A number that is known to be larger than another; a whole one where that is."""
    value = number(label)
    value.parts()[NUMBER] = Const(bound)
    return value


def counted() -> Unknown:
    """The number of a step or an epoch."""
    return number_above(-1, COUNTED)


def rest_of_count(value: Value, other: Value) -> Unknown | None:
    """`step % 10` is each of the numbers below 10 in its time; None for what is no such thing."""
    every = other.value if type(other) is Const else None
    if type(value) is not Unknown or value.label != COUNTED or not isinstance(every, int):
        return None
    key = "%", every
    known = value.parts().get(key)
    return known or value.derive(key, counted()) if every > 1 else None


def told_by_bound(value: Value, comparison: type[ast.cmpop], other: Value) -> bool | None:
    """What `value <comparison> other` is where the bound of a number tells it, else None."""
    bound, limit = _bound(value), other.value if type(other) is Const else None
    if not isinstance(limit, int | float):
        return None
    if type(value) is Unknown and value.fields and _SHARE in value.fields:
        return _of_share(comparison, limit)
    if bound is None:
        return None
    if limit <= bound:
        return comparison in (ast.Gt, ast.GtE, ast.NotEq)
    is_least = type(bound) is int and limit <= bound + 1
    return comparison is ast.GtE if is_least and comparison in (ast.GtE, ast.Lt) else None


def _of_share(comparison: type[ast.cmpop], limit: int | float) -> bool | None:
    """The same of a number that is at least 0, and less than 1."""
    if limit >= 1:
        return comparison in (ast.Lt, ast.LtE, ast.NotEq)
    if limit < 0:
        return comparison in (ast.Gt, ast.GtE, ast.NotEq)
    return comparison is ast.GtE if limit == 0 and comparison in (ast.GtE, ast.Lt) else None


def _bound(value: Value) -> int | float | None:
    """What an unknown number is known to be larger than."""
    mark = value.fields.get(NUMBER) if type(value) is Unknown and value.fields else None
    bound = mark.value if type(mark) is Const else None
    return bound if type(bound) in (int, float) else None


def is_whole(value: Value) -> bool | None:
    """Whether an unknown number is an `int`, else a `float`; None where that is not known."""
    known = type_of_number(value)
    if known is not None:
        return known == WHOLE_NUMBER
    bound = _bound(value)
    return None if bound is None else type(bound) is int


def is_number(value: Value) -> bool:
    if type(value) is Const:
        return isinstance(value.value, (int, float, complex))
    if type(value) is Guarded:
        return is_number(value.yes) and is_number(value.no)
    return type(value) is Unknown and value.fields is not None and NUMBER in value.fields


def text(label: str = "") -> Unknown:
    """An unknown that is surely a string."""
    value = Unknown(label)
    value.fields = {_TEXT: TRUE}
    return value


def text_begun(start: str, label: str = "a string") -> Unknown:
    """A string of which the beginning is known: it may name a device of some number."""
    value = text(label if some_device(start) is None else f"{start}?")
    value.parts()[_START] = Const(start)
    return value


def start_of(value: Value) -> str:
    """What a string that is not known surely begins with."""
    start = value.fields.get(_START) if type(value) is Unknown and value.fields else None
    return str(start.value) if type(start) is Const else ""


def fitting(entries: Mapping[Any, Any], key: Value) -> tuple[Any, ...]:
    """What a dict may have under a key that is not known: of a text that begins so, what is under
    names that do."""
    start = start_of(key)
    if not start:
        return tuple(entries.values())
    return tuple(
        value
        for name, value in entries.items()
        if not isinstance(name, str) or name.startswith(start)
    )


def note_not_none(value: Unknown) -> Unknown:
    """Tells of what a command line gives that it is not None, whatever else it is."""
    value.parts()[_NOT_NONE] = TRUE
    return value


def is_never_none(value: Unknown) -> bool:
    """Whether an unknown surely is not None."""
    return value.fields is not None and _NOT_NONE in value.fields


def one_among(texts: tuple[str, ...], label: str) -> Unknown:
    """What is one of these strings if it is given at all."""
    value = Unknown(label)
    value.parts()[_AMONG] = texts
    return value


def texts_meant(value: Value) -> tuple[str, ...] | None:
    """The strings that an unknown may be; None where it may be any."""
    return value.fields.get(_AMONG) if type(value) is Unknown and value.fields else None


def is_one_of_few(value: Value) -> bool:
    """Whether an unknown is one of a few strings that are known."""
    return texts_meant(value) is not None


def text_numbered(start: str) -> Unknown:
    """A string that begins so, with digits behind."""
    value = text_begun(start)
    value.parts()[_TEXT] = Const(start)
    return value


def beginning(value: Value) -> str | None:
    """What comes before the digits of a string that is otherwise known; None of any other."""
    if type(value) is not Unknown or value.fields is None:
        return None
    begun = value.fields.get(_TEXT, TRUE)
    return begun.value if type(begun) is Const and isinstance(begun.value, str) else None


def is_text(value: Value) -> bool:
    if type(value) is Const:
        return isinstance(value.value, str)
    return type(value) is Unknown and value.fields is not None and _TEXT in value.fields


def is_plain(value: Unknown) -> bool:
    """Whether an unknown is surely a number or a string: it is on no device."""
    return value.fields is not None and (NUMBER in value.fields or _TEXT in value.fields)


def dimension(value: Value) -> Dim:
    """The size that a value is: a number, or None where it is not known."""
    if type(value) is Const and type(value.value) is int:
        return value.value
    return None


def of_dimension(dim: Dim) -> Value:
    """The value of a size."""
    return Const(dim) if isinstance(dim, int) else number(dim or "")


def of_shape(shape: Shape) -> TupleValue | None:
    """The `torch.Size` of a known number of dimensions."""
    return None if shape is None else TupleValue(tuple(of_dimension(dim) for dim in shape))


def size_of(shape: Shape, zero_dim: bool | None, site: Any) -> TupleValue | ListObject:
    """A `torch.Size`: where the number of dimensions is not known, they are numbers all the
    same, and one at least where there surely are some."""
    first = (number("size"),) if zero_dim is False else ()
    return of_shape(shape) or ListObject(first, number("size"), "tuple", site)


def sequence(value: Value) -> tuple[Value, ...] | None:
    """The items of a tuple or list of known length, else None."""
    if type(value) is TupleValue:
        return value.items
    if type(value) is ListObject and value.rest is None:
        return value.items
    return None
