"""Lists of which one path has more items than another, where the two meet.

Which item a place of such a list has, counted from either end, is not known from the last place on
that all of the paths fill: tensors and devices from there on are any number of further items. Of
modules, texts and the like each is kept where the longest of the lists has it, since what is done
with such a list is done with all of them; only how many there are is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from device_lens.domain.device import parse_device, without_unnamed
from device_lens.domain.guard import Guarded, leaves
from device_lens.domain.heap import MISSING, DictObject, ListObject, Parameter, Table
from device_lens.domain.journal import Delta, Journal
from device_lens.domain.kinds import gathered
from device_lens.domain.presence import all_present, in_known_order, presence
from device_lens.domain.values import Const, DeviceValue, Tensor, TupleValue, Unknown

AT_LEAST = "at least"
"""The field of a list for the number of its items that are surely there; absent where all are."""

UNPLACED = "unplaced"
"""The field of a list whose further items may stand before and between those that are known."""

Met = tuple[Table, list[tuple[tuple[Any, ...], Any, int]]]
"""The fields of a list, and what its items and further ones are on each path, with the number of
those items that are surely there."""


def of_lists(*changes: Delta) -> Iterator[Met]:
    """The lists whose numbers of items differ between paths, each told by what it has changed."""
    seen: set[int] = set()
    for changed in changes:
        for table, key, _ in changed.values():
            if key == "items" and id(table) not in seen:
                seen.add(id(table))
                ways = [_on_path(table, each) for each in changes]
                if len({len(items) for items, _, _ in ways}) > 1:
                    yield table, ways


def _on_path(table: Table, changed: Delta) -> tuple[tuple[Any, ...], Any, int]:
    found = []
    for key in ("items", "rest", AT_LEAST):
        change = changed.get((id(table), key))
        found.append(table.get(key, MISSING) if change is None else change[2])
    items, rest, least = found
    known = items if isinstance(items, tuple) else ()
    surely = min(least, len(known)) if type(least) is int else len(known)
    return known, None if rest is MISSING else rest, surely


def settle(journal: Journal, met: Iterable[Met]) -> None:
    """Forgets of lists that have been joined which item is where, as far as it is not known."""
    for table, ways in met:
        items = table.get("items")
        if not isinstance(items, tuple):
            continue
        least = min(least for *_, least in ways)
        more = [item for each, _, _ in ways for item in each[least:]]
        if any(map(_devices, more)):
            further = [rest for _, rest, _ in ways if rest is not None]
            journal.write(table, "items", items[:least])
            journal.write(table, "rest", any_such(gathered([*more, *further], None)))
        else:
            journal.write(table, AT_LEAST, least)


def surely_present(entries: Table) -> int:
    """How many keys of a dict come before the first one that need not be there."""
    if not in_known_order(entries):
        return 0
    if all_present(entries):
        return len(entries)
    count = 0
    for key in entries:
        if presence(entries, key) is not True:
            break
        count += 1
    return count


def in_order(entries: Table, values: tuple[Any, ...], rest: Any) -> tuple[tuple[Any, ...], Any]:
    """What stands for the keys of a dict, in their order: from the first key on that need not be
    there they have no places, where their devices differ."""
    least = surely_present(entries) if rest is None else 0
    if least == len(entries):
        return values, rest
    more = [each for each in (*values[least:], rest) if each is not None]
    devices = [device for each in more for device in _devices(each)]
    is_open = rest is not None and any(map(_is_open, more))
    if all(each == devices[0] for each in devices) and not (is_open and devices):
        return values, rest
    return values[:least], any_such(gathered(more, None))


def is_unplaced(value: Any) -> bool:
    """Whether nobody knows which item comes first, though some are known one by one: a dict has
    keys that are not known, and the others may have come later."""
    if type(value) is DictObject:
        return value.rest is not None and len(value.entries) > 0
    if type(value) is not ListObject or UNPLACED not in value.fields:
        return False
    return value.rest is not None and len(value.items) > 0


def keep_unplaced(source: Any, made: ListObject) -> ListObject:
    """Keeps of a new list with the items of another, or of a dict, that these have no places."""
    if is_unplaced(source):
        made.fields[UNPLACED] = True
    return made


def _is_open(value: Any) -> bool:
    """Whether nothing is known of a value, or of that in a pair of a key and a value."""
    if type(value) is TupleValue:
        return any(map(_is_open, value.items[-1:]))
    return any(type(leaf) is Unknown for leaf in leaves(value))


def any_such(value: Any) -> Any:
    """One value for any number of items: what has no words decides for each of them anew."""
    if type(value) is Tensor:
        return value.with_(device=without_unnamed(value.device))
    if type(value) is TupleValue:
        return TupleValue(tuple(map(any_such, value.items)), value.names)
    return value


def _devices(value: Any) -> list[Any]:
    """Where the tensors of an item are, and the devices that it is or names."""
    if type(value) is Guarded:
        return [device for leaf in leaves(value) for device in _devices(leaf)]
    if type(value) is TupleValue:
        return [device for item in value.items for device in _devices(item)]
    if type(value) is Tensor or type(value) is DeviceValue:
        return [value.device]
    if type(value) is Parameter:
        return [value.tensor.device]
    named = type(value) is Const and isinstance(value.value, str) and parse_device(value.value)
    return [named] if named else []


def at_least(value: ListObject) -> int:
    """How many items a list surely has."""
    least = value.fields.get(AT_LEAST, MISSING)
    if least is MISSING:
        return len(value.items)
    return min(least, len(value.items)) if type(least) is int else 0


def surely_held(value: Any, items: tuple[Any, ...]) -> int:
    """How many of its known items a list or dict surely has; all of anything else."""
    if type(value) is DictObject:
        return surely_present(value.entries)
    return at_least(value) if type(value) is ListObject else len(items)


def from_the_end(value: ListObject, back: int) -> tuple[Any, ...]:
    """The known items that may be the one `back` places from the end of a list."""
    count = len(value.items)
    return tuple(value.items[each - back] for each in range(max(at_least(value), back), count + 1))


def grown(journal: Journal, value: ListObject, before: Sequence[Any]) -> None:
    """Counts the items that a list has got since it had those `before`."""
    least = value.fields.get(AT_LEAST)
    if type(least) is int:
        journal.write(value.fields, AT_LEAST, max(0, least + len(value.items) - len(before)))
