"""Items and slices of sequences that are known, wholly or in part."""

from __future__ import annotations

from typing import Any

from device_lens.domain.heap import MISSING, DictObject, ListObject
from device_lens.domain.kinds import gathered, opened
from device_lens.domain.objects import keep_any
from device_lens.domain.values import Const, SliceValue, TupleValue, Unknown
from device_lens.models.call import constant

CONTAINERS = (DictObject, TupleValue, ListObject)


def of_sequence(
    items: tuple[Any, ...],
    rest: Any,
    index: Any,
    kind: str,
    node: Any,
    others: tuple[Any, ...] = (),
) -> Any:
    """`items[index]`, with any number of `rest` after the known ones, which stands for `others`."""
    if type(index) is SliceValue:
        return _slice(items, rest, index, kind, node, others)
    position = constant(index)
    if isinstance(position, str) or type(index) in CONTAINERS:
        return Unknown()  # it raises: what is indexed is something else
    if isinstance(position, int):
        if 0 <= position < len(items):
            return items[position]
        if position < 0 and rest is None and -position <= len(items):
            return items[position]
        if rest is not None and position >= 0:
            return opened(rest)
    found = opened(gathered(items, rest))
    return found if found is not None else Unknown()


def _slice(
    items: tuple[Any, ...],
    rest: Any,
    index: SliceValue,
    kind: str,
    node: Any,
    others: tuple[Any, ...],
) -> Any:
    bounds = [constant(part, MISSING) for part in (index.start, index.stop, index.step)]
    if rest is None and all(b is None or isinstance(b, int) for b in bounds):
        kept = items[slice(*bounds)] if bounds[2] != 0 else ()
        if kind == "tuple":
            return TupleValue(kept)
        return ListObject(kept, None, kind, node)
    kept, further = _part(items, rest, bounds)
    made = ListObject(kept, further, "list" if kind != "tuple" else kind, node)
    if further is None:
        return made
    held = (*items[len(kept) :], *others, *(() if rest is None else (rest,)))
    return keep_any(made, held, picked=bounds != [None, None, None])


def _part(items: tuple[Any, ...], rest: Any, bounds: list[Any]) -> tuple[tuple[Any, ...], Any]:
    """What a slice takes of items known one by one and any number of others after them: those
    that it surely begins with, and what any further one is."""
    start, stop, step = bounds
    start = 0 if start is None else start
    forward = isinstance(start, int) and 0 <= start <= len(items) and step in (None, 1)
    if forward and stop is None:
        return items[start:], rest
    if forward and isinstance(stop, int):
        if stop > len(items):
            return items[start:], rest
        if stop >= 0:
            return items[start:stop], None
        return items[start:stop], gathered(items[max(start, len(items) + stop) :], rest)
    return (), gathered(items, rest)


def of_constant(value: Any, index: Any) -> Any:
    """A letter or part of a text."""
    position = constant(index)
    if (
        isinstance(value, str)
        and isinstance(position, int)
        and -len(value) <= position < len(value)
    ):
        return Const(value[position])
    if isinstance(value, str) and type(index) is SliceValue:
        bounds = [constant(part, MISSING) for part in (index.start, index.stop, index.step)]
        if all(b is None or isinstance(b, int) for b in bounds) and bounds[2] != 0:
            return Const(value[slice(*bounds)])
    return Unknown()
