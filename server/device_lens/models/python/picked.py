"""What picks some of the values that there are, in a way that nobody knows: by a key, by a test, by
chance."""

from __future__ import annotations

from collections.abc import Iterable

from device_lens.domain import objects, optional_items
from device_lens.domain.by_number import forget_places
from device_lens.domain.guard import leaves
from device_lens.domain.heap import HELD_ALL, HELD_ANY, DictObject, ListObject, ModuleObject, moment
from device_lens.domain.join import any_changeable, join_all
from device_lens.domain.journal import Journal
from device_lens.domain.kinds import gathered
from device_lens.domain.lengths import AT_LEAST, keep_unplaced, surely_held
from device_lens.domain.objects import any_of_these, any_picked, holds_all, keep_any, may_hold
from device_lens.domain.presence import conditions
from device_lens.domain.values import FALSE, TRUE, TupleValue, Unknown
from device_lens.models.call import Call, Value


def one_of(call: Call, source: Value) -> Value:
    """One item of what can be gone through."""
    return one_of_these(call, [*may_hold(source, *call.services.iterate(source))])


def one_of_these(call: Call, values: list[Value]) -> Value:
    """One of some values: what an index that is not known gives of them."""
    if len(values) < 2:
        return values[0] if values else Unknown()
    return call.services.item(TupleValue(tuple(values)), Unknown())


def some_of(call: Call, source: Value, kind: str = "list", picked: bool = True) -> ListObject:
    """Any of the items of what can be gone through, any number of them and in any order; all of
    them where they are not `picked`."""
    items, rest = call.services.iterate(source)
    held = [each for each in (*items, rest) if each is not None]
    found = ListObject((), join_all(held) if held else None, kind, call.site.node)
    whole = not picked and is_whole(source, items, rest)
    return keep_any(found, may_hold(source, items, rest), picked, whole)


def is_whole(source: Value, items: tuple[Value, ...], rest: Value) -> bool:
    """Whether what can be gone through surely has each value that it may have."""
    if any_of_these(source):
        return holds_all(source) and surely_held(source, items) == len(items)
    if len({*map(id, items)}) < len(items):
        return False  # one of them is done twice what is done to each
    known = type(source) in (TupleValue, ListObject, DictObject)
    return known and rest is None and surely_held(source, items) == len(items)


def keep_held(source: Value, found: ListObject) -> ListObject:
    """Keeps of a list with the items of another what these may be."""
    keep_unplaced(source, found)
    return keep_any(found, any_of_these(source), whole=holds_all(source))


def copied_list(source: ListObject, site: object) -> ListObject:
    """A list with the items of another, made at a site."""
    made = ListObject(source.items, source.rest, source.kind, site)
    optional_items.carry(source, made)
    if AT_LEAST in source.fields:
        made.fields[AT_LEAST] = source.fields[AT_LEAST]
        optional_items.keep_presence(made, conditions(source, source.items))
    return keep_held(source, made)


def keep_put_together(found: ListObject, sources: list[Value]) -> ListObject:
    """Keeps of a list that is put together of others what its items may be where those of one of
    these may be any of several."""
    if not any(map(any_of_these, sources)):
        return found
    whole = True
    held: list[Value] = []
    for source in sources:
        items = source.items if type(source) in (TupleValue, ListObject) else ()
        rest = source.rest if type(source) is ListObject else None
        whole = whole and is_whole(source, items, rest)
        held += may_hold(source, items, rest)
    whole = whole and len({*map(id, held)}) == len(held)
    return keep_any(found, held, picked=True, whole=whole)


def mix(call: Call, target: ListObject, lost: bool = False) -> None:
    """Forgets which item of a list stands where; or, where one is `lost`, which ones there are."""
    whole = not lost and is_whole(target, target.items, target.rest)
    joined = gathered(target.items, target.rest)
    hold(call.services.journal, target, may_hold(target, target.items, target.rest), joined, whole)


def hold(
    journal: Journal, target: ListObject, values: Iterable[Value], rest: Value, whole: bool = False
) -> None:
    """A list has any of some values from here on, or each of them where it is `whole`, in an order
    that nobody knows; `rest` is what any item is."""
    held = keep_any(ListObject(), values)
    forget_places(journal, target)
    journal.write(target.fields, "items", ())
    journal.write(target.fields, "rest", rest)
    if any_of_these(held) or any_of_these(target):
        journal.write(target.fields, HELD_ANY, held.fields.get(HELD_ANY))
        journal.write(target.fields, HELD_ALL, TRUE if whole else FALSE)


