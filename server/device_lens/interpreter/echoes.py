"""What was done to a value that stands for any of several: it may have been done to each of them.

A loop over some of the objects that there are, which a test, a key or chance has picked, runs with
one that stands for all. What its passes have changed of that one, they may have changed of any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain import perhaps_none
from device_lens.domain.device import Device
from device_lens.domain.guard import Guarded, leaves, undecided
from device_lens.domain.heap import (
    ANY_OF,
    MEMBERS,
    MISSING,
    STATE,
    DictObject,
    Entries,
    HeapObject,
    Instance,
    ListObject,
    ModuleObject,
    Parameter,
)
from device_lens.domain.join import join_all
from device_lens.domain.presence import settle
from device_lens.domain.trail import Trail
from device_lens.domain.values import Tensor, TupleValue, Unknown
from device_lens.interpreter.effects import forget
from device_lens.models.torch.parts import walk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_OWN = frozenset({ANY_OF, MEMBERS, STATE})
"""Fields with what belongs to the one object alone."""
DEEPEST = 6
"""Objects within objects that are looked at."""


def repeat(machine: Machine, mark: int, done: Any, others: tuple[Any, ...]) -> None:
    """What was done since a mark to one value may have been done to others. One of these may be
    itself, if it stands for many: it was done to some of them."""
    changed: dict[int, dict[Any, Any]] = {}
    for table, key, old in machine.journal.value_at(mark).values():
        if not _is_as_before(key, old, table.get(key, MISSING)):
            changed.setdefault(id(table), {})[key] = old
    if not changed:
        return
    echo = _Echo(machine, changed)
    for other in others:
        echo.carry(done, other, DEEPEST)


def _is_as_before(key: Any, old: Any, new: Any) -> bool:
    """Whether a place says what it said: of a parameter where it is, whatever of gradients, and of
    a module whatever way it went there and back."""
    if type(new) is Trail:
        return True
    if type(old) is Tensor and type(new) is Tensor:
        same = bool(old.device == new.device)
        return same and (key == "tensor" or _says_the_same(old, new))
    return old is new or (isinstance(new, Device | Guarded) and bool(old == new))


def _says_the_same(old: Tensor, new: Tensor) -> bool:
    return (old.requires_grad, old.zero_dim, old.shape) == (
        new.requires_grad,
        new.zero_dim,
        new.shape,
    )


class _Echo:
    """Carries changes, told by the tables and their keys with what was there before, from one value
    to another made alike."""

    def __init__(self, machine: Machine, changed: dict[int, dict[Any, Any]]) -> None:
        self.machine = machine
        self.changed = changed
        self.seen: set[tuple[int, int]] = set()

    def carry(self, done: Any, other: Any, deepest: int) -> None:
        is_of_many = isinstance(done, HeapObject) and done.many is not None
        if done is other and not is_of_many and type(done) is not TupleValue:
            return  # what all have, and it was surely done to that
        if not deepest or (id(done), id(other)) in self.seen:
            return
        self.seen.add((id(done), id(other)))
        kind = type(done)
        if kind is not type(other):
            for one in leaves(done):
                for each in leaves(other):
                    if type(one) is type(each):
                        self.carry(one, each, deepest)
        elif kind is TupleValue:
            for pair in zip(done.items, other.items, strict=False):
                self.carry(*pair, deepest)
        elif kind is ModuleObject:
            if any(map(self._has_moved, (part for _, part in walk(done)))):
                forget(self.machine, (other,))
            self._carry_table(done.fields, other.fields, deepest)
        elif kind is Parameter:
            if self._is_replaced(done):
                forget(self.machine, (other,))
        elif kind is DictObject:
            self._carry_table(done.entries, other.entries, deepest)
            self._carry_table(done.fields, other.fields, deepest)
        elif kind is ListObject:
            self._carry_list(done, other, deepest)
        elif isinstance(done, Instance):
            self._carry_table(done.fields, other.fields, deepest)

    def _has_moved(self, part: ModuleObject) -> bool:
        tables = (part.own, part.modules, part.parameters, part.buffers)
        held = (each for each in part.parameters.values() if type(each) is Parameter)
        return any(id(each) in self.changed for each in tables) or any(map(self._is_replaced, held))

    def _is_replaced(self, parameter: Parameter) -> bool:
        return "tensor" in self.changed.get(id(parameter.fields), ())

    def _carry_table(self, done: Any, other: Any, deepest: int) -> None:
        keys = self.changed.get(id(done), {})
        for key in keys:
            if key not in done and key in other and isinstance(other, Entries):
                settle(self.machine.journal, other, key, undecided())
        for key, value in list(done.items()):
            if key in _OWN:
                continue
            if key in keys:
                before = keys[key] if done is other else other.get(key, MISSING)
                self.machine.journal.write(other, key, _either(before, value))
            elif key in other:
                self.carry(value, other[key], deepest - 1)

    def _carry_list(self, done: ListObject, other: ListObject, deepest: int) -> None:
        if not {"items", "rest"}.isdisjoint(self.changed.get(id(done.fields), ())):
            held = (*self._before(done), *done.items, done.rest, *other.items, other.rest)
            joined = join_all([each for each in held if each is not None] or [Unknown()])
            self.machine.journal.write(other.fields, "items", ())
            self.machine.journal.write(other.fields, "rest", joined)
            return
        for pair in zip(done.items, other.items, strict=False):
            self.carry(*pair, deepest - 1)
        if done.rest is not None and other.rest is not None:
            self.carry(done.rest, other.rest, deepest - 1)

    def _before(self, done: ListObject) -> list[Any]:
        """The items that a list had."""
        known = self.changed.get(id(done.fields), {})
        return [*known.get("items", ()), known.get("rest")]


def _either(old: Any, new: Any) -> Any:
    if old is MISSING or old is None or new is None or isinstance(old, tuple):
        return new
    return perhaps_none.either(old, new)


def lose(machine: Machine, value: Any, deepest: int = DEEPEST) -> None:
    """Where anything is that a value holds is not known any more."""
    if not deepest:
        return
    write = machine.journal.write
    if isinstance(value, ModuleObject) or type(value) is Parameter:
        forget(machine, (value,))
    elif type(value) is TupleValue:
        for item in value.items:
            lose(machine, item, deepest)
    elif type(value) is ListObject:
        for item in (*value.items, value.rest):
            lose(machine, item, deepest - 1)
        write(value.fields, "items", tuple(map(_elsewhere, value.items)))
        write(value.fields, "rest", _elsewhere(value.rest))
    elif isinstance(value, Instance | DictObject):
        tables = [value.fields] if isinstance(value, Instance) else [value.entries, value.fields]
        for table in tables:
            for key, held in list(table.items()):
                lose(machine, held, deepest - 1)
                write(table, key, _elsewhere(held))


def _elsewhere(value: Any) -> Any:
    """What may stand in the place of a value: something elsewhere, where it is a tensor."""
    if any(type(leaf) is Tensor for leaf in leaves(value)):
        return Unknown()
    if type(value) is TupleValue:
        return TupleValue(tuple(map(_elsewhere, value.items)), value.names)
    return value
