"""Remembers calls: the same function with the same arguments gives the same answer.

Only calls that changed nothing but their own local names are kept. Arguments are compared by what
they say of devices; objects by identity and by what they hold at first sight.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import Function
from device_lens.domain.guard import (
    Atom,
    Guarded,
    Literals,
    came_up,
    combine,
    leaves,
    made_since,
    renamed,
)
from device_lens.domain.heap import (
    DictObject,
    Instance,
    ListObject,
    ModuleObject,
    Parameter,
)
from device_lens.domain.values import (
    NONE,
    Const,
    DeviceValue,
    DtypeValue,
    External,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.interpreter import scan

if TYPE_CHECKING:
    from device_lens.domain.code import Scope
    from device_lens.domain.path import Path
    from device_lens.interpreter.machine import Machine

MAX_CLOSURES = 3
"""Functions within functions whose names decide an answer too."""
MAX_PARTS = 64
"""Parts of a module that are compared; calls with larger ones are not remembered."""
ROUGH_DEPTH = 3
"""Containers within containers whose items are compared for an answer that is given to alikes."""
NOT_ALIKE = object()
"""In place of an answer: calls with arguments that look alike were answered differently."""


Answer = tuple[Literals, Any, list[Any], Any]
"""What it holds under, the value, what must live on, what was computed."""
MOST_ANSWERS = 4
"""Answers kept of calls that differ in their paths alone."""


class Memory:
    """Answers by function and arguments, each with the literals that the path to its call held and
    that decided something in it, with the objects whose identities are in the key, so that no other
    one gets them, and with what was computed."""

    def __init__(self) -> None:
        self.answers: dict[Any, list[Answer]] = {}
        self.rough: dict[Any, Any] = {}
        self.own: dict[int, tuple[Any, list[Atom]]] = {}
        """By the identity of an answer, the answer itself, and the conditions that it hangs on and
        that came up in the call."""

    def key(
        self, machine: Machine, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, list[Any]] | None:
        """What decides the answer, and the objects whose identities that holds; None where it is
        too much to compare."""
        state = machine.globals
        defaults = state["default_device"], state["default_type"], state["current_cuda"]
        marks: list[Any] = [
            function.node,
            id(function.scope),
            state["grad"],
            state["expecting"],
            *map(id, defaults),
        ]
        held: list[Any] = [function.scope, *defaults]
        if not machine.standalone:
            marks.append(machine.journal.outside)
            marks.append(machine.path.named)
            marks.append(machine.path.mixed)
        closed = closed_over(function)
        if closed is None:
            return None
        for value in (*args, *kwargs.values(), *closed):
            mark = fingerprint(value, held)
            if mark is None:
                return None
            marks.append(mark)
            held.append(value)
        marks.extend(kwargs)
        return tuple(marks), held

    def find(self, key: Any, path: Path) -> Answer | None:
        """A kept answer that holds on a path."""
        for answer in self.answers.get(key, ()):
            if all(literal in path.literals for literal in answer[0]):
                return answer
        return None

    def keep(self, key: Any, answer: Answer, start: int) -> None:
        """Keeps the answer of a call that began at a moment."""
        known = self.answers.setdefault(key, [])
        if len(known) < MOST_ANSWERS:
            known.append(answer)
            self._notice(answer[1], start)

    def recall(self, value: Any) -> Any:
        """An answer as it is given another time: what nobody could decide in the call is open
        anew."""
        _, own = self.own.get(id(value), (None, ()))
        return _again(value, {atom: Atom(atom.text, atom.kind) for atom in own}) if own else value

    def _notice(self, value: Any, start: int) -> None:
        own = _made_since(value, start)
        if own:
            self.own[id(value)] = value, own

    def keep_rough(self, key: Any, value: Any, start: int) -> None:
        """Keeps what an answer says of devices, for arguments that are only alike. Those that were
        answered in two ways are answered no more."""
        answer = without_sizes(value)
        if answer is None:
            return
        known = self.rough.get(key)
        if known is None:
            self.rough[key] = answer
            self._notice(answer, start)
        elif known is not NOT_ALIKE and not _says_the_same(known, answer):
            self.rough[key] = NOT_ALIKE


def closed_over(function: Function, depth: int = MAX_CLOSURES) -> list[Any] | None:
    """What an answer hangs on beside the arguments: the defaults, and the names of functions around
    this one, which may stand for something else at the next call. None where that is too much."""
    found = [*function.defaults, *function.kw_defaults]
    scope = function.scope
    if scope.names is scope.globals:
        return found
    for name in scan.names_within(function.node):
        around: Scope | None = scope
        while around is not None and around.names is not around.globals:
            if name in around.names:
                value = around.names[name]
                found.append(value)
                if type(value) is Function and value is not function:
                    inner = closed_over(value, depth - 1) if depth else None
                    if inner is None:
                        return None
                    found += inner
                break
            around = around.parent
    return found


def _made_since(value: Any, start: int) -> list[Atom]:
    if type(value) is Tensor:
        return made_since(value.device, start)
    if type(value) is TupleValue:
        found = {atom: None for item in value.items for atom in _made_since(item, start)}
        return sorted(found, key=came_up)
    return made_since(value, start)


def _again(value: Any, names: dict[Atom, Atom]) -> Any:
    if type(value) is Tensor:
        return value.with_(device=renamed(value.device, names))
    if type(value) is TupleValue:
        return TupleValue(tuple(_again(item, names) for item in value.items), value.names)
    return renamed(value, names)


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
    return bool(known == answer)


def rough_key(
    machine: Machine, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What decides where the answer is: the kinds of the arguments and their devices. Where a
    program says what they are, also what containers hold and how modules were set."""
    state = machine.globals
    depth = 0 if machine.standalone else ROUGH_DEPTH
    closed = closed_over(function)
    if closed is None:
        return None
    marks = [rough(machine, value, depth) for value in (*args, *kwargs.values(), *closed)]
    key = (function.node, state["default_device"], state["current_cuda"], *marks, *kwargs)
    try:
        hash(key)
    except TypeError:
        return None
    return key


