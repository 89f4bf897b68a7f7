"""Objects of the abstract heap, and the journal through which they change.

Every mutable part is a plain dict ("table"). All writes go through `Journal.write`, so that the
interpreter can roll a branch back, keep what it changed, and merge it with the other branch.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any

from device_lens.domain.device import CPU, DeviceTree
from device_lens.domain.guard import Guarded, leaves
from device_lens.domain.values import Tensor, TupleValue

if TYPE_CHECKING:
    from device_lens.domain.trail import Trail

Table = dict[Any, Any]
Change = tuple[Table, Any, Any]
"""A place in a table, with the value before."""


_CLOCK = count()


def moment() -> int:
    """Now, as far as the births of tables go: those made from here on are `born` no earlier."""
    return next(_CLOCK)


class Dated(dict[Any, Any]):
    """A table that knows when it was made."""

    __slots__ = ("born",)

    def __init__(self) -> None:
        self.born = next(_CLOCK)


class LocalNames(Dated):
    """The names of one activation of a function."""

    __slots__ = ()


class Standing:
    """What the registries of one module share. `attached` tells that the module is a part of
    something that may know where it is; `known` is for whoever remembers where the module itself
    is: it is no part of its state, and forgotten when its registries are rolled back."""

    __slots__ = ("attached", "known")

    def __init__(self) -> None:
        self.attached = False
        self.known: Any = None


class Registry(Dated):
    """A table that decides where a module is; the registry of a parameter has no `standing`."""

    __slots__ = ("standing",)

    def __init__(self, standing: Standing | None = None) -> None:
        self.born = next(_CLOCK)
        self.standing = standing


class _Missing:
    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()
"""Stands for a key that a table does not have."""

FRESH = "<fresh>"
"""The field of an object that stands for new ones, one at each turn of a loop."""

Delta = dict[tuple[int, Any], tuple[Table, Any, Any]]
"""What a stretch of execution changed: (table id, key) → (table, key, new value)."""


class Journal:
    """The writes since the start of an analysis, each with the value it replaced.

    `outside` counts those that are no names of an activation. `moves` counts those after which
    what was known of a module's device may be wrong: all writes to registries, but for a new part
    of a module that is no part itself (its own number of parts tells that). `moved_at` is the
    mark after the last of those writes: only a rollback beyond it undoes a move. `log`, where it is
    set, gets every change of a table as it happens, rollbacks too, each with the value before it.
    `spans` are the stretches of time, earliest first, whose tables outlive what was under way.
    """

    __slots__ = ("entries", "log", "moved_at", "moves", "outside", "spans")

    def __init__(self) -> None:
        self.spans: list[tuple[int, int]] = []
        self.entries: list[Change] = []
        self.log: list[Change] | None = None
        self.outside = 0
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
                if kind is Registry:
                    self._registered(table, old, value)

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

    def rollback(self, mark: int, since: int) -> Delta:
        """Undoes everything since `mark` and returns it. Tables born at `since` or later, the
        moment of the mark, stay as they are: only what is returned leads to them."""
        self.settle(mark, since)
        if len(self.entries) == mark:
            return {}
        found = self.changes(mark)
        self.undo(mark)
        return found

    def undo(self, mark: int) -> None:
        """Undoes everything since `mark`."""
        entries = self.entries
        undone = entries[mark:]
        del entries[mark:]
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
            before[place] = (table, key, table.get(key, MISSING))
            _put(table, key, value)
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


def _put(table: Table, key: Any, value: Any) -> None:
    """Gives a place a value, and lets a module look anew where it is."""
    if value is MISSING:
        table.pop(key, None)
    else:
        table[key] = value
    if type(table) is Registry and table.standing is not None:
        table.standing.known = None


class HeapObject:
    """Anything with identity. `site` is its allocation site."""

    __slots__ = ("fields", "site")

    def __init__(self, site: Any = None) -> None:
        self.site = site
        self.fields: Table = Dated()


class Parameter(HeapObject):
    """An `nn.Parameter`, or a tensor whose `.data` the program assigns: `fields["tensor"]` is
    its present value, which a move of its module replaces for every alias."""

    __slots__ = ()

    def __init__(self, tensor: Tensor, site: Any = None) -> None:
        super().__init__(site)
        self.fields = Registry()
        self.fields["tensor"] = tensor

    @property
    def tensor(self) -> Tensor:
        found: Tensor = self.fields["tensor"]
        return found


class ListObject(HeapObject):
    """A list, set, deque or iterator. `fields["items"]` are the items known one by one (a tuple),
    `fields["rest"]` is what any further item is, None where there is none."""

    __slots__ = ("kind",)

    def __init__(
        self,
        items: tuple[Any, ...] = (),
        rest: Any = None,
        kind: str = "list",
        site: Any = None,
    ) -> None:
        super().__init__(site)
        self.kind = kind
        self.fields["items"] = items
        self.fields["rest"] = rest

    @property
    def items(self) -> tuple[Any, ...]:
        found: tuple[Any, ...] = self.fields["items"]
        return found

    @property
    def rest(self) -> Any:
        return self.fields["rest"]


class DictObject(HeapObject):
    """A dict: `entries` maps constant keys to values, `fields["rest"]` is the value under any
    other key (None: there is none), `fields["rest_key"]` what such a key is."""

    __slots__ = ("entries", "kind")

    def __init__(self, entries: Table | None = None, rest: Any = None, site: Any = None) -> None:
        super().__init__(site)
        self.kind = "dict"
        if not isinstance(entries, Dated):
            plain, entries = entries, Dated()
            entries.update(plain or {})
        self.entries: Table = entries
        self.fields["rest"] = rest
        self.fields["rest_key"] = None

    @property
    def rest(self) -> Any:
        return self.fields["rest"]


def contents(value: Any) -> list[Any]:
    """What a tuple, list or dict holds, with what further items are; of anything else nothing."""
    items: tuple[Any, ...] = ()
    if type(value) is TupleValue:
        items = value.items
    elif type(value) is ListObject:
        items = (*value.items, value.rest)
    elif type(value) is DictObject:
        items = (*value.entries.values(), value.rest)
    return [item for item in items if item is not None]


class Instance(HeapObject):
    """An instance of a class: `cls` is a `ClassValue` or an `External` name; `fields` are its
    attributes."""

    __slots__ = ("cls",)

    def __init__(self, cls: Any, site: Any = None) -> None:
        super().__init__(site)
        self.cls = cls


class ModuleObject(Instance):
    """An `nn.Module`. `parameters`, `buffers` and `modules` are its registries; `fields` its plain
    attributes, which moves miss.

    A module of PyTorch's own keeps its parameters implicit: `own["device"]`, `own["dtype"]`,
    `own["trail"]` tell where they are; `own["implicit"]` maps their names to shapes.
    `own["moved"]` is the trail of the last move, `own["opaque"]` tells that parts of the module
    were not seen, so that nothing follows from what is missing.
    """

    __slots__ = ("buffers", "modules", "own", "parameters", "standing")

    def __init__(self, cls: Any, site: Any = None) -> None:
        super().__init__(cls, site)
        standing = self.standing = Standing()
        self.parameters: Table = Registry(standing)
        self.buffers: Table = Registry(standing)
        self.modules: Table = Registry(standing)
        self.own: Table = Registry(standing)

    @property
    def implicit(self) -> dict[str, Any]:
        found: dict[str, Any] = self.own.get("implicit") or {}
        return found

    @property
    def device(self) -> DeviceTree:
        """Where the implicit parameters are."""
        found: DeviceTree = self.own.get("device", CPU)
        return found

    @property
    def trail(self) -> Trail | None:
        return self.own.get("moved") or self.own.get("trail")
