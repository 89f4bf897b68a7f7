"""Classes of the program that are dicts: an object of one holds a mapping beside its attributes."""

from __future__ import annotations

from typing import Any

from device_lens.domain.code import Function
from device_lens.domain.heap import DictObject, Instance, ListObject
from device_lens.domain.presence import all_present
from device_lens.domain.values import NONE, Const, External, Unknown
from device_lens.models import registry
from device_lens.models.call import Call, Model, Value
from device_lens.models.numbers import number

HELD = "<items>"
"""The field that has the mapping."""
AS_ATTRIBUTES = "<items are attributes>"
"""The field that tells that items are read as attributes too: `self.__dict__ = self`."""
USER_DICT = "collections.UserDict"
"""Its mapping is its attribute `data`, which may be assigned."""
CHAIN_MAP = "collections.ChainMap"
_CHAIN = External(CHAIN_MAP)
CLASSES = ("builtins.dict", "collections.OrderedDict", USER_DICT)


def hold(value: Instance, node: Any) -> None:
    """Gives a new object its mapping, if its class is a dict."""
    if not set(CLASSES).isdisjoint(value.cls.foreign):
        value.fields[HELD] = DictObject({}, None, node)
        if USER_DICT in value.cls.foreign:
            value.fields["data"] = value.fields[HELD]


def held(value: Value) -> DictObject | None:
    """The mapping of an object whose class is a dict."""
    found = value.fields.get(HELD) if type(value) is Instance else None
    if found is not None and USER_DICT in value.cls.foreign:
        found = value.fields.get("data")
    return found if type(found) is DictObject else None


def mapping(value: Value) -> Value:
    """The mapping that a value is or holds, else the value."""
    found = held(value)
    return value if found is None else found


def content(value: Value) -> Value:
    """What is read as all items: the mapping, unless the class has items of its own."""
    if type(value) is Instance and value.cls == _CHAIN:
        return _put_together(value.fields.get("maps"))
    found = held(value)
    if found is None:
        return value
    is_own = USER_DICT in value.cls.foreign and type(value.cls.lookup("__getitem__")) is Function
    return DictObject({}, Unknown("an item")) if is_own else found


def _put_together(maps: Value) -> DictObject:
    """What the dicts of a `ChainMap` have, where the first one that has a key decides."""
    found = DictObject()
    parts = maps.items[::-1] if type(maps) is ListObject and maps.rest is None else (None,)
    for each in map(content, parts):
        if type(each) is not DictObject or each.rest is not None or not all_present(each.entries):
            return DictObject({}, Unknown("an item"))
        found.entries.update(each.entries)
    return found


def attribute(value: Instance, name: str) -> Value | None:
    """An item that the class or the object gives as an attribute: `__getattr__ = dict.get`."""
    items = held(value)
    if items is None or name.startswith("__"):
        return None
    if AS_ATTRIBUTES not in value.fields and not _is_of_dict(value.cls.lookup("__getattr__")):
        return None
    found = items.entries.get(name)
    return items.rest if found is None else found


def takes_attribute(value: Instance) -> bool:
    """Whether an attribute that is set becomes an item: `__setattr__ = dict.__setitem__`."""
    if held(value) is None:
        return False
    return AS_ATTRIBUTES in value.fields or _is_of_dict(value.cls.lookup("__setattr__"))


def _is_of_dict(found: Value) -> bool:
    return type(found) is External and found.name.rpartition(".")[0] in CLASSES


def _of_held(method: str) -> Model:
    """A method of the mapping for one of the object that holds it."""

    def model(call: Call) -> Value:
        receiver, args = call.receiver, call.args
        if receiver is None and args:
            receiver, args = args[0], args[1:]
        target, known = mapping(receiver), registry.function("dict." + method)
        if type(target) is not DictObject or known is None:
            return Unknown()
        given = tuple(map(mapping, args))
        name = "dict." + method
        return known(
            Call(name, target, given, call.kwargs, call.site, call.services, call.complete)
        )

    return model


def _get_item(call: Call) -> Value:
    target = mapping(call.receiver)
    return call.services.item(target, call.args[0]) if call.args else Unknown()


def _set_item(call: Call) -> Value:
    if len(call.args) == 2:
        key, value = call.args
        known = type(key) is Const and isinstance(key.value, str)
        new = DictObject({key.value: value} if known else {}, None if known else value)
        update = registry.function("dict.update")
        if update is not None:
            update(Call("dict.update", call.receiver, (new,), {}, call.site, call.services))
    return NONE


def _length(call: Call) -> Value:
    target = call.receiver
    known = target.rest is None and all_present(target.entries)
    return Const(len(target.entries)) if known else number("a length")


def _initialise(call: Call) -> Value:
    """`dict.__init__(self, items)`: only what it is given for sure is known."""
    target = call.receiver
    _update = registry.function("dict.update")
    if _update is not None:
        _update(call)
    if not call.complete:
        call.write(target.fields, "rest", Unknown())
    return NONE


def register() -> None:
    """Fills the registry."""
    registry.FUNCTIONS["dict.__getitem__"] = _get_item
    registry.FUNCTIONS["dict.__setitem__"] = _set_item
    registry.FUNCTIONS["dict.__len__"] = _length
    registry.FUNCTIONS["dict.__init__"] = _initialise
    names = [name for name in registry.FUNCTIONS if name.startswith("dict.")]
    for owner in CLASSES:
        for name in names:
            registry.FUNCTIONS[f"{owner}.{name[5:]}"] = _of_held(name[5:])
