"""In which order `sorted` and `.sort()` put what they are given."""

from __future__ import annotations

from device_lens.domain.values import Const, TupleValue
from device_lens.models.call import Call, Value, constant
from device_lens.models.python.picked import is_whole


def in_order(
    call: Call, source: Value, items: tuple[Value, ...], asked: tuple[Value, ...] | None
) -> tuple[Value, ...] | None:
    """Items in the order of texts or numbers that are known: those that `asked` has for each, by
    `key=` or themselves, or the first ones of rows; None where these do not tell."""
    rows = asked or ()
    firsts = [row.items[0] if type(row) is TupleValue and row.items else row for row in rows]
    if asked is None or not all(type(first) is Const for first in firsts):
        return None
    if not is_whole(source, items, None):
        return None
    keys = [first.value for first in firsts]
    kinds, backwards = set(map(type, keys)), constant(call.get(1, "reverse", Const(False)))
    if type(backwards) is not bool or not (kinds <= {str} or kinds <= {bool, int, float}):
        return None
    if len(set(keys)) < len(keys) and any(type(row) is not Const for row in rows):
        return None  # what else is in the rows tells; those that are equal stay as they stood
    places = sorted(range(len(items)), key=keys.__getitem__, reverse=backwards)
    return tuple(items[place] for place in places)
