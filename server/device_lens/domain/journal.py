"""The journal through which the tables of the abstract heap change.

All writes go through `Journal.write`, so that the interpreter can roll a branch back, keep what it
changed, and merge it with the other branch.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable
from typing import Any

from device_lens.domain.guard import Guarded, leaves
from device_lens.domain.heap import (
    MISSING,
    MOVED,
    OPTIONAL,
    Dated,
    Entries,
    LocalNames,
    ModuleObject,
    Registry,
    Table,
    moment,
)

Change = tuple[Table, Any, Any]
"""A place in a table, with the value before."""

Delta = dict[tuple[int, Any], tuple[Table, Any, Any]]
"""What a stretch of execution changed: (table id, key) → (table, key, new value)."""


Held = tuple[Any, Any]
"""A value that a place had, with a condition that held then."""


class Lost:
    """What places held on paths that were undone, of tables that were there at the moment `since`,
    with what held there. Whoever may have left such a path by a failure leaves these values
    behind."""

    __slots__ = ("places", "since")

    def __init__(self) -> None:
        self.since = moment()
        self.places: dict[tuple[int, Any], tuple[Table, Any, dict[tuple[int, int], Held]]] = {}

    def take(self, undone: list[Change], passes: Callable[[Table], bool], under: Any) -> None:
        for table, key, old in undone:
            if not passes(table):
                place = (id(table), key)
                found = self.places.setdefault(place, (table, key, {}))[2]
                for value in (old, table.get(key, MISSING)):
                    found[id(value), id(under)] = value, under


class Journal:
    """The writes since the start of an analysis, each with the value it replaced.

    `outside` counts those that are no names of an activation, `unpaid` too, until somebody has
    taken them into account. `moves` counts those after which
    what was known of a module's device may be wrong: all writes to registries, but for a new part
    of a module that is no part itself (its own number of parts tells that). `moved_at` is the
    mark after the last of those writes: only a rollback beyond it undoes a move. `log`, where it is
    set, gets every change of a table as it happens, rollbacks too, each with the value before it.
    `spans` are the stretches of time, earliest first, whose tables outlive what was under way.
    `losses` are told of what is undone.
    """

    __slots__ = ("entries", "log", "losses", "moved_at", "moves", "outside", "spans", "unpaid")

    def __init__(self) -> None:
        self.spans: list[tuple[int, int]] = []
        self.entries: list[Change] = []
        self.log: list[Change] | None = None
        self.losses: list[Lost] = []
        self.outside = 0
        self.unpaid = 0
        self.moves = 0
        self.moved_at = 0

    def write(self, table: Table, key: Any, value: Any) -> None:
        old = table.get(key, MISSING)
        if old is not value:
            entry = (table, key, old)
            self.entries.append(entry)
            if self.log is not None:
                self.log.append(entry)
            table[key] = value
            kind = type(table)
            if kind is not LocalNames:
                self.outside += 1
                self.unpaid += 1
                if kind is Registry:
                    self._registered(table, old, value)
        elif key == "rest" and OPTIONAL in table:
            self.delete(table, OPTIONAL)  # there are others of the same kind, or fewer
        elif type(table) is Entries and table.presence is not None and key in table.presence:
            self.delete(table.presence, key)  # it is there now on all paths, at whichever place
            table.mixed = True

    def _registered(self, table: Any, old: Any, value: Any) -> None:
        standing = table.standing
        if old is not MISSING or standing is None or standing.attached:
            self._moved()
        if isinstance(value, ModuleObject):
            value.standing.attached = True
        elif type(value) is Guarded:
            for leaf in leaves(value):
                if isinstance(leaf, ModuleObject):
                    leaf.standing.attached = True

    def forget_places(self, table: Registry) -> None:
        """A registry was changed behind the journal's back."""
        if table.standing is not None:
            table.standing.known = None
        self._moved()

    def _moved(self) -> None:
        self.moves += 1
        self.moved_at = len(self.entries)
        MOVED.at = moment()

    def delete(self, table: Table, key: Any) -> None:
        if key in table:
            entry = (table, key, table.pop(key))
            self.entries.append(entry)
            if self.log is not None:
                self.log.append(entry)
            if type(table) is Registry:
                self._moved()

    def mark(self) -> int:
        return len(self.entries)

    def set_apart(self) -> tuple[list[Change], int]:
        """Starts writes that no rollback of what is under way undoes; `resume` takes the answer
        and ends them."""
        before = self.entries, self.moved_at
        self.entries, self.moved_at = [], 0
        return before

    def resume(self, before: tuple[list[Change], int]) -> None:
        self.entries, self.moved_at = before

    def outlive(self, since: int) -> None:
        """What was made from the moment `since` on is seen by others than whoever is under way."""
        while self.spans and self.spans[-1][0] >= since:
            self.spans.pop()
        self.spans.append((since, moment()))

    def passing(self, since: int) -> Callable[[Table], bool]:
        """The test for tables that nobody sees after a rollback to the moment `since`: they were
        born at it or later, by what was under way then."""
        spans = self.spans[bisect(self.spans, (since,)) :]

        def passes(table: Table) -> bool:
            if not isinstance(table, Dated) or table.born < since:
                return False
            return not any(first <= table.born <= last for first, last in spans)

        return passes

    def changes(self, mark: int, apart: Table | None = None) -> Delta:
        """What changed since `mark`, without undoing it, save for the table `apart`."""
        found: Delta = {}
        for table, key, _ in self.entries[mark:]:
            place = (id(table), key)
            if place not in found and table is not apart:
                found[place] = (table, key, table.get(key, MISSING))
        return found

    def changes_at(self, start: int, mark: int) -> Delta:
        """What had changed since `start` at a later `mark`."""
        later = self.value_at(mark)
        found: Delta = {}
        for table, key, _ in self.entries[start:mark]:
            place = (id(table), key)
            if place not in found:
                found[place] = later.get(place) or (table, key, table.get(key, MISSING))
        return found

    def rollback(
        self,
        mark: int,
        since: int,
        stays: Callable[[Table], bool] | None = None,
        under: Any = True,
    ) -> Delta:
        """Undoes everything since `mark` and returns it. Tables born at `since` or later, the
        moment of the mark, stay as they are: only what is returned leads to them. So do those of
        which `stays` says that nobody else sees them; how to undo that is still known. `under` is
        a condition that held since the mark."""
        self.settle(mark, since)
        if len(self.entries) == mark:
            return {}
        kept: list[Change] = []
        if stays is not None:
            others: list[Change] = []
            for entry in self.entries[mark:]:
                (kept if stays(entry[0]) else others).append(entry)
            self.entries[mark:] = others
        found = self.changes(mark)
        self.undo(mark, under)
        if kept:
            self.entries += kept
            self.moved_at = len(self.entries)
        return found

    def undo(self, mark: int, under: Any = True) -> None:
        """Undoes everything since `mark`, where a condition has held since then."""
        entries = self.entries
        undone = entries[mark:]
        del entries[mark:]
        for lost in self.losses:
            lost.take(undone, self.passing(lost.since), under)
        if self.log is not None:
            before: Table = {}
            for table, key, _ in undone:
                before.setdefault((id(table), key), (table, key, table.get(key, MISSING)))
            self.log += before.values()
        for table, key, old in reversed(undone):
            _put(table, key, old)
        if self.moved_at > mark:
            self._moved()

    def settle(self, mark: int, since: int) -> None:
        """Forgets how to undo what was written since `mark` to tables that are `passing` since
        then, the moment of the mark: after a rollback to it or beyond nobody sees them."""
        entries = self.entries
        if len(entries) > mark:
            passes = self.passing(since)
            entries[mark:] = [entry for entry in entries[mark:] if not passes(entry[0])]
            self.moved_at = min(self.moved_at, len(entries))

    def swap(self, places: Delta) -> Delta:
        """Gives places other values, behind the back of all that is under way; the answer gives
        them back."""
        before: Delta = {}
        for place, (table, key, value) in places.items():
            present = table.get(key, MISSING)
            if present is value:
                continue
            before[place] = (table, key, present)
            if value is MISSING:
                del table[key]
            else:
                table[key] = value
            if type(table) is Registry and table.standing is not None:
                table.standing.known = None
        self._moved()
        return before

    def value_at(self, mark: int) -> dict[tuple[int, Any], tuple[Table, Any, Any]]:
        """For each place written since `mark`, the value that it had at `mark`."""
        found: Delta = {}
        for table, key, old in self.entries[mark:]:
            place = (id(table), key)
            if place not in found:
                found[place] = (table, key, old)
        return found

    def values_since(
        self, mark: int, lost: Lost
    ) -> dict[tuple[int, Any], tuple[Table, Any, list[Held]]]:
        """For each place written since `mark`, the values that it had in between: the one at
        `mark`, those that a later write replaced, and those of paths that were undone."""
        found: dict[tuple[int, Any], tuple[Table, Any, list[Held]]] = {}
        for table, key, old in self.entries[mark:]:
            found.setdefault((id(table), key), (table, key, []))[2].append((old, True))
        for place, (table, key, values) in lost.places.items():
            found.setdefault(place, (table, key, []))[2].extend(values.values())
        return found


def _put(table: Table, key: Any, value: Any) -> None:
    """Gives a place a value, and lets a module look anew where it is."""
    if value is MISSING:
        table.pop(key, None)
    else:
        if type(table) is Entries and key not in table:
            table.mixed = True  # it has come behind the others
        table[key] = value
    if type(table) is Registry and table.standing is not None:
        table.standing.known = None
