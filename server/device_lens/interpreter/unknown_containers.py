"""Lists and dicts of which one is changed, and nobody knows which: each may have been."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain import objects
from device_lens.domain.by_number import forget_places
from device_lens.domain.guard import Guarded, leaves
from device_lens.domain.heap import MISSING, DictObject, ListObject
from device_lens.domain.kinds import gathered
from device_lens.domain.lengths import grown
from device_lens.domain.objects import may_hold
from device_lens.domain.presence import without
from device_lens.domain.values import WHOLE, TupleValue, Unknown
from device_lens.domain.wholes import members
from device_lens.interpreter.scan import MUTATORS
from device_lens.models.python.picked import hold

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

CHANGING = frozenset(
    "__iadd__ __imul__ __ior__ __iand__ __isub__ __ixor__ extendleft intersection_update "
    "difference_update symmetric_difference_update".split()
)
"""Methods of lists, sets, deques and dicts that change what they hold and have no model."""


def lose_items(machine: Machine, container: ListObject | DictObject) -> None:
    """Something is done to a list or dict: what it holds is not known any more."""
    lost = Unknown("an item")
    forget_places(machine.journal, container)
    if isinstance(container, ListObject):
        held = may_hold(container, container.items, container.rest)
        hold(machine.journal, container, held, lost)
        return
    for key in list(container.entries):
        machine.journal.write(container.entries, key, lost)
    machine.journal.write(container.fields, "rest", lost)


def changed(machine: Machine, receiver: Any) -> None:
    """What may be any of several lists or dicts is changed."""
    if type(receiver) is not Unknown or receiver.fields is None:
        return
    for each in members(receiver.fields.get(WHOLE)):
        if type(each) in (ListObject, DictObject):
            lose_items(machine, each)
            if type(each) is DictObject:
                without(machine.journal, each, MISSING)  # any key may have gone


def called(machine: Machine, receiver: Any, method: str, args: tuple[Any, ...]) -> None:
    """The same where it is a method that may change it. What one of several lists takes in, each
    may have beside what it had."""
    if method == "append" and len(args) == 1 and objects.one_of_lists(receiver):
        for each in members(receiver.fields[WHOLE]):
            _perhaps_take_in(machine, each, args[0])
    elif method in MUTATORS or method in CHANGING:
        changed(machine, receiver)


def extended(machine: Machine, left: Any, right: Any) -> bool:
    """Whether `left += right` puts the items of a sequence into one of several lists: each may have
    them then."""
    if not objects.one_of_lists(left) or type(right) not in (ListObject, TupleValue):
        return False
    added = [*right.items, getattr(right, "rest", None)]
    for each in members(left.fields[WHOLE]):
        for value in added:
            if value is not None:
                _perhaps_take_in(machine, each, value)
    return True


def _perhaps_take_in(machine: Machine, target: ListObject, value: Any) -> None:
    held = may_hold(target, target.items, target.rest)
    hold(machine.journal, target, (*held, value), gathered((*target.items, value), target.rest))


def put_in_place(machine: Machine, left: Any, value: Any) -> Any:
    """What a name stands for after `left += …`, which has given `value`: a list or dict itself,
    whose other names see what has come into it."""
    changed(machine, left)
    if type(left) is Guarded and type(value) is Unknown:
        for leaf in leaves(left):
            put_in_place(machine, leaf, value)
    if value is left or not _takes_in(left):
        return value
    if type(left) is type(value) is ListObject:
        write, before = machine.journal.write, left.items
        forget_places(machine.journal, left)
        write(left.fields, "items", value.items)
        write(left.fields, "rest", value.rest)
        grown(machine.journal, left, before)
    else:
        lose_items(machine, left)
    return left


def _takes_in(value: Any) -> bool:
    if type(value) is ListObject:
        return value.kind in ("list", "set", "deque")
    return type(value) is DictObject
