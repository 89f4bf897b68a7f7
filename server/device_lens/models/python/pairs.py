"""Dicts that are filled from pairs of keys and values."""

from __future__ import annotations

from device_lens.domain.heap import DictObject
from device_lens.domain.join import join_blind
from device_lens.domain.objects import any_of_these, holds_all, keep_any
from device_lens.domain.optional_items import where_present
from device_lens.domain.presence import put
from device_lens.domain.values import Const, TupleValue, Unknown
from device_lens.models.call import Call, Value


def fill_from_pairs(call: Call, found: DictObject, source: Value) -> None:
    """Puts pairs into a new dict: where their values may be any of several, it has any of those."""
    items, rest = call.services.iterate(source)
    for pair, present in zip(items, where_present(source, items), strict=True):
        known = _is_pair(pair)
        if known and type(pair.items[0]) is Const:
            put(call.services.journal, found.entries, pair.items[0].value, pair.items[1], present)
        else:
            rest = pair if rest is None else join_blind(rest, pair)
    if _is_pair(rest):
        found.fields["rest_key"], found.fields["rest"] = rest.items
        numbered = getattr(source, "kind", "") in ("enumerate", "iterator")  # no key comes twice
        keep_any(found, values_of(source), whole=numbered and holds_all(source))
    elif rest is not None:
        found.fields["rest"] = Unknown()


def values_of(source: Value) -> list[Value]:
    """What the values of pairs may be, where these may be any of several."""
    return [pair.items[1] for pair in any_of_these(source) if _is_pair(pair)]


def _is_pair(value: Value) -> bool:
    return type(value) is TupleValue and len(value.items) == 2
