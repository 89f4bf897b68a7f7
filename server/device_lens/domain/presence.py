"""Whether a key of a dict, or a name, is there, where paths that wrote it meet others.

The value under a key is that of the paths which have one, since reading it raises on the others.
What asks whether the key is there (`in`, `get`, `setdefault`) gets the condition that is kept
beside it. A record holds for the value that it names: whoever writes another one need not know.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any

from device_lens.domain.condition import disjunction
from device_lens.domain.guard import atoms, choose, depth, undecided
from device_lens.domain.heap import (
    MISSING,
    ORDERED,
    PRESENT,
    DictObject,
    Entries,
    ListObject,
    LocalNames,
    ModuleNames,
    Presences,
    Table,
)
from device_lens.domain.join import MAX_VALUE_DEPTH, join
from device_lens.domain.journal import Delta, Journal

Names = LocalNames | ModuleNames

_ASKED = (Entries, LocalNames, ModuleNames)
"""Tables that know of a key whether it is there."""


class Presence:
    """The condition under which a key has a value; without it the key is not there."""

    __slots__ = ("condition", "value")

    def __init__(self, value: Any, condition: Any) -> None:
        self.value = value
        self.condition = condition


def presence(entries: Table, key: Any) -> Any:
    """The condition under which a key is there."""
    return presence_in({}, entries, key)


def presence_in(changed: Delta, entries: Table, key: Any) -> Any:
    """The same where some changes were made."""
    place = changed.get((id(entries), key))
    value = entries.get(key, MISSING) if place is None else place[2]
    if value is MISSING:
        return False
    records = entries.presence if isinstance(entries, _ASKED) else None
    if records is None:
        return True
    place = changed.get((id(records), key))
    record = records.get(key) if place is None else place[2]
    return record.condition if type(record) is Presence and record.value is value else True


def under_any_key(table: Table) -> Any:
    """What a dict may have under a key that is not known of it; `MISSING` where there is none."""
    around = table.around if type(table) is Entries else None
    found = None if around is None else around.get("rest")
    return MISSING if found is None else found


def presence_beside(changed: Delta, entries: Table, key: Any) -> Any:
    """The condition under which a key is there for those who may find it under any other name."""
    found = presence_in(changed, entries, key)
    return undecided() if found is False and under_any_key(entries) is not MISSING else found


def either(condition: Any, left: Any, right: Any) -> Any:
    """The presence of what is there as `left` says where `condition` holds, else as `right`."""
    if left is right or left == right:
        return left
    found = choose(condition, left, right)
    return undecided() if depth(found) > MAX_VALUE_DEPTH else found


def conditions(found: Any, items: tuple[Any, ...]) -> tuple[Any, ...]:
    """For each known item of what is gone through, the condition under which it is there."""
    if type(found) is DictObject and len(items) == len(found.entries):
        return tuple(presence(found.entries, key) for key in found.entries)
    known = found.fields.get(PRESENT) if type(found) is ListObject else None
    if known is not None and known[0] is items:
        return tuple(known[1])
    return (True,) * len(items)


def any_present(entries: Table) -> Any:
    """The condition under which a dict has any of its keys."""
    conditions = [presence(entries, key) for key in entries]
    if not conditions or any(each is True for each in conditions):
        return bool(conditions)
    return reduce(disjunction, conditions) if len(conditions) <= MAX_VALUE_DEPTH else undecided()


def all_present(entries: Table) -> bool:
    """Whether a dict surely has all its keys."""
    if type(entries) is not Entries or not entries.presence:
        return True
    return all(presence(entries, key) is True for key in entries.presence if key in entries)


def in_known_order(entries: Table) -> bool:
    """Whether the keys of a dict surely stand in the order in which they are known: one that was
    not there on some paths, and has got its value later, may come behind others on these."""
    if type(entries) is not Entries:
        return True
    known: Table = {} if entries.presence is None else entries.presence
    overwritten = any(
        key in entries and (type(record) is not Presence or record.value is not entries[key])
        for key, record in known.items()
    )
    return not (entries.mixed or overwritten)


def kept_in(*changes: Delta) -> Iterator[tuple[Entries, Any]]:
    """The keys of dicts, once each, of which some changes may say whether they are there."""
    seen: set[tuple[int, Any]] = set()
    for changed in changes:
        for table, key, _ in changed.values():
            entries = table.entries if isinstance(table, Presences) else table
            if isinstance(entries, Entries) and (id(entries), key) not in seen:
                seen.add((id(entries), key))
                yield entries, key


def bound_in(condition: Any, yes: Delta, no: Delta) -> Iterator[tuple[Names, Any, Any]]:
    """The names that two sides of a condition bind on some runs of the program only, each with
    what holds on these: what the machine has, what was asked for on the command line. Of other
    conditions nothing is kept, since nobody could tell a reader what they say."""
    if not is_settled(condition):
        return
    seen: set[tuple[int, Any]] = set()
    for place, (table, key, _) in (*yes.items(), *no.items()):
        if isinstance(table, LocalNames | ModuleNames) and place not in seen:
            seen.add(place)
            present = either(condition, presence_in(yes, table, key), presence_in(no, table, key))
            if present is not True and is_settled(present):
                yield table, key, present


def is_settled(condition: Any) -> bool:
    """Whether a condition is the same for the whole run: what the machine has, what was asked for
    on the command line."""
    return all(atom.named for atom in atoms(condition))


def settle(journal: Journal, entries: Entries | Names, key: Any, condition: Any) -> None:
    """Keeps the condition under which a key has the value that it has now."""
    records = entries.presence
    if condition is True or key not in entries:
        if records is not None and key in records:
            journal.delete(records, key)
            if type(entries) is Entries:
                entries.mixed = True  # where it has come only now it stands behind others
        return
    if records is None:
        records = entries.presence = Presences(entries)
    journal.write(records, key, Presence(entries[key], condition))


def replace(journal: Journal, entries: Table, key: Any, value: Any) -> None:
    """Writes another value under a key, which is there as surely as before."""
    if value is entries.get(key, MISSING):
        return
    condition = presence(entries, key)
    journal.write(entries, key, value)
    if type(entries) is Entries and condition is not True:
        settle(journal, entries, key, condition)


def put(journal: Journal, entries: Table, key: Any, value: Any, condition: Any = True) -> None:
    """Writes a value where a condition holds."""
    if type(entries) is not Entries:
        journal.write(entries, key, value)
        return
    if condition is not True:
        condition, before = either(condition, True, presence(entries, key)), condition
        value = join(before, value, entries.get(key, MISSING))
    journal.write(entries, key, value)
    settle(journal, entries, key, condition)


def without(journal: Journal, target: DictObject, key: Any) -> None:
    """Removes a key; one that is not known (`MISSING`) may be any, or none of those that are."""
    entries = target.entries
    if key is not MISSING:
        journal.delete(entries, key)
    elif type(entries) is Entries:
        for name in list(entries):
            settle(journal, entries, name, undecided())


def put_all(journal: Journal, source: Table, target: Table) -> None:
    """Writes what a dict has, each key where it has it."""
    if type(target) is Entries:
        target.mixed = target.mixed or not in_known_order(source)
    for key, value in list(source.items()):
        put(journal, target, key, value, presence(source, key))


def carry(source: Table, target: Table) -> None:
    """Keeps of a new copy of a dict's entries under which conditions they are there, and whether
    their order is known."""
    if type(source) is not Entries or type(target) is not Entries:
        return
    target.mixed = target.mixed or not in_known_order(source)
    if not source.presence:
        return
    records = target.presence = Presences(target)
    for key in source.presence:
        condition = presence(source, key)
        if condition is not True and key in target:
            records[key] = Presence(target[key], condition)


def copied_dict(source: DictObject, site: Any) -> DictObject:
    """A shallow copy, made at a site."""
    found = DictObject(dict(source.entries), source.rest, site)
    carry(source.entries, found.entries)
    if ORDERED in source.fields:
        found.fields[ORDERED] = True
    return found
