"""Functions under `functools.lru_cache`: the same arguments give the very object that they gave
before, with all that was done to it since."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue, Function
from device_lens.domain.device import Device
from device_lens.domain.guard import undecided
from device_lens.domain.heap import Entries, Instance, ModuleObject, Table
from device_lens.domain.presence import presence, put
from device_lens.domain.values import Const, DeviceValue, External, Tensor, Unknown
from device_lens.interpreter.frames import Frame
from device_lens.models.call import constant

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

KEEPING = frozenset({"functools.lru_cache", "functools.cache"})
_FIXED = (Const, Tensor)
"""What stays as it is, whatever is done with it."""
_ITSELF = (Instance, ModuleObject, ClassValue, Function)


class Kept(Entries):
    """Answers by arguments; `most` are kept at a time, None for any number."""

    __slots__ = ("most",)

    def __init__(self, most: int | None) -> None:
        super().__init__()
        self.most = most


def kept_by(machine: Machine, decorator: ast.expr, name: str, frame: Frame) -> Kept:
    """What keeps the answers of a function under a decorator of that name."""
    if name == "functools.cache":
        return Kept(None)
    if not isinstance(decorator, ast.Call):
        return Kept(_USUAL)
    named = (each.value for each in decorator.keywords if each.arg == "maxsize")
    size = next(iter((*decorator.args, *named)), None)
    if size is None:
        return Kept(_USUAL)
    most = constant(machine.evaluate(size, frame), 0)
    return Kept(most if isinstance(most, int) else None)


_USUAL = 128


def answer(
    machine: Machine,
    entries: Table,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    frame: Frame,
    run: Callable[[], Any],
) -> Any:
    """What a call gives: what `entries` has for its arguments, else what it `run`s to. With
    arguments of which nothing is known it may be either."""
    key = (*map(_key, args), *((name, _key(value)) for name, value in kwargs.items()))
    if any(each is None or each[-1] is None for each in key):
        made_now = run()
        return made_now if not entries or type(made_now) in _FIXED else Unknown()

    def made() -> Any:
        value = run()
        put(machine.journal, entries, key, value)
        return value

    there = presence(entries, key)
    if isinstance(entries, Kept) and entries.most is not None and len(entries) > entries.most:
        there = there and undecided()  # it may have made room for another since
    return machine.choose(there, frame, lambda: entries[key], made)


def _key(value: Any) -> Any:
    """What an argument is told from others by, as a tuple; None where that is not known."""
    if type(value) is Const:
        return type(value.value), value.value, True
    if type(value) is DeviceValue and isinstance(value.device, Device):
        return DeviceValue, value.device
    if type(value) is External:
        return External, value.name
    return (value, True) if isinstance(value, _ITSELF) else None
