"""What a loop's turn gets where one value stands for every item: what was asked of it in an earlier
turn may be answered otherwise now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from device_lens.domain.atom import Atom
from device_lens.domain.device import SymbolicDevice, shared
from device_lens.domain.guard import Guarded, atoms, leaves
from device_lens.domain.heap import Parameter
from device_lens.domain.values import Tensor, TupleValue, Unknown
from device_lens.models.torch.copying import fresh

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

DEEPEST = 4
"""Parts of parts of an unknown that are looked at for tests of them."""


def drawn(machine: Machine, value: Any, since: int) -> Any:
    """The item of this turn. It is another unknown than that of the turns before if what these
    asked decides where anything is that was written since a mark."""
    value = fresh(value)
    asked = set(_asked(value, DEEPEST))
    return _another(value, DEEPEST) if asked and _place(machine, since, asked) else value


def _asked(value: Any, deepest: int) -> Iterator[Atom]:
    """The conditions that stand for what was asked of an unknown and its parts."""
    if type(value) is Unknown:
        for known in (value.truths or {}).values():
            yield from (known,) if isinstance(known, Atom) else atoms(known)
        for part in (value.fields or {}).values() if deepest else ():
            yield from _asked(part, deepest - 1)
    elif type(value) is TupleValue:
        for item in value.items:
            yield from _asked(item, deepest)
    elif type(value) is SymbolicDevice:
        yield from value.asked.values()


def _place(machine: Machine, since: int, asked: set[Atom]) -> bool:
    """Whether conditions decide where anything is that was written since a mark."""
    return any(
        _is_placed_by(table.get(key), asked) for table, key, _ in machine.journal.entries[since:]
    )


def _is_placed_by(value: Any, asked: set[Atom]) -> bool:
    kind = type(value)
    if kind is Tensor:
        device = value.device
        return type(device) is Guarded and not asked.isdisjoint(atoms(device))
    if kind is not Guarded or asked.isdisjoint(atoms(value)):
        return False
    found = [
        each.tensor.device if type(each) is Parameter else each.device
        for each in leaves(value)
        if type(each) in (Tensor, Parameter)
    ]
    return any(shared(found[0], other) != found[0] for other in found[1:])


def _another(value: Any, deepest: int) -> Any:
    """An unknown in the same place that may answer otherwise."""
    if type(value) is TupleValue:
        return TupleValue(tuple(_another(item, deepest) for item in value.items), value.names)
    if type(value) is SymbolicDevice and value.asked:
        return SymbolicDevice(value.label, value.of_module_input)
    if type(value) is not Unknown or not deepest:
        return value
    made = Unknown(value.label, value.device)
    made.tensor_evidence = value.tensor_evidence
    if value.fields is not None:
        parts = {key: _another(part, deepest - 1) for key, part in value.fields.items()}
        made.fields = parts
    return made
