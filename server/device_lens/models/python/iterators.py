"""Built-in functions that make iterators, and `next`."""

from __future__ import annotations

from itertools import pairwise, product
from math import prod

from device_lens.domain.by_number import MOST_PLACES, keep_places
from device_lens.domain.code import BoundMethod, Function
from device_lens.domain.guard import Guarded, choose, undecided
from device_lens.domain.heap import MADE_UNDER, ListObject
from device_lens.domain.join import join_all, join_blind
from device_lens.domain.lengths import is_unplaced, keep_unplaced
from device_lens.domain.objects import any_of_these, holds_all, holds_objects, keep_any
from device_lens.domain.optional_items import by_place, keep_presence, where_present
from device_lens.domain.values import (
    NONE,
    Const,
    External,
    Partial,
    SliceValue,
    TupleValue,
    Unknown,
)
from device_lens.models import registry
from device_lens.models.call import Call, Model, Value, constant, is_none
from device_lens.models.numbers import FIRST_NUMBER, NUMBERS, number
from device_lens.models.python.all_gpus import counts_what_is_there
from device_lens.models.python.builtins import any_item, first_argument, listing
from device_lens.models.python.picked import (
    done_to,
    keep_held,
    lose_one,
    of_each,
    one_of,
    rows_of,
    some_of,
)
from device_lens.models.python.sequence_cases import by_case
from device_lens.models.python.sets import is_set

MAX_RANGE = 4
"""Longest range whose numbers are known one by one."""
MOST_MAPPED = 16
"""Rows that `map` calls its function with one by one."""
MOST_FILTERED = 256
"""Items of which each is asked whether it stays."""
ITERATORS = frozenset({"iter", "generator", "enumerate", "zip", "map", "filter", "iterator"})
"""Kinds of lists that are used up as they are read."""


def _range(call: Call) -> Value:
    bounds = [constant(value) for value in call.args]
    if bounds and all(isinstance(b, int) for b in bounds):
        try:
            numbers = range(*bounds)
        except (TypeError, ValueError):
            return listing(call, (), number("an index"), "range")
        if len(numbers) <= MAX_RANGE:
            return listing(call, tuple(Const(n) for n in numbers), None, "range")
        found = listing(call, (), number("an index"), "range")
        found.fields["length"] = len(numbers)
        found.fields[NUMBERS] = numbers
        keep_places(found, tuple(map(Const, numbers[:MOST_PLACES])))
        return found
    if len(call.args) == 1 and counts_what_is_there(call.args[0]):
        some = _from(call, 0, (Const(0),), call.args[0].yes)
        return Guarded(call.args[0].atom, some, listing(call, (), None, "range"))
    first = 0 if len(call.args) == 1 else bounds[0] if len(call.args) == 2 else None
    return _from(call, first, ())


def _from(call: Call, first: object, items: tuple[Value, ...], count: Value = None) -> Value:
    """A range of any length: where it begins is known, so that each of its numbers is."""
    found = listing(call, items, number("an index"), "range")
    if type(first) is int and call.complete:
        keep_places(found, tuple(map(Const, range(first, first + MOST_PLACES))), count)
    return found


def _slice(call: Call) -> Value:
    """`slice(stop)`, `slice(start, stop, step)`: what `start:stop:step` is between brackets."""
    if not call.complete or not 0 < len(call.args) < 4:
        return Unknown("a slice")
    bounds = (NONE, *call.args) if len(call.args) == 1 else call.args
    return SliceValue(*bounds, *[NONE] * (3 - len(bounds)))


def _length_of(value: Value) -> int | None:
    length = getattr(value, "fields", {}).get("length") if hasattr(value, "fields") else None
    return length if isinstance(length, int) else None


def _like(call: Call, source: Value, items: tuple[Value, ...], rest: Value) -> ListObject:
    """A sequence that runs as often as `source` does."""
    runs = type(source) is not Unknown and not (
        type(source) is ListObject and source.kind == "list" and not source.items
    )
    found = listing(call, items, rest, "enumerate" if runs else "iterator")
    length = _length_of(source)
    if length is not None:
        found.fields["length"] = length
    return found


def _enumerate(call: Call) -> Value:
    source = first_argument(call)
    items, rest = call.services.iterate(source)
    start, any_index = constant(call.get(1, "start"), 0), number("an index")
    surely = -1 if is_unplaced(source) else len(by_place(source, items, rest)[0])
    numbered = tuple(
        TupleValue((Const(start + i) if type(start) is int and i <= surely else any_index, item))
        for i, item in enumerate(items)
    )
    more = None if rest is None else TupleValue((number("an index"), rest))
    others = (TupleValue((number("an index"), each)) for each in any_of_these(source))
    found = keep_presence(_like(call, source, numbered, more), where_present(source, items))
    keep_unplaced(source, found)
    if type(start) is int:
        found.fields[FIRST_NUMBER] = start
    return keep_any(found, others, whole=holds_all(source))


