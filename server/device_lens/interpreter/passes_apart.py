"""Two passes of a loop, of one item each: whether each of them keeps to its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from device_lens.domain.guard import leaves
from device_lens.domain.heap import (
    DictObject,
    HeapObject,
    Instance,
    ModuleObject,
    Parameter,
    contents,
)
from device_lens.domain.journal import Change
from device_lens.interpreter import carried, echoes, scan
from device_lens.interpreter.frames import Frame
from device_lens.models.torch.parts import walk as parts_of


class PassesApart:
    """What the passes of a loop over all of some objects do, of which the first has one and those
    after it have another (None: no other has passes of its own)."""

    def __init__(self, loop: Any, frame: Frame, first: Any, second: Any) -> None:
        self.items = () if second is None else (first, second)
        self.loop, self.frame = loop, frame
        mine, others = (frozenset(tables(each, echoes.DEEPEST)) for each in (first, second))
        self.of_first = frozenset() if second is None else mine - others
        self.of_second = frozenset() if second is None else others - mine
        self.meet = False
        """Whether a pass has done something to the item of another, or left its own to it: what
        these two come to says nothing of others then."""

    def handed_on(self, changes: list[Change], is_first: bool) -> list[Change]:
        """What a pass changed that another pass reads."""
        anothers = self.of_second if is_first else self.of_first
        touched = any(id(table) in anothers for table, _, _ in changes)
        self.meet = self.meet or touched or (is_first and any(map(self._leaves, changes)))
        return [each for each in changes if id(each[0]) not in self.of_second]

    def _leaves(self, change: Change) -> bool:
        """Whether a change leaves the item of its pass in a name or attribute for the next."""
        table, key, _ = change
        value = table.get(key)
        if not any(leaf is each for leaf in leaves(value) for each in self._objects()):
            return False
        if table is self.frame.scope.names:
            if key in scan.names_bound(self.loop.target):
                return False  # the next pass has one of its own
            names = carried.names(self.loop, self.frame)
            return names is None or key in names
        return key not in ("items", "rest")

    def _objects(self) -> Iterator[Any]:
        for item in self.items:
            for each in (item, *contents(item)):
                if isinstance(each, HeapObject):
                    yield each


def tables(value: Any, deepest: int) -> Iterator[int]:
    """The identities of the tables of an object and all that it holds."""
    if isinstance(value, ModuleObject):
        for _, part in parts_of(value):
            for table in (part.own, part.parameters, part.buffers, part.modules):
                yield id(table)
            yield from (id(e.fields) for e in part.parameters.values() if type(e) is Parameter)
    if isinstance(value, HeapObject):
        yield id(value.fields)
    if type(value) is DictObject:
        yield id(value.entries)
    held = value.fields.values() if isinstance(value, Instance) else contents(value)
    for each in held if deepest else ():
        yield from tables(each, deepest - 1)
