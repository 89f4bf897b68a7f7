"""Keys of dicts: the Python key behind a value, and what is stored under it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain import perhaps_none, presence
from device_lens.domain.guard import Guarded, Literals, cases, combine, leaves
from device_lens.domain.heap import MISSING, OF_MODULE, DictObject, HeapObject
from device_lens.domain.narrowing import where
from device_lens.domain.objects import any_one
from device_lens.domain.torch_keys import told_apart, torch_key
from device_lens.domain.values import Const, DeviceValue, External, TupleValue, Unknown
from device_lens.interpreter import class_attributes
from device_lens.interpreter.enumerations import is_member
from device_lens.models import registry
from device_lens.models.numbers import is_text, start_of
from device_lens.models.open_names import met_by, stored_in

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

MAX_CASES = 4
"""Keys that conditions decide between which are stored under one by one."""


def put(machine: Machine, target: DictObject, key: Any, value: Any) -> None:
    """`target[key] = value`: a strong update for a constant key, else one of the rest."""
    key = told_apart(key)
    if type(key) is Guarded:
        if _put_in_cases(machine, target, key, value):
            return
    elif (name := key_of(key)) is not MISSING:
        presence.put(machine.journal, target.entries, name, value)
        return
    if OF_MODULE in target.fields:
        _put_in_module(machine, target, key, value)
        return
    rest = target.rest
    if type(key) in (Unknown, Guarded, External, TupleValue, DeviceValue):
        overwrite(machine, target, key, value)
        stored_in(machine.journal, target, key, value)
    given = value if rest is None else perhaps_none.either(rest, value)
    machine.journal.write(target.fields, "rest", given)
    machine.journal.write(target.fields, "rest_key", _either_key(target, key))


def _either_key(target: DictObject, key: Any) -> Any:
    """What any key is that is not known, once there is another one: an object may be each of
    those that are keys already."""
    before = target.fields["rest_key"]
    if before is None or before is key or not isinstance(key, HeapObject):
        return key
    return any_one(tuple(dict.fromkeys((*leaves(before), *leaves(key)))), key)


def _put_in_module(machine: Machine, target: DictObject, key: Any, value: Any) -> None:
    """`globals()[key] = value`. A value that is not known is what the command line says: it is
    taken to say nothing."""
    if any(type(leaf) is Unknown for leaf in leaves(value)):
        return
    start = start_of(key)
    for name, old in list(target.entries.items()):
        if isinstance(name, str) and name.startswith(start):
            machine.journal.write(target.entries, name, met_by(name, old, value))


def _put_in_cases(machine: Machine, target: DictObject, key: Guarded, value: Any) -> bool:
    """Stores under each key that conditions decide between; whether all of these are known."""
    found: dict[Any, list[Literals]] = {}
    for literals, leaf in cases(key):
        found.setdefault(key_of(leaf), []).append(literals)
    if len(found) > MAX_CASES:
        return False
    for name, each in found.items():
        if name is not MISSING:
            under = combine(lambda leaf, name=name: key_of(leaf) == name, key)
            given = where(value, each[0]) if len(each) == 1 else value
            presence.put(machine.journal, target.entries, name, given, under)
    return MISSING not in found


def overwrite(machine: Machine, target: DictObject, key: Any, value: Any) -> None:
    """The key may be any that is there already: of a tuple, any that its known parts allow, of a
    device, any other device."""
    joined = perhaps_none.either_with(value)
    for name, old in list(target.entries.items()):
        if _may_be(key, name):
            presence.replace(machine.journal, target.entries, name, joined(old))


def _may_be(key: Any, name: Any) -> bool:
    known = key_of(key)
    if known is not MISSING:
        return bool(known == name)
    if type(key) is DeviceValue:
        return type(name) is DeviceValue
    if is_text(key):
        return not isinstance(name, str) or name.startswith(start_of(key))
    if type(key) is not TupleValue:
        return True
    if not isinstance(name, tuple) or len(name) != len(key.items):
        return False
    return all(map(_may_be, key.items, name))


def key_of(key: Any) -> Any:
    """The Python key behind a value, `MISSING` where it is not a constant."""
    if type(key) is Const:
        try:
            hash(key.value)
        except TypeError:
            return MISSING
        return key.value
    if type(key) is TupleValue:
        parts = tuple(key_of(item) for item in key.items)
        return MISSING if any(part is MISSING for part in parts) else parts
    if is_member(key) or class_attributes.is_plain_class(key):
        return key
    if type(key) is External and registry.names_code(key.name):
        return key
    return torch_key(key)
