"""What is under a key of a dict that makes what it lacks: a `defaultdict`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.code import Function
from device_lens.domain.guard import undecided
from device_lens.domain.heap import MISSING, DictObject, HeapObject
from device_lens.domain.join import join
from device_lens.domain.presence import presence
from device_lens.domain.values import External, Unknown
from device_lens.interpreter.keys import key_of, put
from device_lens.models.torch import optimizer_state

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_STATE_OF = External(optimizer_state.STATE_OF)
"""What makes an item of the key that it is for."""


def made_on_demand(machine: Machine, receiver: DictObject, index: Any) -> Any:
    """The new item of a `defaultdict`."""
    factory = receiver.fields.get("default")
    if factory is None:
        return Unknown()
    made = machine.invoke(factory, (index,) if factory == _STATE_OF else (), {})
    if isinstance(made, HeapObject) and key_of(index) is MISSING:
        made.many = None, None  # the item of any such key
    put(machine, receiver, index, made)
    return made


def or_made(receiver: DictObject, key: Any, found: Any) -> Any:
    """What is under a key of a dict in which a function of the program puts what it lacks."""
    present = presence(receiver.entries, key)
    return found if present is True else join(present, found, Unknown())


def or_new(machine: Machine, receiver: DictObject, found: Any) -> Any:
    """What may be under a key that is not among the known ones of such a dict. An object that was
    made for one stands for those of others."""
    factory = receiver.fields.get("default")
    if type(factory) is not Function or isinstance(found, HeapObject):
        return found
    return join(undecided(), found, machine.invoke(factory, (), {}))
