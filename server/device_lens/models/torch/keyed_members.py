"""The members that a container of modules or parameters takes from a mapping: a dict, an object of
a class that is one, another container, or pairs."""

from __future__ import annotations

from collections.abc import Iterator

from device_lens.domain.heap import DictObject, Instance, ModuleObject
from device_lens.domain.objects import any_picked
from device_lens.domain.values import External, TupleValue, Unknown
from device_lens.models.call import Call, Value, constant
from device_lens.models.python.dict_classes import content
from device_lens.models.torch.parts import REST


def is_mapping(value: Value) -> bool:
    """Whether a value is a dict, or an object of a class of the program that is one."""
    return type(content(value)) is DictObject


def members_by_key(call: Call, mapping: Value, registry: str) -> Iterator[tuple[str, Value]]:
    """Keys and members; `registry` names that of a container. What no key is known of is under
    `REST`."""
    found = _as_dict(mapping)
    if type(found) is DictObject:
        for key, value in found.entries.items():
            yield str(key), value
        if found.rest is not None:
            yield REST, any_picked(found, found.rest)
    elif isinstance(found, ModuleObject):
        yield from list(getattr(found, registry).items())
    else:
        yield from _of_pairs(call, found)


def _as_dict(value: Value) -> Value:
    """The dict that a mapping is, holds, or has as its attributes (`EasyDict`), else the value."""
    found = content(value)
    if type(found) is Instance and type(found.cls) is External:
        fields = {name: each for name, each in found.fields.items() if name.isidentifier()}
        return DictObject(fields)
    return found


def _of_pairs(call: Call, iterable: Value) -> Iterator[tuple[str, Value]]:
    items, rest = call.services.iterate(iterable)
    rest = None if rest is None else any_picked(iterable, rest)
    for item in (*items, rest):
        if type(item) is TupleValue and len(item.items) == 2:
            key = constant(item.items[0])
            known = isinstance(key, str) and item is not rest
            yield (key if known else REST), item.items[1]
        elif item is not None:
            yield REST, Unknown("module")
