"""Modules whose top levels have run, and what they did to others, which can be taken back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from device_lens.domain.code import Deferred, Namespace
from device_lens.domain.heap import BY_ITEM, MISSING, Presences, Registry
from device_lens.domain.journal import Delta, Journal
from device_lens.domain.values import Const, Unknown
from device_lens.interpreter.top_level import used
from device_lens.interpreter.unit import Unit
from device_lens.syntax.chunk import Chunk

GROWING = frozenset({"items", "rest", "rest_key", *BY_ITEM})
"""The fields of lists and dicts that change when something is put into them."""


class Activations(Counter[Any]):
    """Activations of functions that count together with those that other top levels called: what
    is written is written to the sum, and what was added is kept."""

    def __init__(self, total: Counter[Any]) -> None:
        super().__init__()
        self._total = total
        self._added: Counter[Any] = Counter()

    def __getitem__(self, key: Any) -> int:
        return self._total[key]

    def __setitem__(self, key: Any, value: int) -> None:
        self._added[key] += value - self._total[key]
        self._total[key] = value

    def take_back(self) -> None:
        """Takes what was added out of the sum."""
        self._total.subtract(self._added)


@dataclass(slots=True)
class Load:
    """A module whose top level has run. `effects` are its writes to what was there before it, as
    table, key, old and new value. One that is not `shared` changed what others see, so that the
    next unit must not find it."""

    namespace: Namespace
    unit: Unit
    stamp: Any
    importers: set[str] = field(default_factory=set)
    effects: list[tuple[Any, Any, Any, Any]] = field(default_factory=list)
    shared: bool = True
    activations: Activations = field(default_factory=lambda: Activations(Counter()))
    left: dict[str, Any] | None = None
    """The state that decides where what is made goes, where the run has changed it."""
    aside: Delta | None = None
    """What it changed for others, where that is taken back for now."""
    before: Delta | None = None
    """What was there when that was put back."""
    follows: bool = False
    """Whether it is kept for its functions alone, beside the script of the same file: its top level
    may have been typed in since, and tells nothing."""
    lacks: frozenset[str] = frozenset()
    """The names that have been bound in the script of the same file since, for which it was not run
    again."""
    told: frozenset[object] = frozenset()
    """The lineages of the chunks whose code must not change under what the run has shown."""
    placed: frozenset[object] = frozenset()
    """Those of the chunks in which it found something: all nodes outside of the functions that an
    edit is about have to stay."""

    def set_aside(self, journal: Journal) -> None:
        """Takes back what it changed for others: whoever does not import it is another program."""
        if self.aside is None:
            before = self.before
            if before is None:
                changed = [effect for effect in self.effects if patches(*effect)]
                before = {(id(table), key): (table, key, old) for table, key, old, _ in changed}
            self.aside = journal.swap(before)

    def put_back(self, journal: Journal) -> None:
        """Lets others see again what was set aside."""
        if self.aside is not None:
            self.before = journal.swap(self.aside)
            self.aside = None

    def misses(self, chunk: Chunk) -> bool:
        """Whether a chunk mentions what the module lacks."""
        return bool(self.lacks) and not self.lacks.isdisjoint(used(chunk))

    def allows(self, before: Any, after: Any) -> bool:
        """Whether a chunk may become another one that has other bodies of functions."""
        stays = after.splice is not None or before.lineage not in self.placed
        return stays and before.lineage not in self.told


def effects_of(
    entries: list[tuple[Any, Any, Any]], own: Any, passes: Callable[[Any], bool]
) -> Iterator[tuple[Any, Any, Any, Any]]:
    """What was written to tables that stay when those go that pass, each place once."""
    seen: set[tuple[int, Any]] = set()
    for table, key, old in entries:
        if table is own or passes(table):
            continue
        place = id(table), key
        if place not in seen:
            seen.add(place)
            yield table, key, old, table.get(key, MISSING)


def patches(table: Any, key: Any, old: Any, new: Any) -> bool:
    """Whether a write changes what others may rest on, rather than adding to it or filling in
    what was left open: an answer that a cached function keeps under one more condition."""
    if type(table) is Presences:
        return False
    return old is not new and key not in GROWING and _tells(old) and _tells(new)


def _tells(value: Any) -> bool:
    if type(value) is Const:
        return value.value is not None
    return value is not MISSING and not isinstance(value, Unknown | Namespace | Deferred)


def undo(effects: list[tuple[Any, Any, Any, Any]], journal: Journal) -> bool:
    """Undoes what modules did to others, save where another one wrote since; False where that
    cannot be told apart. The effects are in the order in which the modules began to run."""
    places: dict[tuple[int, Any], list[tuple[Any, Any, Any, Any]]] = {}
    for effect in effects:
        places.setdefault((id(effect[0]), effect[1]), []).append(effect)
    for each in places.values():
        table, key, old, _ = each[0]
        now = table.get(key, MISSING)
        if all(now is not written for effect in each for written in effect[2:]):
            if key == "items":
                mine = {id(item) for effect in each for item in effect[3][len(effect[2]) :]}
                table[key] = tuple(item for item in now if id(item) not in mine)
            elif key in GROWING:
                return False
        elif old is MISSING:
            table.pop(key, None)
        else:
            table[key] = old
        if type(table) is Registry:
            journal.forget_places(table)
    return True
