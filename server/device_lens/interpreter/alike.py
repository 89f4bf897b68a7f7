"""Answers for calls whose arguments are only alike, of functions that were followed enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from device_lens.domain.atom import Atom
from device_lens.domain.code import Function
from device_lens.domain.device import UNKNOWN_DEVICE
from device_lens.domain.guard import Guarded, Literals, combine, leaves
from device_lens.domain.heap import (
    DictObject,
    Instance,
    ListObject,
    ModuleObject,
    Parameter,
    Table,
    contents,
)
from device_lens.domain.plain import type_of_number
from device_lens.domain.values import (
    NONE,
    Const,
    DeviceValue,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.interpreter.arguments import unseen
from device_lens.interpreter.memory import MOST_ANSWERS, again, closed_over, own_atoms
from device_lens.models.numbers import is_number, number
from device_lens.models.python.own_contexts import IN_THREAD

if TYPE_CHECKING:
    from device_lens.domain.path import Path
    from device_lens.interpreter.machine import Machine

DEPTH = 3
"""Objects within objects whose parts are compared."""
SETTLED = 2
"""Calls alike after the first one that give the same before others are answered by them."""
MOST_KINDS = 4
"""Calls that are followed though their function was followed often enough, since none alike was."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call gave, the conditions that came up in it, and the condition that it was made
    under."""

    value: Any
    own: list[Atom]
    condition: Any

    def again(self) -> Any:
        """The value for another call: what nobody could decide in this one is open anew, and its
        lists are new."""
        return again(self.value, self.own)


class Alikes:
    """Answers by what calls are like, each with the literals that the path to its call held and
    that decided something in it. Calls that were answered in two ways have none."""

    def __init__(self) -> None:
        self._kept: dict[Any, dict[Literals, Answer | None]] = {}
        self._kinds: dict[Any, set[Any]] = {}
        self._places: dict[Any, Any] = {}
        self._agreed: Counter[Any] = Counter()
        self.followed: dict[Any, Any] = {}
        """By what calls are like, the condition under which the first of them was followed: others
        show in their functions what that one does."""
        self.asked: dict[Any, set[int]] = {}
        """By what the activations of a function are counted by, the steps that it had taken when it
        hung on their number whether a call was followed."""

    def is_new(self, counted: Any, key: Any) -> bool:
        """Whether a call is to be followed though its function, counted so, was often enough."""
        if key is None or key in self._kept:
            return False
        known = self._kinds.setdefault(counted, set())
        if key in known or len(known) >= MOST_KINDS:
            return False
        known.add(key)
        return True

    def agree(self, key: Any, numbers: Any, path: Path) -> bool:
        """Whether calls alike, with the very same `numbers_of`, gave the same a few times, which
        had no sizes that another answer would lack."""
        if key is None or self._agreed[key, numbers] < SETTLED:
            return False
        return self.find(key, path) is not None

    def keep_place(self, key: Any, device: Any) -> None:
        """Keeps where a call of an `__init__` has put the parts of a module (None: there are none).
        A module with parts tells more than one without."""
        if type(device) is Guarded:
            device = UNKNOWN_DEVICE
        known = self._places.get(key)
        if known is not None and device is not None and device != known:
            device = UNKNOWN_DEVICE
        self._places[key] = known if device is None else device

    def place(self, key: Any) -> Any:
        """Where an `__init__` puts the parts of a module, as those alike have done."""
        return self._places.get(key, UNKNOWN_DEVICE)

    def find(self, key: Any, path: Path) -> tuple[Literals, Answer] | None:
        """An answer that holds on a path, and what it holds under."""
        for given, answer in self._kept.get(key, {}).items():
            if answer is not None and all(literal in path.literals for literal in given):
                return given, answer
        return None

    def keep(
        self,
        key: Any,
        numbers: tuple[Any, ...],
        given: Literals,
        value: Any,
        condition: Any,
        start: int,
        is_own: Callable[[Table], bool],
    ) -> None:
        """Keeps what a call that began at `start` (an `atoms_before`) gave. `is_own` tells tables
        that it made."""
        answer = _without_sizes(value, is_own, key)
        if answer is None:
            return
        kept = self._kept.setdefault(key, {})
        if given not in kept:
            if len(kept) < MOST_ANSWERS:
                kept[given] = Answer(answer, own_atoms(answer, start), condition)
            return
        known = kept[given]
        if known is not None and not _says_the_same(known.value, answer):
            kept[given] = None
        elif known is not None and not _has_sizes(value):
            self._agreed[key, numbers] += 1


def numbers_of(args: Iterable[Any]) -> tuple[Any, ...]:
    """The numbers among the arguments of a call, and those that its objects have for attributes."""
    found: list[Any] = []
    for each in args:
        if type(each) in (ModuleObject, Instance):
            found += filter(_is_number, each.fields.values())
        elif _is_number(each):
            found.append(each)
    return tuple(found)


def _is_number(value: Any) -> bool:
    return type(value) is Const and type(value.value) in (int, float)


def _has_sizes(value: Any) -> bool:
    """Whether an answer has a number, or anything is known of how large its tensors are."""
    if _is_number(value):
        return True
    if type(value) is Guarded:
        return any(map(_has_sizes, leaves(value)))
    if type(value) in (TupleValue, ListObject):
        return any(map(_has_sizes, contents(value)))
    return type(value) is Tensor and any(type(dim) is int for dim in value.shape or ())


def _says_the_same(known: Any, answer: Any) -> bool:
    """Whether two answers without sizes put the same things on the same devices."""
    if type(known) is not type(answer):
        return False
    if type(known) is Guarded:
        sides = ((known.yes, answer.yes), (known.no, answer.no))
        return known.atom is answer.atom and all(_says_the_same(*side) for side in sides)
    if type(known) is Tensor:
        return bool(known.device == answer.device)
    if type(known) is TupleValue:
        return len(known.items) == len(answer.items) and all(
            map(_says_the_same, known.items, answer.items)
        )
    if type(known) is ListObject:
        one, other = (*known.items, known.rest), (*answer.items, answer.rest)
        return len(one) == len(other) and all(map(_says_the_same, one, other))
    if type(known) is Unknown:
        return True  # a number each
    return bool(known == answer)


def likeness(
    machine: Machine, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What decides where the answer is: the kinds of the arguments and their devices. Where a
    program says what they are, also what containers hold and how objects were set. None where that
    is too much to compare."""
    state = machine.globals
    depth = 0 if machine.standalone else DEPTH
    closed = closed_over(function)
    if closed is None:
        return None
    given = (*args, *kwargs.values(), *unseen(kwargs), *closed)
    marks = [mark_of(machine, value, depth) for value in given]
    ambient = state["default_device"], state["current_cuda"], state["module_hooks"]
    key = (function.node, *ambient, state.get(IN_THREAD), *marks, *kwargs)
    try:
        hash(key)
    except TypeError:
        return None
    return key


