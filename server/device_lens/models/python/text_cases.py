"""Texts that hang on conditions: what is put together of them is told apart as they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from device_lens.domain.guard import Guarded, combine, depth
from device_lens.domain.join import MAX_VALUE_DEPTH
from device_lens.models.call import Value


def by_cases(function: Callable[..., Value], parts: Sequence[Value], otherwise: Value) -> Value:
    """`function` of the parts in each case that they tell apart; `otherwise` where these are too
    many, and in each of them where what is found has too many of its own: put into the order of
    conditions they multiply."""
    if not any(type(part) is Guarded for part in parts):
        return function(*parts)
    spare = MAX_VALUE_DEPTH - sum(map(depth, parts))
    if spare < 0:
        return otherwise

    def found(*case: Value) -> Value:
        value = function(*case)
        return value if depth(value) <= spare else otherwise

    every: Value = combine(found, *parts)
    return every
