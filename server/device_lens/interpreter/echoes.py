"""What was done to a value that stands for any of several: it may have been done to each of them.

A loop over some of the objects that there are, which a test, a key or chance has picked, runs with
one that stands for all. What its passes have changed of that one, they may have changed of any.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from device_lens.domain import perhaps_none
from device_lens.domain.bound_code import CODE, bound_to
from device_lens.domain.device import CPU, Device, is_unknown
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
from device_lens.domain.objects import any_one
from device_lens.domain.parameters import set_tensor
from device_lens.domain.presence import settle
from device_lens.domain.similarity import similar
from device_lens.domain.trail import Trail
from device_lens.domain.values import Tensor, TupleValue, Unknown
from device_lens.interpreter.effects import forget
from device_lens.models.torch.parts import all_parts, walk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_OWN = frozenset({ANY_OF, MEMBERS, STATE})
"""Fields with what belongs to the one object alone."""
DEEPEST = 6
"""Objects within objects that are looked at."""


def repeat(machine: Machine, mark: int, done: Any, others: tuple[Any, ...]) -> None:
    """What was done since a mark to one value may have been done to others. One of these may be
    itself, if it stands for many: it was done to some of them."""
    changed = _changed_since(machine, mark)
    echo = Echo(machine, changed)
    for other in others if changed else ():
        echo.carry(done, other, DEEPEST)


def _changed_since(machine: Machine, mark: int) -> dict[int, dict[Any, Any]]:
    """The tables that say something else than at a mark, with what they said under their keys."""
    changed: dict[int, dict[Any, Any]] = {}
    for table, key, old in machine.journal.value_at(mark).values():
        if not _is_as_before(key, old, table.get(key, MISSING)):
            changed.setdefault(id(table), {})[key] = old
    return changed


def repeat_surely(
    machine: Machine, mark: int, done: Any, another: Any, others: tuple[Any, ...]
) -> None:
    """Each of some values had a pass of its own since a mark, of which two have been run: where
    these did the same, so did all; else each may be as one or the other of the two."""
    changed = _changed_since(machine, mark)
    if not changed:
        return
    left = tuple(each for each in others if each is not another)
    agreement = Agreement(machine, changed)
    agreement.carry(done, another, DEEPEST)
    agreement.carry(another, done, DEEPEST)
    if agreement.holds:
        echo = SureEcho(machine, changed)
        for other in left:
            echo.carry(done, other, DEEPEST)
        return
    for one in (done, another):
        for other in (done, another, *left):
            Doubt(machine, changed).carry(one, other, DEEPEST)


def _is_as_before(key: Any, old: Any, new: Any) -> bool:
    """Whether a place says what it said: of a parameter where it is, whatever of gradients, and of
    a module whatever way it went there and back."""
    if type(new) is Trail or key == "moved":
        return True
    if key == "device" and old is MISSING:
        old = CPU  # as a module has it
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


class Echo:
    """Carries changes, told by the tables and their keys with what was there before, from one value
    to another made alike."""

    doubts = False
    """Whether what was done to one value need not have been done to itself."""

    def __init__(self, machine: Machine, changed: dict[int, dict[Any, Any]]) -> None:
        self.machine = machine
        self.changed = changed
        self.seen: set[tuple[int, int]] = set()

    def carry(self, done: Any, other: Any, deepest: int) -> None:
        is_of_many = isinstance(done, HeapObject) and done.many is not None
        if done is other and not (is_of_many or self.doubts) and type(done) is not TupleValue:
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
                self._move(done, other)
            self._carry_table(done.fields, other.fields, deepest)
        elif kind is Parameter:
            if self._is_replaced(done):
                self._move(done, other)
        elif kind is DictObject:
            self._carry_table(done.entries, other.entries, deepest)
            self._carry_table(done.fields, other.fields, deepest)
        elif kind is ListObject:
            self._carry_list(done, other, deepest)
        elif isinstance(done, Instance):
            self._carry_table(done.fields, other.fields, deepest)

    def _move(self, done: ModuleObject | Parameter, other: ModuleObject | Parameter) -> None:
        """What is done of one module or parameter, to another one."""
        forget(self.machine, (other,))

    def _write(self, table: Any, key: Any, before: Any, value: Any) -> None:
        """The same of what a table has under a key."""
        self.machine.journal.write(table, key, _either(before, value))

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
                self._write(other, key, before, value)
            elif key in other:
                self.carry(value, other[key], deepest - 1)

    def _carry_list(self, done: ListObject, other: ListObject, deepest: int) -> None:
        if not {"items", "rest"}.isdisjoint(self.changed.get(id(done.fields), ())):
            held = (*self._before(done), *done.items, done.rest, *other.items, other.rest)
            joined = join_all([each for each in held if each is not None] or [Unknown()])
            self._write_list(other, joined)
            return
        for pair in zip(done.items, other.items, strict=False):
            self.carry(*pair, deepest - 1)
        if done.rest is not None and other.rest is not None:
            self.carry(done.rest, other.rest, deepest - 1)

    def _write_list(self, other: ListObject, joined: Any) -> None:
        self.machine.journal.write(other.fields, "items", ())
        self.machine.journal.write(other.fields, "rest", joined)

    def _before(self, done: ListObject) -> list[Any]:
        """The items that a list had."""
        known = self.changed.get(id(done.fields), {})
        return [*known.get("items", ()), known.get("rest")]


class Doubt(Echo):
    """Carries what was done to some value, nobody knows which."""

    doubts = True

    def _write(self, table: Any, key: Any, before: Any, value: Any) -> None:
        either = _either(before, value)
        held = dict.fromkeys((*leaves(before), *leaves(value)))
        if all(type(each) is ModuleObject for each in held):
            either = any_one(tuple(held), either)  # what is done to it may be done to each
        self.machine.journal.write(table, key, either)


class Agreement(Echo):
    """Whether what was done to one value was done to another."""

    holds = True

    def _move(self, done: ModuleObject | Parameter, other: ModuleObject | Parameter) -> None:
        self.holds = self.holds and _is_where(done, other)

    def _write(self, table: Any, key: Any, before: Any, value: Any) -> None:
        self.holds = self.holds and similar(table.get(key, MISSING), value)

    def _write_list(self, other: ListObject, joined: Any) -> None:
        self.holds = False


def _is_where(left: Any, right: Any) -> bool:
    """Whether each part of two modules made alike, or each of two parameters, is where the other
    is, and that is known."""
    pairs = _parts_of_both(left, right)
    return pairs is not None and all(
        mine.tensor.device == other.tensor.device
        and not any(map(is_unknown, leaves(mine.tensor.device)))
        for mine, other in pairs
    )


def _parts_of_both(left: Any, right: Any) -> list[tuple[Parameter, Parameter]] | None:
    """The parameters of two modules made alike, each with its twin; None where they differ, or have
    other parts than these."""
    if type(left) is Parameter:
        return [(left, right)]
    mine, other = ({part.name: part.value for part in all_parts(each)} for each in (left, right))
    values = (*mine.values(), *other.values())
    if mine.keys() != other.keys() or not all(type(each) is Parameter for each in values):
        return None
    return [(mine[name], other[name]) for name in mine]


def _modules_of_both(left: Any, right: Any) -> Iterator[tuple[ModuleObject, ModuleObject]]:
    """The modules of two that are made alike, each with its twin."""
    if type(left) is ModuleObject:
        for (_, mine), (_, other) in zip(walk(left), walk(right), strict=False):
            yield mine, other


class SureEcho(Echo):
    """Carries what was surely done to each."""

    def _move(self, done: ModuleObject | Parameter, other: ModuleObject | Parameter) -> None:
        pairs = _parts_of_both(done, other)
        if pairs is None:
            forget(self.machine, (other,))
        for mine, twin in pairs or ():
            moved = twin.tensor.with_(device=mine.tensor.device, trail=mine.tensor.trail)
            set_tensor(self.machine.journal, twin, moved)
        for part, like in _modules_of_both(done, other) if pairs else ():
            for key in part.own.keys() & {"device", "moved"}:
                self.machine.journal.write(like.own, key, part.own[key])

    def _write(self, table: Any, key: Any, before: Any, value: Any) -> None:
        is_own = isinstance(value, HeapObject)  # each has made one of its own
        self.machine.journal.write(table, key, _either(before, value) if is_own else value)


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
    elif isinstance(value, CODE):
        for each in bound_to(value):
            lose(machine, each, deepest - 1)
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