def rough(machine: Machine, value: Any, depth: int) -> Any:
    kind = type(value)
    if kind is Tensor or kind is Unknown:
        return kind, value.device
    if kind is Parameter:
        return kind, value.tensor.device
    if kind is ModuleObject:
        where = machine.recorder.module_device(value)
        return (value.cls, where, *_settings(value)) if depth else (value.cls, where)
    if kind is Const:
        constant = type(value.value)
        return value if constant in (bool, str, type(None)) else constant
    if kind is TupleValue:
        return tuple(rough(machine, item, depth) for item in value.items)
    if kind not in (Guarded, DictObject, ListObject):
        return value
    return _rough_parts(machine, value, depth) if depth else kind


def _rough_parts(machine: Machine, value: Any, depth: int) -> Any:
    """What the leaves of a tree, or the items of a container, are like."""
    again = partial(rough, machine, depth=depth - 1)
    if type(value) is Guarded:
        return combine(again, value)
    items = value.items if type(value) is ListObject else value.entries.values()
    marks = dict.fromkeys(map(again, items))
    return type(value), value.kind, *marks, again(value.rest)


def _settings(value: ModuleObject) -> tuple[Any, ...]:
    """The attributes of a module that decide what its methods do, and where those that it does not
    register are."""
    found: list[Any] = []
    for name, each in value.fields.items():
        if type(each) is Tensor:
            found.append((name, each.device))
        elif type(each) is Const and type(each.value) in (bool, str):
            found.append((name, each))
    return tuple(found)


def without_sizes(value: Any) -> Any:
    """A tensor whose shape and dtype are left open, Python's None, or a tuple of these; None for
    all else."""
    if type(value) is Tensor:
        return value.with_(shape=None, dtype=None, zero_dim=None, requires_grad=None, leaf=None)
    if type(value) is TupleValue:
        items = tuple(map(without_sizes, value.items))
        return None if None in items else TupleValue(items, value.names)
    if type(value) is Guarded:
        tree = combine(without_sizes, value)
        return None if any(leaf is None for leaf in leaves(tree)) else tree
    return value if value == NONE else None


def fingerprint(value: Any, held: list[Any], depth: int = 2) -> Any:
    """What a value says, hashable; None where it is too much. What may leave an object whose
    identity counts is added to `held`."""
    kind = type(value)
    if kind is Tensor:
        return (
            "tensor",
            value.device,
            value.dtype,
            value.shape,
            value.requires_grad,
            value.leaf,
            value.zero_dim,
            id(value.trail),
        )
    if kind in (Const, DeviceValue, DtypeValue, External):
        try:
            hash(value)
        except TypeError:
            return None
        return value
    if kind is TupleValue:
        return _all(value.items, held, depth)
    if kind is Parameter:
        held.append(value.tensor)
        return ("parameter", id(value), id(value.tensor))
    if kind is ListObject:
        held += value.items, value.rest
        return ("list", id(value), id(value.items), id(value.rest))
    if kind is DictObject:
        held.append(value.rest)
        return ("dict", id(value), _identities(value.entries, held), id(value.rest))
    if kind is ModuleObject:
        return _module(value, held, depth)
    if kind is Instance:
        return ("instance", id(value), _identities(value.fields, held))
    return id(value)


def _all(values: tuple[Any, ...], held: list[Any], depth: int) -> Any:
    marks = tuple(fingerprint(value, held, depth - 1) for value in values)
    return None if None in marks else marks


def _identities(table: dict[Any, Any], held: list[Any]) -> tuple[int, ...]:
    held += table.values()
    return tuple(map(id, table.values()))


def _module(value: ModuleObject, held: list[Any], depth: int) -> Any:
    tables = (value.fields, value.parameters, value.buffers, value.modules, value.own)
    if sum(map(len, tables)) > MAX_PARTS:
        return None
    marks: list[Any] = ["module", id(value), *(_identities(table, held) for table in tables)]
    if depth:
        for inner in value.modules.values():
            mark = _module(inner, held, depth - 1) if type(inner) is ModuleObject else id(inner)
            if mark is None:
                return None
            marks.append(mark)
    return tuple(marks)
