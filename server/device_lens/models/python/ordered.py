"""In which order `sorted` puts what it is given."""

from __future__ import annotations

from device_lens.domain.values import Const, TupleValue
from device_lens.models.call import Call, Value, constant


def in_order(call: Call, items: tuple[Value, ...]) -> tuple[Value, ...] | None:
    """Items in the order of texts or numbers that are known: their own, or the first ones of rows;
    None where these do not tell."""
    firsts = [i.items[0] if type(i) is TupleValue and i.items else i for i in items]
    if not all(type(first) is Const for first in firsts) or "key" in call.kwargs:
        return None
    keys = [first.value for first in firsts]
    kinds, backwards = set(map(type, keys)), constant(call.get(1, "reverse", Const(False)))
    if len(set(keys)) < len(keys) or type(backwards) is not bool:
        return None
    if not (kinds <= {str} or kinds <= {int, float}):
        return None
    places = sorted(range(len(items)), key=keys.__getitem__, reverse=backwards)
    return tuple(items[place] for place in places)
