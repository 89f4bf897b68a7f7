"""What sets have in common, and what one has beyond another: their operators and methods.

Which objects these are is known where both sets are known one by one and their objects equal
nothing but themselves. Else any of what there was may be in the set, or not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from device_lens.domain.code import ClassValue
from device_lens.domain.heap import HELD_ALL, HELD_ANY, Instance, ListObject, ModuleObject
from device_lens.domain.join import join_all
from device_lens.domain.journal import Journal
from device_lens.domain.lengths import AT_LEAST, surely_held
from device_lens.domain.objects import any_of_these, keep_any, may_hold
from device_lens.domain.values import FALSE, NONE, Const, External, TupleValue, Unknown
from device_lens.models.call import Call, Services, Value

Known = dict[tuple[str, object], Value]
"""The items of a set by what they equal."""
_KINDS = ("set", "keys")
_PLAIN = frozenset({"builtins.object", "torch.nn.Module", "typing.Generic", "abc.ABC"})
"""Classes that leave it at that objects equal themselves alone."""
_CHOICES: dict[str, Callable[[Known, Known], Known]] = {
    "difference": lambda left, right: {key: left[key] for key in left if key not in right},
    "intersection": lambda left, right: {key: left[key] for key in left if key in right},
    "union": lambda left, right: {**right, **left},
    "symmetric_difference": lambda left, right: {
        key: each for key, each in {**left, **right}.items() if (key in left) != (key in right)
    },
}
OPERATORS = {
    "sub": "difference",
    "and": "intersection",
    "or": "union",
    "xor": "symmetric_difference",
}
"""The operators of sets by the words that they have in Python's data model."""


def is_set(value: Value) -> bool:
    """Whether this is a set, or a view of the keys of a dict."""
    return type(value) is ListObject and value.kind in _KINDS


def operated(services: Services, name: str, left: Value, right: Value, node: object) -> Value:
    """What an operator gives of two sets, or of one and what is not known; Python's None of
    anything else."""
    way = OPERATORS.get(name)
    if way is None or not all(is_set(each) or type(each) is Unknown for each in (left, right)):
        return None
    if not is_set(left):
        if way == "difference" or not is_set(right):
            return None
        left, right = right, left
    return combined(services, way, left, right, node)


def combined(services: Services, way: str, left: Value, right: Value, node: object) -> ListObject:
    """The set that two others give."""
    (items, rest), (others, more) = services.iterate(left), services.iterate(right)
    mine = _known(left, items, rest)
    theirs = _known(right, others, more)
    if mine is not None and theirs is not None:
        return ListObject(tuple(_CHOICES[way](mine, theirs).values()), None, "set", node)
    held = [*may_hold(left, items, rest)]
    if way in ("union", "symmetric_difference"):
        held += may_hold(right, others, more)
    found = ListObject((), join_all(held) if held else None, "set", node)
    return keep_any(found, held, picked=True)


def is_among(services: Services, item: Value, source: Value) -> bool | None:
    """Whether a list or set has an object that equals nothing but itself; None where that is not
    known."""
    if type(source) not in (ListObject, TupleValue):
        return None
    items, rest = services.iterate(source)
    key, known = _key(item), _known(source, items, rest)
    return None if key is None or known is None else key in known


def _known(source: Value, items: tuple[Value, ...], rest: Value) -> Known | None:
    """What a set surely has; None where it may have others, or fewer."""
    if rest is not None or any_of_these(source) or surely_held(source, items) < len(items):
        return None
    found: Known = {}
    for item in items:
        key = _key(item)
        if key is None:
            return None
        found.setdefault(key, item)
    return found


def _key(item: Value) -> tuple[str, object] | None:
    if type(item) is Const:
        try:
            hash(item.value)
        except TypeError:
            return None
        return "constant", item.value
    if equals_itself(item) and item.many is None:
        return "object", id(item)
    return None


def equals_itself(value: Value) -> bool:
    """Whether a value equals none but itself: an object whose class has no `__eq__`."""
    if type(value) is ModuleObject and type(value.cls) is External:
        return True
    if not isinstance(value, Instance) or type(value.cls) is not ClassValue:
        return False
    return value.cls.lookup("__eq__") is None and set(value.cls.foreign) <= _PLAIN


def become(journal: Journal, target: ListObject, found: ListObject) -> None:
    """A set has what another one has from here on."""
    journal.delete(target.fields, AT_LEAST)
    for name in ("items", "rest"):
        journal.write(target.fields, name, found.fields[name])
    if any_of_these(found) or any_of_these(target):
        journal.write(target.fields, HELD_ANY, found.fields.get(HELD_ANY))
        journal.write(target.fields, HELD_ALL, FALSE)


def _method(call: Call, way: str) -> Value:
    """`left.difference(right, …)`: also of others than sets."""
    found: Value = call.receiver
    sources = call.args or (TupleValue(()),)
    for source in sources if call.complete else (*sources, ListObject((), None)):
        found = combined(call.services, way, found, source, call.site.node)
    return found


def _update(call: Call, way: str) -> Value:
    """`left.difference_update(right, …)`."""
    if type(call.receiver) is ListObject:
        become(call.services.journal, call.receiver, _method(call, way))
    return NONE


METHODS = {
    **{way: partial(_method, way=way) for way in _CHOICES},
    **{f"{way}_update": partial(_update, way=way) for way in _CHOICES if way != "union"},
}
"""The methods of sets by their names."""
