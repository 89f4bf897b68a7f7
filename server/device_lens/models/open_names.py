"""Objects that were given attributes under names that are not known: any that they are not seen to
have may be one of these."""

from __future__ import annotations

from typing import Any

from device_lens.domain import perhaps_none
from device_lens.domain.code import ClassValue
from device_lens.domain.device import UNKNOWN_DEVICE, is_unknown
from device_lens.domain.guard import Guarded, leaves
from device_lens.domain.heap import DictObject, Instance, Table
from device_lens.domain.journal import Journal
from device_lens.domain.values import NONE, Const, DeviceValue, Tensor, Unknown
from device_lens.models.call import Value, constant
from device_lens.models.numbers import start_of

OPEN = "*"
"""The attribute that stands for any number of them; what it is remembers under this how their names
begin."""


def open_to(journal: Journal, fields: Table, name: Value) -> None:
    """An object gets an attribute of such a name. What was asked of it before is open again."""
    starts = [start_of(name)]
    if OPEN in fields:
        starts.append(_start_of(fields[OPEN]))
    shortest = min(starts, key=len)
    shared = all(start.startswith(shortest) for start in starts)
    found = Unknown("an attribute")
    found.parts()[OPEN] = Const(shortest if shared else "")
    journal.write(fields, OPEN, found)


def open_name(fields: Table, name: Any) -> Unknown | None:
    """What stands for an attribute that an object may have been given; None where it was not."""
    found = fields.get(OPEN)
    fits = type(found) is Unknown and isinstance(name, str) and name.startswith(_start_of(found))
    return found if fits else None


def _start_of(found: Value) -> str:
    parts = found.fields if type(found) is Unknown and found.fields else {}
    return str(constant(parts.get(OPEN), ""))


def as_dict(instance: Instance, rest: Value, site: Any) -> DictObject:
    """`instance.__dict__`, with what may be in it besides the attributes that are known."""
    further = instance.fields.get(OPEN)
    found = DictObject(instance.fields, rest if further is None else further, site)
    found.fields[OPEN] = instance
    return found


def stored_in(journal: Journal, table: DictObject, key: Value, value: Value) -> None:
    """`table[key] = value` for a key that is not known: the attributes of an object may be such."""
    owner = table.fields.get(OPEN)
    if isinstance(owner, Instance) and owner.fields is table.entries:
        hide_some(journal, owner, key, value)
        open_to(journal, table.entries, key)


def hide_some(journal: Journal, instance: Instance, asked: Value, given: Value) -> None:
    """What the class of an object has may be hidden by what the object is given."""
    for name, value in of_class(instance, start_of(asked)):
        met = met_by(name, value, given)
        if met is not value:
            journal.write(instance.fields, name, met)


def of_class(instance: Instance, start: str) -> list[tuple[str, Value]]:
    """The values of an object's class whose names begin so, and which the object does not hide."""
    cls = instance.cls
    names = named_in(cls, start) if type(cls) is ClassValue else []
    return [pair for pair in names if pair[0] not in instance.fields]


def named_in(cls: ClassValue, start: str) -> list[tuple[str, Value]]:
    """What a class and its bases have under names that begin so."""
    found: dict[str, Value] = {}
    for each in reversed(cls.mro):
        found.update(each.fields)
    return [
        (name, value)
        for name, value in found.items()
        if name[:2] != "__" and name[:1] != "<" and name.startswith(start)
    ]


def met_by(name: str, value: Value, given: Value) -> Value:
    """A value in the place of which something may have been put. What is not known may be any
    setting, or stand for any tensor; what is set is of the kind that it was."""
    if type(given) is Unknown:
        if type(value) is Tensor:
            return value.with_(device=UNKNOWN_DEVICE)
        if _is_placed(given) and all(type(leaf) in _SETTINGS for leaf in leaves(value)):
            return value
        return Unknown(name) if type(value) in (Const, DeviceValue, Guarded) else value
    is_one_kind = (
        NONE in (value, given)
        or type(value) is type(given) is DeviceValue
        or _are_texts(value, given)
        or all(leaf == NONE or type(leaf) is Tensor for leaf in (*leaves(value), *leaves(given)))
    )
    return perhaps_none.either(value, given) if is_one_kind else value


_SETTINGS = (Const, DeviceValue)


def _is_placed(value: Unknown) -> bool:
    """Whether a value is a tensor or module, though nothing else is known of it."""
    return value.tensor_evidence or not is_unknown(value.device)


def _are_texts(*values: Value) -> bool:
    return all(type(each) is Const and isinstance(each.value, str) for each in values)
