"""What happened to the heap during a run, kept so that the states at some of its moments can be
had again once all of it is undone."""

from __future__ import annotations

from collections.abc import Iterable

from device_lens.domain.heap import Dated, moment
from device_lens.domain.journal import Change, Delta


class History:
    """The changes of the heap, each with the value before it, rollbacks too. Of what changes
    between two marked moments the values at the earlier one are kept, and nothing of tables that
    were not there yet: no marked moment knows of these."""

    __slots__ = ("_marked", "_since", "changes")

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self._marked = 0
        self._since = 0

    def mark(self) -> int:
        """Marks the present moment; the answer is its place among the changes."""
        changes = self.changes
        if len(changes) > self._marked:
            first: Delta = {}
            for change in changes[self._marked :]:
                table, key, _ = change
                if not isinstance(table, Dated) or table.born < self._since:
                    first.setdefault((id(table), key), change)
            changes[self._marked :] = first.values()
            self._marked = len(changes)
        self._since = moment()
        return self._marked

    def states(self, moments: Iterable[tuple[int, int]]) -> list[Delta]:
        """What must be written to the heap, once all is undone, to have the states at some marked
        moments: each is given by its mark and by when it was, earliest first."""
        later: Delta = {}
        position = len(self.changes)
        found: list[Delta] = []
        for mark, born in reversed(list(moments)):
            for change in reversed(self.changes[mark:position]):
                later[id(change[0]), change[1]] = change
            position = mark
            found.append(
                {
                    place: change
                    for place, change in later.items()
                    if not isinstance(change[0], Dated) or change[0].born < born
                }
            )
        return found[::-1]
