"""Notes about values, which are kept on the side: no branch that is rolled back takes them back."""

from __future__ import annotations

from typing import Any

Table = dict[int, tuple[Any, Any]]
"""Values with their notes, by the values' identities."""
EMPTY: Table = {}


class Notes:
    """Facts about values, by identity. The value is kept, so that its identity stays its own.
    Those of `below` are seen too, and not touched: what is dropped of them is hidden here."""

    __slots__ = ("_below", "_by_id", "_seen_above")

    def __init__(self, below: Table) -> None:
        self._seen_above: Table | None = None
        self._by_id: Table = {}
        self._below = below

    def __bool__(self) -> bool:
        return bool(self._by_id or self._below)

    def seen(self) -> Table:
        """What is noted now, to lie below others."""
        if not self._by_id:
            return self._below
        if self._seen_above is None:
            self._seen_above = {**self._below, **self._by_id}
        return self._seen_above

    @property
    def adds_only(self) -> bool:
        """Whether nothing that lies below is noted otherwise."""
        return self._by_id.keys().isdisjoint(self._below)

    def put(self, value: Any, note: Any) -> None:
        self._seen_above = None
        self._by_id[id(value)] = (value, note)

    def get(self, value: Any) -> Any:
        """The note of that very value; Python's None where there is none."""
        key = id(value)
        found = self._by_id.get(key)
        if found is None and self._below:
            found = self._below.get(key)
        return None if found is None else found[1]

    def drop(self, value: Any) -> None:
        self._seen_above = None
        self._by_id.pop(id(value), None)
        if id(value) in self._below:
            self._by_id[id(value)] = (value, None)

    def clear(self) -> None:
        self._seen_above = None
        if self._below:
            self._by_id = dict.fromkeys(self._below, (None, None))
        else:
            self._by_id.clear()

    def items(self) -> list[tuple[Any, Any]]:
        """Values with their notes, oldest first."""
        seen = {**self._below, **self._by_id} if self._below else self._by_id
        return [each for each in seen.values() if each[1] is not None]

    def take(self, other: Notes) -> None:
        """Takes in what another one noted and hid."""
        if other._by_id and other._by_id is not self._below:
            self._seen_above = None
            self._by_id.update(other._by_id)

    def forget(self, other: Notes) -> None:
        """Forgets what was taken from another one."""
        self._seen_above = None
        for key in other._by_id:
            self._by_id.pop(key, None)


class LastingNotes(Notes):
    """Notes about values that outlive their unit: they are among those of all units at once, until
    they are taken back."""

    __slots__ = ("_keys", "_shared")

    def __init__(self, shared: Notes) -> None:
        super().__init__(shared._by_id)
        self._shared = shared
        self._keys: set[int] = set()

    def put(self, value: Any, note: Any) -> None:
        self._shared.put(value, note)
        self._keys.add(id(value))

    def drop(self, value: Any) -> None:
        self._shared.drop(value)

    def clear(self) -> None:
        self._shared.clear()

    def take(self, other: Notes) -> None:
        self._shared.take(other)
        self._keys.update(other._by_id)

    def take_back(self) -> None:
        """Takes these notes away from all units: nobody sees their values any more."""
        self._shared._seen_above = None
        for key in self._keys:
            self._shared._by_id.pop(key, None)
