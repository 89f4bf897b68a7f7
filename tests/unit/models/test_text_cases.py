"""Values that are told apart by conditions, each of which has cases of its own."""

from __future__ import annotations

from typing import Any

from device_lens.domain.guard import choose, depth, leaves, undecided
from device_lens.domain.join import MAX_VALUE_DEPTH
from device_lens.domain.values import Const
from device_lens.models.python.text_cases import by_cases


def _told_apart(count: int, first: int = 0) -> Any:
    """A tree over as many conditions as asked for, with another number in each case."""
    if count == 0:
        return Const(first)
    half = 2 ** (count - 1)
    return choose(undecided(), _told_apart(count - 1, first), _told_apart(count - 1, first + half))


def test_cases_of_cases_do_not_multiply() -> None:
    part = _told_apart(MAX_VALUE_DEPTH - 1)
    found = by_cases(lambda case: _told_apart(MAX_VALUE_DEPTH), (part,), Const("any"))
    assert found == Const("any")
    found = by_cases(lambda case: _told_apart(1), (part,), Const("any"))
    assert Const("any") not in leaves(found)
    assert depth(found) <= 2**MAX_VALUE_DEPTH


def test_what_has_no_cases_keeps_those_that_are_found() -> None:
    found = by_cases(lambda case: _told_apart(MAX_VALUE_DEPTH + 1), (Const(1),), Const("any"))
    assert len(set(map(repr, leaves(found)))) == 2 ** (MAX_VALUE_DEPTH + 1)
