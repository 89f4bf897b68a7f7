"""Texts that hang on conditions: what is put together of them is told apart as they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from device_lens.domain.guard import Guarded, combine, depth
from device_lens.domain.join import MAX_VALUE_DEPTH
from device_lens.models.call import Value


def by_cases(function: Callable[..., Value], parts: Sequence[Value], otherwise: Value) -> Value:
    """`function` of the parts in each case that they tell apart; `otherwise` where these are too
    many."""
    if not any(type(part) is Guarded for part in parts):
        return function(*parts)
    if sum(map(depth, parts)) > MAX_VALUE_DEPTH:
        return otherwise
    found: Value = combine(function, *parts)
    return found