def mark_of(machine: Machine, value: Any, depth: int) -> Any:
    """What a value is like: its kind, where it is, and what is in it to a depth."""
    kind = type(value)
    if kind is Tensor or kind is Unknown:
        return kind, value.device, type_of_number(value)
    if kind is Parameter:
        return kind, value.tensor.device
    if kind is ModuleObject:
        where = machine.recorder.module_device(value)
        return (value.cls, where, *_module_settings(value)) if depth else (value.cls, where)
    if kind is Const:
        constant = type(value.value)
        return value if constant in (bool, str, type(None)) else constant
    if kind is TupleValue:
        return tuple(mark_of(machine, item, depth) for item in value.items)
    if kind is Instance and depth:
        return (value.cls, *_settings(machine, value, depth))
    if kind not in (Guarded, DictObject, ListObject):
        return value
    return _marks_of_parts(machine, value, depth) if depth else kind


def _marks_of_parts(machine: Machine, value: Any, depth: int) -> Any:
    """What the leaves of a tree, or the items of a container, are like."""
    mark = partial(mark_of, machine, depth=depth - 1)
    if type(value) is Guarded:
        return combine(mark, value)
    items = value.items if type(value) is ListObject else value.entries.values()
    marks = dict.fromkeys(map(mark, items))
    return type(value), value.kind, *marks, mark(value.rest)


def _module_settings(value: ModuleObject) -> tuple[Any, ...]:
    """The attributes of a module that decide what its methods do, and where those that it does not
    register are."""
    found: list[Any] = []
    for name, each in value.fields.items():
        if type(each) is Tensor:
            found.append((name, each.device))
        elif type(each) is Const and type(each.value) in (bool, str):
            found.append((name, each))
    return tuple(found)


_TELLING = (Tensor, Parameter, ModuleObject, Instance, DeviceValue, Guarded, TupleValue)


def _settings(machine: Machine, value: Instance, depth: int) -> list[Any]:
    """The same of any other object, with what its parts are like."""
    found: list[Any] = []
    for name, each in value.fields.items():
        kind = type(each)
        if kind in _TELLING or (kind is Const and type(each.value) in (bool, str)):
            found.append((name, mark_of(machine, each, depth - 1)))
    return found


def _without_sizes(value: Any, is_own: Callable[[Table], bool], key: Any) -> Any:
    """A tensor whose shape and dtype are left open, a number that may be any, a word that the `key`
    of the call has, or a tuple or new list of these; None for all else."""
    part = partial(_without_sizes, is_own=is_own, key=key)
    if type(value) is Tensor:
        return value.with_(shape=None, dtype=None, zero_dim=None, requires_grad=None, leaf=None)
    if type(value) is TupleValue:
        items = tuple(map(part, value.items))
        return None if None in items else TupleValue(items, value.names)
    if type(value) is ListObject and is_own(value.fields):
        items = tuple(map(part, value.items))
        rest = None if value.rest is None else part(value.rest)
        lacks_rest = rest is None and value.rest is not None
        if lacks_rest or None in items:
            return None
        return ListObject(items, rest, value.kind, value.site)
    if type(value) is Guarded:
        tree = combine(part, value)
        return None if any(leaf is None for leaf in leaves(tree)) else tree
    if _is_number(value) or (type(value) is Unknown and is_number(value)):
        return number("a number")
    is_word = type(value) is Const and type(value.value) is str and _has(key, value)
    return value if is_word or value == NONE else None


def _has(key: Any, word: Const) -> bool:
    """Whether a word is among what calls are compared by: one that is computed may be another one
    at the next call."""
    if type(key) is tuple:
        return any(_has(part, word) for part in key)
    return type(key) is Const and key == word
