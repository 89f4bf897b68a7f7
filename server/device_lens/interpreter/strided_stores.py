"""Items that are stored at every so many places of a list: `xs[::2] = …; xs[1::2] = …`. Once that
was done from each start, nothing is left of what the list held before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.by_number import Held, Strided, forget_places, keep_strided, strided
from device_lens.domain.heap import MISSING, ListObject
from device_lens.domain.objects import may_hold
from device_lens.domain.optional_items import where_present
from device_lens.domain.values import SliceValue
from device_lens.interpreter.iteration import any_of
from device_lens.models.call import constant
from device_lens.models.python.picked import hold

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_MOST = 16
"""Steps between places up to which it is remembered what is at each."""


def put(machine: Machine, target: ListObject, index: Any, value: Any) -> bool:
    """`target[start::step] = value`; whether it is known which places that takes."""
    if type(index) is not SliceValue or target.many is not None:
        return False
    start, stop, step = (constant(each, MISSING) for each in (index.start, index.stop, index.step))
    if type(step) is not int or step in (0, 1) or not (start is None or type(start) is int):
        return False
    known, more = machine.iterate(value)
    if not (_all_there(target, target.items) and _all_there(value, known)):
        return False
    if target.rest is None and more is None and (stop is None or type(stop) is int):
        places = range(*slice(start, stop, step).indices(len(target.items)))
        return len(places) == len(known) and _put_each(machine, target, places, known)
    items = known if more is None else (*known, more)
    first = start or 0
    if stop is not None or not 0 <= first < step <= _MOST or not items:
        return False
    if target.items or target.rest is None:
        return False
    _put_any(machine, target, first, step, (any_of(items, None), may_hold(value, known, more)))
    return True


def _all_there(value: Any, items: tuple[Any, ...]) -> bool:
    """Whether each of the items that are gone through is there whatever holds."""
    return all(each is True for each in where_present(value, items))


def _put_each(machine: Machine, target: ListObject, places: range, known: tuple[Any, ...]) -> bool:
    changed = list(target.items)
    for place, item in zip(places, known, strict=True):
        changed[place] = item
    forget_places(machine.journal, target)
    machine.journal.write(target.fields, "items", tuple(changed))
    return True


def _put_any(machine: Machine, target: ListObject, first: int, step: int, part: Held) -> None:
    """Stores one of any number of items at each place from the first on."""
    before = strided(target)
    former: Held = target.rest, may_hold(target, (), target.rest)
    parts: dict[int, Held] = {}
    if before is not None and before.step == step:
        former, parts = before.former, dict(before.parts)
    parts[first] = part
    left = [*parts.values()] if len(parts) == step else [former, *parts.values()]
    rest = any_of(tuple(item for item, _ in left), None)
    hold(machine.journal, target, [each for _, held in left for each in held], rest)
    found = Strided(step, former, tuple(parts.items()), rest)
    keep_strided(machine.journal, target, found)
