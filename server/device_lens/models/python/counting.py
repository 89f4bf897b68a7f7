"""`len`, `any` and `all`: what can be said of how many items there are, and of all of them."""

from __future__ import annotations

from typing import Any

from device_lens.domain import optional_items
from device_lens.domain.by_number import number_of
from device_lens.domain.condition import disjunction, negation, settled
from device_lens.domain.device import Device
from device_lens.domain.guard import Guarded, choose, combine
from device_lens.domain.heap import DictObject, ListObject, Parameter
from device_lens.domain.lengths import at_least
from device_lens.domain.presence import all_present
from device_lens.domain.values import Const, DeviceValue, Tensor, TupleValue, Unknown
from device_lens.models import registry
from device_lens.models.call import Call, Model, Value
from device_lens.models.methods import find_method
from device_lens.models.numbers import is_number, whole_number
from device_lens.models.python.builtins import first_argument
from device_lens.models.python.text_cases import by_cases


def _len(call: Call) -> Value:
    value = first_argument(call)
    if type(value) is Guarded:
        return by_cases(_counted, (value,), whole_number("a length"))
    counted = _counted(value)
    if type(counted) is Guarded:
        return counted
    if type(value) is Tensor:
        call.services.has_dimensions(call.place(0, "obj"))
    method = find_method(value, "__len__") if type(counted) is Unknown else None
    found = counted if method is None else call.services.invoke(method, (), {})
    return found if type(found) is Const or is_number(found) else whole_number("a length")


def _counted(value: Value) -> Value:
    """How many items a value has, as far as it tells that by itself."""
    if type(value) is TupleValue:
        return Const(len(value.items))
    if type(value) is ListObject:
        return _of_list(value)
    if type(value) is DictObject and value.rest is None and all_present(value.entries):
        return Const(len(value.entries))
    if type(value) is Const and isinstance(value.value, str):
        return Const(len(value.value))
    tensor = value.tensor if type(value) is Parameter else value
    if type(tensor) is Tensor and tensor.shape and isinstance(tensor.shape[0], int):
        return Const(tensor.shape[0])
    return number_of(value) or whole_number("a length")


def _of_list(value: ListObject) -> Value:
    told, rest = optional_items.one_by_one(value, value.items, value.rest)
    if rest is not None:
        return number_of(value) or whole_number("a length")
    found = optional_items.count(value)
    if found is None and at_least(value) < len(value.items):
        return whole_number("a length")
    if value.kind == "set":
        return _distinct(*told)
    return Const(len(value.items)) if found is None else found


def _distinct(items: tuple[Value, ...], present: tuple[Any, ...]) -> Value:
    """How many items a set has that was made of some, each of them there where a condition holds:
    equal ones are one."""
    if len(items) < 2 and all(each is True for each in present):
        return Const(len(items))
    found: Any = frozenset[Any]()
    for item, there in zip(items, present, strict=True):
        found = combine(_with, found, choose(there, _key(item), _ABSENT))
    return combine(_how_many, found)


def _with(keys: frozenset[Any], key: Any) -> frozenset[Any]:
    return keys if key == _ABSENT else keys | {key}


def _how_many(keys: frozenset[Any]) -> Value:
    return whole_number("a length") if None in keys else Const(len(keys))


_ABSENT = "absent"


def _key(item: Value) -> Value:
    """What tells an item of a set from others: a tree of it; None where that is not known."""
    if type(item) is Guarded:
        return combine(_key, item)
    if type(item) is Const:
        return "constant", item.value
    if type(item) is DeviceValue:
        return combine(lambda leaf: leaf if type(leaf) is Device else None, item.device)
    return None


def _any_all(every: bool) -> Model:
    def model(call: Call) -> Value:
        source = first_argument(call)
        told, rest = optional_items.one_by_one(source, *call.services.iterate(source))
        if rest is not None:
            return Unknown()
        condition: Any = False
        for item, present in zip(*told, strict=True):
            truth = choose(present, call.services.truth(item), every)
            either = disjunction(condition, negation(truth) if every else truth)
            condition = settled(either)
        return combine(Const, negation(condition) if every else condition)

    return model


def register() -> None:
    registry.FUNCTIONS.update(
        {
            "builtins.len": _len,
            "builtins.any": _any_all(False),
            "builtins.all": _any_all(True),
        }
    )