def _zip(call: Call) -> Value:
    columns, present = _columns(call)
    if not columns:
        return listing(call, (), None)
    if not call.complete:
        return _transposed(call, columns)
    if len({id(value) for value in call.args}) < len(call.args):
        # The same iterator again gives the items that come after, not the same ones.
        mixed = tuple(any_item(items, rest) for items, rest in columns)
        return _like(call, call.args[0], (), TupleValue(mixed))
    bounded = [len(items) for items, rest in columns if rest is None]
    if bounded and min(bounded) > 0 and any(map(any_of_these, call.args)):
        anything = TupleValue(tuple(any_item(items, rest) for items, rest in columns))
        found = _like(call, call.args[0], (), anything)
        return keep_any(found, _other_rows(call, anything), picked=True)
    count = min(bounded) if bounded else min(len(items) for items, _ in columns)
    rows = []
    for index in range(count):
        row = [items[index] if index < len(items) else rest for items, rest in columns]
        rows.append(TupleValue(tuple(Unknown() if v is None else v for v in row)))
    more = None
    if not bounded:
        more = TupleValue(tuple(any_item(items[count:], rest) for items, rest in columns))
    found = keep_presence(_like(call, call.args[0], tuple(rows), more), present[:count])
    return found if more is None else keep_any(found, _other_rows(call, more))


def _columns(call: Call) -> tuple[list[tuple[tuple[Value, ...], Value]], tuple[Value, ...]]:
    """What each argument of `zip` has, and the conditions under which its items are there, where
    these are those of all; other items have no places."""
    columns = [call.services.iterate(value) for value in call.args]
    present = [where_present(v, items) for v, (items, _) in zip(call.args, columns, strict=True)]
    if all(each == present[0] for each in present):
        return columns, present[0] if present else ()
    placed = (by_place(v, *column) for v, column in zip(call.args, columns, strict=True))
    return list(placed), ()


def _other_rows(call: Call, row: TupleValue) -> list[TupleValue]:
    """What a row of `zip` may be where an item of it stands for any of several."""
    return [
        TupleValue((*row.items[:place], each, *row.items[place + 1 :]))
        for place, source in enumerate(call.args)
        for each in any_of_these(source)
    ]


def _transposed(call: Call, columns: list[tuple[tuple[Value, ...], Value]]) -> Value:
    """`zip(*rows)` with any number of rows like the last one: a tuple for each of its items."""
    *known, (last, rest) = columns
    if rest is not None or any(more is not None or len(i) < len(last) for i, more in known):
        return listing(call, (), Unknown())
    found = [
        listing(call, tuple(items[index] for items, _ in known), item, "tuple")
        for index, item in enumerate(last)
    ]
    return listing(call, tuple(found), None)


def _reversed(call: Call) -> Value:
    source = first_argument(call)
    items, rest = call.services.iterate(source)
    if rest is None:
        made = listing(call, tuple(reversed(items)), None)
        return keep_presence(made, where_present(source, items)[::-1])
    return some_of(call, source, picked=False)


def _map(call: Call) -> Value:
    if len(call.args) < 2:
        return listing(call, (), Unknown())
    function, *sources = call.args
    if len(sources) == 1:
        of_picks = of_each(call, function, sources[0], "map")
        if of_picks is not None:
            return of_picks
    read_up = call.services.is_read_up(call.site.node)
    rows, further = rows_of(call, sources, MOST_MAPPED)
    found = tuple(done_to(call, function, row, read_up) for row in rows)
    more = None if further is None else done_to(call, function, further, read_up)
    return listing(call, found, more, "map")


def _star_map(call: Call) -> Value:
    """`itertools.starmap(f, rows)`: what a function gives for the items of each row."""
    if len(call.args) != 2:
        return listing(call, (), Unknown())
    read_up = call.services.is_read_up(call.site.node)

    def one(row: Value) -> Value:
        items, rest = call.services.iterate(row)
        return Unknown() if rest is not None else done_to(call, call.args[0], items, read_up)

    rows, further = rows_of(call, [call.args[1]], MOST_MAPPED)
    more = None if further is None else one(further[0])
    return listing(call, tuple(one(row) for (row,) in rows), more, "map")


def _accumulate(call: Call) -> Value:
    """`itertools.accumulate(items, function=add, *, initial=None)`: what `reduce` gives for as many
    of the items as have come."""
    if not call.args:
        return listing(call, (), Unknown(), "iter")
    function = call.get(1, "func", NONE)
    function = External("operator.add") if is_none(function) else function
    items, rest = call.services.iterate(call.args[0])
    first = call.kwargs.get("initial", NONE)
    values = list(items if is_none(first) else (first, *items))
    if len(values) > MOST_MAPPED:
        rest = join_all([*values[MOST_MAPPED:], *([] if rest is None else [rest])])
        values = values[:MOST_MAPPED]
    found = values[:1]
    for value in values[1:]:
        found.append(call.services.invoke(function, (found[-1], value), {}))
    if rest is None:
        return listing(call, tuple(found), None, "map")
    last = found[-1] if found else rest
    once = call.services.invoke(function, (last, rest), {})
    twice = call.services.invoke(function, (once, rest), {})
    more = join_all([rest, once, twice] if not found else [once, twice])
    return listing(call, tuple(found), more, "map")