def add(call: Call, target: ListObject, values: list[Value]) -> None:
    """Values are put into a list of which one item may stand for any of several."""
    if any_of_these(target):
        if any(each is value for each in any_of_these(target) for value in values):
            lose_one(call, target)
        held = dict.fromkeys((*any_of_these(target), *values))
        call.write(target.fields, HELD_ANY, TupleValue(tuple(held)))


def also_hold(journal: Journal, target: DictObject, held: Iterable[Value]) -> None:
    """A dict gets, under keys that are not known, any of some values, where these are told."""
    before = () if target.rest is None else may_hold(target, (), target.rest)
    kept = any_of_these(keep_any(DictObject(), (*before, *held), picked=True))
    if kept:
        journal.write(target.fields, HELD_ANY, TupleValue(kept))
        journal.write(target.fields, HELD_ALL, FALSE)


def rows_of(
    call: Call, sources: list[Value], most: int
) -> tuple[list[tuple[Value, ...]], tuple[Value, ...] | None]:
    """What is gone through beside one another: the rows that are known, up to so many, and what
    any further one is; None where there are no more."""
    columns = [
        optional_items.by_place(source, *call.services.iterate(source)) for source in sources
    ]
    count = min(most, *(len(items) for items, _ in columns))
    rows = [tuple(items[number] for items, _ in columns) for number in range(count)]
    if any(rest is None and len(items) == count for items, rest in columns):
        return rows, None
    further = [
        [each for each in (*items[count:], rest) if each is not None] for items, rest in columns
    ]
    return rows, tuple(
        any_picked(*each) for each in zip(sources, map(join_all, further), strict=True)
    )


def lose_one(call: Call, target: Value) -> None:
    """A list need not hold all any more that it did."""
    if holds_all(target):
        call.write(target.fields, HELD_ALL, FALSE)


def of_each(call: Call, function: Value, source: Value, kind: str) -> ListObject | None:
    """What a function gives for each item of a list of which one item stands for any of a few: it
    is called of each of them, perhaps. None for anything else."""
    items, rest = call.services.iterate(source)
    if not any_of_these(source):
        return None
    held, whole, found = may_hold(source, items, rest), holds_all(source), []
    read_up = call.services.is_read_up(call.site.node)
    for each in held:
        found.append(done_to(call, function, (each,), whole and read_up))
    made = ListObject((), join_all(found), kind, call.site.node)
    return keep_any(made, found, picked=True, whole=whole)


def done_to(call: Call, function: Value, args: tuple[Value, ...], surely: bool) -> Value:
    """What a function gives for arguments that it is called with, `surely` or perhaps."""
    mark, since = call.services.journal.mark(), moment()
    found = call.services.invoke(function, args, {})
    if not surely:
        call.services.doubt(mark, since)
    return found


def members(source: Value, items: tuple[Value, ...], rest: Value) -> tuple[Value, list[Value]]:
    """The items of what can be gone through beyond those that are known, as the members of a
    module: what stands for any number of them, and those for which it does not stand. Where they
    are picked from modules that others have too, nobody knows which ones move with the module."""
    held = any_of_these(source)
    inner = _of_one_of_lists(source)
    if inner and all(type(each) is ModuleObject for each in inner):
        return any_changeable(inner), []
    if not held or rest is None:
        return rest, []
    stands = [*leaves(rest)]
    others = [each for each in held if not any(each is leaf for leaf in stands)]
    if holds_all(source):
        return rest, others
    are_modules = all(type(each) is ModuleObject for each in held)
    return (any_changeable([*items, *held]), []) if are_modules else (rest, [])


def _of_one_of_lists(source: Value) -> list[Value]:
    """All that may be an item of what is one of several lists, nobody knows which."""
    lists = objects.one_of_lists(source)
    held = (item for each in lists for item in may_hold(each, each.items, each.rest))
    found = (leaf for item in held for leaf in leaves(item))
    return [one for leaf in found for one in objects.one_of_these(leaf) or (leaf,)]
