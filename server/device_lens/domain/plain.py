"""Numbers of which nothing but that is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from device_lens.domain.values import TRUE, Const, Unknown

NUMBER = "<number>"
"""The field of an unknown that is surely a Python number: one size, not a tuple of sizes."""

WHOLE_NUMBER, FRACTION = "<int>", "<float>"
"""The fields of one that is surely an `int`, and no `bool`, or a `float`."""


def type_of_number(value: Any) -> str | None:
    """Which of the two a number is of which nothing else is known; None where it may be either."""
    fields = value.fields if type(value) is Unknown else None
    if not fields:
        return None
    return next((each for each in (WHOLE_NUMBER, FRACTION) if each in fields), None)


def any_number(values: Sequence[Any]) -> Unknown | None:
    """Any of some numbers; None where one of the values may be something else."""
    if not all(map(_is_number, values)):
        return None
    found = Unknown()
    found.fields = {NUMBER: TRUE}
    return found


def _is_number(value: Any) -> bool:
    if type(value) is Const:
        return isinstance(value.value, int | float | complex)
    return type(value) is Unknown and value.fields is not None and NUMBER in value.fields
