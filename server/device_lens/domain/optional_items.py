"""Items that a list has where a condition holds: `if two: parts.append(x)`.

The items that it surely has are known one by one, and `rest` is what any further one is. Here
each of these further ones is kept beside them, in order, with the condition under which it is
there: how many there are, and whether there is one at all, hangs on that condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any

from device_lens.domain.condition import conjunction, disjunction, forced, negation, settled
from device_lens.domain.device import UNKNOWN_DEVICE
from device_lens.domain.guard import assume_all, choose, combine, undecided
from device_lens.domain.heap import MISSING, OPTIONAL, PRESENT, ListObject, Table
from device_lens.domain.join import join
from device_lens.domain.journal import Delta, Journal
from device_lens.domain.kinds import gathered
from device_lens.domain.lengths import AT_LEAST, is_unplaced, surely_held
from device_lens.domain.presence import conditions
from device_lens.domain.values import Const, Tensor, Unknown

MOST = 6
"""Optional items of a list that are kept apart: how many there are hangs on as many conditions."""

Told = tuple[tuple[Any, ...], tuple[Any, ...]]
"""Items in order, and for each of them the condition under which it is there."""


class OptionalItems:
    """What `rest` stands for in a list that has these `items` before it. The record holds for them
    alone: whoever writes others need not know."""

    __slots__ = ("items", "rest", "told")

    def __init__(self, items: Any, rest: Any, told: Told) -> None:
        self.items = items
        self.rest = rest
        self.told = told


def optional(value: Any) -> Told | None:
    """The optional items of a list; None where it has none that are kept apart."""
    return _told_in({}, value.fields) if type(value) is ListObject else None


def _told_in(changed: Delta, fields: Table) -> Told | None:
    record, items, rest = (_at(changed, fields, key) for key in (OPTIONAL, "items", "rest"))
    if type(record) is OptionalItems and record.items is items and record.rest is rest:
        return record.told
    return None


def _at(changed: Delta, fields: Table, key: str) -> Any:
    place = changed.get((id(fields), key))
    return fields.get(key, MISSING) if place is None else place[2]


def one_by_one(value: Any, items: tuple[Any, ...], rest: Any) -> tuple[Told, Any]:
    """What is gone through: each item that is known with the condition under which it is there, and
    what any further one is."""
    more = optional(value)
    if more is None or items is not value.items:
        return (items, conditions(value, items)), rest
    items = (*items, *more[0])
    return (items, where_present(value, items)), None


def surely_or_perhaps(value: Any, items: tuple[Any, ...], rest: Any) -> tuple[Told, Any]:
    """The same, with nothing known of when those are there of which nothing is kept, nor of which
    comes first where they have no places."""
    if is_unplaced(value):
        return ((), ()), gathered(items, rest)
    told, more = one_by_one(value, items, rest)
    least = surely_held(value, items)
    if least == len(items) or not all(each is True for each in told[1]):
        return told, more
    present = (*told[1][:least], *(undecided() for _ in told[0][least:]))
    return (told[0], present), more


def where_present(value: Any, items: tuple[Any, ...]) -> tuple[Any, ...]:
    """For each item that is gone through, the condition under which it is there."""
    more = optional(value)
    if more is not None and len(items) == len(value.items) + len(more[0]):
        return (*((True,) * len(value.items)), *more[1])
    return conditions(value, items)


def as_placed(value: Any, items: tuple[Any, ...], rest: Any) -> tuple[tuple[Any, ...], Any]:
    """What is gone through, of which only those items count as known that surely stand where they
    are: what comes from the first optional one on may be any further item."""
    surely = how_many_surely(where_present(value, items))
    if surely == len(items):
        return items, rest
    return items[:surely], gathered(items[surely:], rest)


def by_place(value: Any, items: tuple[Any, ...], rest: Any) -> tuple[tuple[Any, ...], Any]:
    """The same for who takes items by their places, which those of some dicts do not have."""
    if is_unplaced(value):
        return (), gathered(items, rest)
    return as_placed(value, items, rest)


def how_many_surely(present: tuple[Any, ...]) -> int:
    """How many items come before the first optional one."""
    return next((at for at, each in enumerate(present) if each is not True), len(present))


def keep_presence(made: ListObject, present: tuple[Any, ...]) -> ListObject:
    """Keeps of each item of a new list the condition under which it is there."""
    surely = how_many_surely(present)
    if surely < len(present) == len(made.items):
        made.fields[AT_LEAST] = surely
        made.fields[PRESENT] = made.items, present
    return made


def count(value: ListObject) -> Any:
    """How many items a list has: a number, or a tree of them; None where that is not known."""
    (_, present), rest = one_by_one(value, value.items, value.rest)
    told = [each for each in present if each is not True]
    if rest is not None or not told:
        return None
    ones = [choose(condition, Const(1), Const(0)) for condition in told]
    return reduce(_sum, ones, Const(len(present) - len(told)))


def _sum(left: Any, right: Any) -> Any:
    return combine(lambda one, other: Const(one.value + other.value), left, right)


def has_any(value: ListObject) -> Any:
    """The condition under which a list has any item; None where nothing is kept of that."""
    (_, present), rest = one_by_one(value, value.items, value.rest)
    if rest is not None or not present or not _is_told(value):
        return None
    return True if True in present else settled(reduce(disjunction, present))


def at(value: Any, position: int) -> Any:
    """The item at a position past those that are surely there, or counted from the end; None where
    that is not known."""
    if type(value) is not ListObject:
        return None
    (items, present), rest = one_by_one(value, value.items, value.rest)
    if rest is not None or all(each is True for each in present):
        return None
    if position < 0:
        items, present, position = items[::-1], present[::-1], -position - 1
    found = _select(items, present, position)
    return None if found is MISSING else found


def _select(items: tuple[Any, ...], present: tuple[Any, ...], position: int) -> Any:
    """The item of which so many come before it; `MISSING` where there is none."""
    if not items:
        return MISSING
    there = items[0] if position == 0 else _select(items[1:], present[1:], position - 1)
    if present[0] is True:
        return there
    return join(present[0], there, _select(items[1:], present[1:], position))


def without_last(value: Any) -> Told | None:
    """All items of a list but the last one that is there; None where nothing is kept of that."""
    more = optional(value)
    if more is None:
        return None
    items = (*value.items, *more[0])
    present = (*((True,) * len(value.items)), *more[1])
    later: Any = False
    left: list[Any] = []
    for each in reversed(present):
        left.append(conjunction(each, later))
        later = disjunction(later, each)
    return _there(items, tuple(map(settled, reversed(left))))


def _there(items: tuple[Any, ...], present: tuple[Any, ...]) -> Told:
    """Those of some items that may be there."""
    kept = [pair for pair in zip(items, present, strict=True) if pair[1] is not False]
    return tuple(item for item, _ in kept), tuple(there for _, there in kept)


def put_together(left: Any, right: Any) -> Told | None:
    """All items of `left + right`; None where nothing is known of when they are there."""
    if not all(map(_is_told, (left, right))):
        return None
    known, rest = one_by_one(left, left.items, getattr(left, "rest", None))
    more, further = one_by_one(right, right.items, getattr(right, "rest", None))
    if rest is not None or further is not None:
        return None
    return (*known[0], *more[0]), (*known[1], *more[1])


def _is_told(value: Any) -> bool:
    """Whether it is known of each of the known items under which condition it is there."""
    least = surely_held(value, value.items)
    return least == len(value.items) or how_many_surely(conditions(value, value.items)) == least


def operands(value: Any, items: tuple[Any, ...], rest: Any) -> tuple[tuple[Any, ...], Any]:
    """The items of what is gone through, an optional one unknown where it is not there, and what
    any further one is."""
    more = optional(value)
    if more is None or items is not value.items:
        return items, rest
    return (*items, *map(_where, *more)), None


def _where(item: Any, condition: Any) -> Any:
    if type(item) is Tensor:
        return item.with_(device=choose(condition, item.device, UNKNOWN_DEVICE))
    return join(condition, item, Unknown())


def keep(journal: Journal, fields: Table, told: Told | None) -> None:
    """Keeps what the further items of a list are, if that is told."""
    if told is None:
        return
    if 0 < len(told[0]) <= MOST and fields["rest"] is not None:
        journal.write(fields, OPTIONAL, OptionalItems(fields["items"], fields["rest"], told))


def keep_after(journal: Journal, source: Any, start: int, part: ListObject) -> None:
    """Keeps of `part`, which is `source[start:]`, what comes after the items that it surely has."""
    more, surely = optional(source), start + len(part.items)
    if more is not None and surely <= len(source.items):
        left = source.items[surely:]
        keep(journal, part.fields, ((*left, *more[0]), (*((True,) * len(left)), *more[1])))


def carry(source: Any, target: ListObject, change: Callable[[Any], Any] | None = None) -> None:
    """Keeps of a new list that is a copy of another one what is told of its further items, with
    other conditions where the copy has those."""
    told = optional(source)
    if told is None or target.rest is None:
        return
    if change is not None:
        told = tuple(map(change, told[0])), tuple(map(change, told[1]))
    target.fields[OPTIONAL] = OptionalItems(target.items, target.rest, told)


def met(condition: Any, yes: Delta, no: Delta) -> Iterator[tuple[Table, Told]]:
    """The lists that two sides of a condition have changed, each with all of its items where each
    of them is known on both: that of one side alone is there where its side is."""
    seen: set[int] = set()
    for fields, key, _ in (*yes.values(), *no.values()):
        if key in ("items", "rest") and id(fields) not in seen:
            seen.add(id(fields))
            one, other = _all_in(yes, fields, condition), _all_in(no, fields, negation(condition))
            if one is not None and other is not None:
                yield fields, _both(condition, one, other)


def _all_in(changed: Delta, fields: Table, condition: Any) -> Told | None:
    """All items of a list on a side where a condition holds."""
    items, least = _at(changed, fields, "items"), _at(changed, fields, AT_LEAST)
    if not isinstance(items, tuple):
        return None
    kept, more = _at(changed, fields, PRESENT), _told_in(changed, fields)
    present: tuple[Any, ...] = (True,) * len(items)
    if more is None and _at(changed, fields, "rest") is not None:
        return None
    if type(kept) is tuple and kept[0] is items:
        present = kept[1]
    elif type(least) is int and least < len(items):
        return None
    if more is not None:
        items, present = (*items, *more[0]), (*present, *more[1])
    literals = forced(condition)
    return _there(items, tuple(assume_all(each, literals) for each in present))


def _both(condition: Any, yes: Told, no: Told) -> Told:
    """The items of both sides in one order: as far as they are there alike, one in place of two;
    then those of either."""
    items: list[Any] = []
    present: list[Any] = []
    pairs = zip(zip(*yes, strict=True), zip(*no, strict=True), strict=False)
    for (mine, there), (other, too) in pairs:
        if there is not too and there != too:
            break
        items.append(join(condition, mine, other))
        present.append(there)
    common = len(items)
    for (values, conditions_of), holds in ((yes, condition), (no, negation(condition))):
        items += values[common:]
        present += (settled(conjunction(holds, each)) for each in conditions_of[common:])
    return tuple(items), tuple(present)


def settle(journal: Journal, joined: Iterable[tuple[Table, Told]]) -> None:
    """Keeps of lists that have been joined under which conditions their items are there."""
    for fields, told in joined:
        keep_all(journal, fields, told)


def keep_all(journal: Journal, fields: Table, told: Told | None) -> None:
    """Keeps of a list under which conditions its items are there, where all of them are told."""
    known = fields.get("items")
    if told is None or not isinstance(known, tuple):
        return
    items, present = told
    if fields.get("rest") is None:
        place(journal, fields, items, present)
        return
    surely = len(known)
    if all(each is True for each in present[:surely]) and len(items) > surely:
        keep(journal, fields, (items[surely:], present[surely:]))


def place(
    journal: Journal, fields: Table, items: tuple[Any, ...], present: tuple[Any, ...]
) -> None:
    """Keeps of a list that has no items but these under which conditions they are there."""
    surely = how_many_surely(present)
    if surely < len(items) and sum(each is not True for each in present) <= MOST:
        journal.write(fields, "items", items)
        journal.write(fields, AT_LEAST, surely)
        journal.write(fields, PRESENT, (items, present))