def _pairwise(call: Call) -> Value:
    """`itertools.pairwise(items)`: each item with the next one."""
    items, rest = by_place(first_argument(call), *call.services.iterate(first_argument(call)))
    pairs = tuple(map(TupleValue, pairwise(items)))
    each = None if rest is None else any_item(items, rest)
    return listing(call, pairs, None if each is None else TupleValue((each, each)), "zip")


def _product(call: Call) -> Value:
    """`itertools.product(xs, ys, repeat=1)`: each row where there are a few, else any."""
    times = constant(call.kwargs.get("repeat"), 1) if call.complete else 0
    if type(times) is not int or not 0 < times * len(call.args) <= MOST_MAPPED:
        return listing(call, (), Unknown(), "iter")
    columns = [by_place(each, *call.services.iterate(each)) for each in call.args] * times
    count = prod(len(items) for items, _ in columns)
    if count <= MOST_MAPPED and all(rest is None for _, rest in columns):
        rows = product(*(items for items, _ in columns))
        return listing(call, tuple(map(TupleValue, rows)), None, "iter")
    found = [
        Unknown() if not items and more is None else any_item(items, more)
        for items, more in columns
    ]
    return listing(call, (), TupleValue(tuple(found)), "iter")


def _read_later(model: Model) -> Model:
    """A function whose answer makes its items when it is read, by the program's code or PyTorch's,
    or takes them from one that does."""

    def of_lazy(call: Call) -> Value:
        found = model(call)
        if type(found) is ListObject and any(map(_makes_items, call.args)):
            call.services.made_lazily(found)
        return found

    return of_lazy


def _makes_items(value: Value) -> bool:
    if type(value) is ListObject:
        return value.kind == "generator" or MADE_UNDER in value.fields
    if type(value) is External:
        return value.name[:6] == "torch."
    return type(value) in (Function, BoundMethod, Partial)


def _filter(call: Call) -> Value:
    if len(call.args) != 2:
        return listing(call, (), Unknown())
    items, rest = call.services.iterate(call.args[1])
    if rest is None and len(items) <= MOST_FILTERED:
        kept = [(item, _asked(call, item)) for item in items]
        stays = tuple(item for item, answer in kept if answer is not False)
        if all(type(answer) is bool for _, answer in kept):
            return listing(call, stays, None, "filter")
        return keep_any(listing(call, (), any_item(stays, None), "filter"), stays)
    element = any_item(items, rest)
    _asked(call, element)
    return some_of(call, call.args[1], "filter")


def _asked(call: Call, item: Value) -> Value:
    """The condition under which `filter` keeps an item."""
    test = call.args[0]
    return call.services.truth(item if test == NONE else call.services.invoke(test, (item,), {}))


def _next(call: Call) -> Value:
    value = first_argument(call)
    items, rest = by_place(value, *call.services.iterate(value))
    if items:
        if type(value) is ListObject and (rest is not None or len(items) > 1):
            call.write(value.fields, "items", items[1:])
        return items[0]
    default = call.args[1] if len(call.args) > 1 else None
    if rest is None:
        return Unknown() if default is None else default
    if any_of_these(value):
        lose_one(call, value)
        picked = one_of(call, value)
        return picked if is_none(default) else choose(undecided(), picked, default)
    return rest if is_none(default) else join_blind(rest, default)  # it may have ended


def _iter(call: Call) -> Value:
    """`iter(items)`: an iterator is its own; of anything else it is a new one."""
    source = first_argument(call)
    if type(source) is ListObject and source.kind in ITERATORS:
        return source
    items, rest = call.services.iterate(source)
    if is_set(source) and holds_objects(items):
        return some_of(call, source, "iter", picked=False)  # in no order that is known
    made = keep_presence(listing(call, items, rest, "iter"), where_present(source, items))
    return keep_held(source, made)


def _as_method(model: Model) -> Model:
    """`items.__iter__()` for `iter(items)`."""

    def of_receiver(call: Call) -> Value:
        args = (call.receiver, *call.args)
        return model(Call(call.name, None, args, {}, call.site, call.services))

    return of_receiver


def register() -> None:
    """Fills the registry."""
    models: dict[str, Model] = {
        "range": by_case(_range),
        "slice": _slice,
        "enumerate": by_case(_read_later(_enumerate)),
        "zip": by_case(_read_later(_zip)),
        "reversed": by_case(_reversed),
        "map": _read_later(_map),
        "filter": _read_later(_filter),
        "iter": by_case(_iter),
        "aiter": _iter,
        "next": _next,
        "anext": _next,
    }
    for name, model in models.items():
        registry.FUNCTIONS["builtins." + name] = model
    registry.FUNCTIONS["itertools.starmap"] = _read_later(_star_map)
    registry.FUNCTIONS["itertools.accumulate"] = _accumulate
    registry.FUNCTIONS["itertools.pairwise"] = _pairwise
    registry.FUNCTIONS["itertools.product"] = _product
    registry.FUNCTIONS["list.__iter__"] = _as_method(_iter)
    registry.FUNCTIONS["list.__next__"] = _as_method(_next)
