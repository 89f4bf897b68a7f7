"""Objects that were given attributes under names that are not known: any that they are not seen to
have may be one of these."""

from __future__ import annotations

from typing import Any

from device_lens.domain.heap import DictObject, Instance, Table
from device_lens.domain.journal import Journal
from device_lens.domain.values import TRUE, Const, Unknown
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
    found.fields[OPEN] = TRUE
    return found


def stored_in(journal: Journal, table: DictObject, key: Value) -> None:
    """`table[key] = value` for a key that is not known: the attributes of an object may be such."""
    if OPEN in table.fields:
        open_to(journal, table.entries, key)
