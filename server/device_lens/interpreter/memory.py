"""Remembers calls: the same function with the same arguments gives the same answer.

Only calls that changed nothing but their own local names are kept. Arguments are compared by what
they say of devices; objects by identity and by what they hold at first sight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain import optional_items
from device_lens.domain.atom import Atom
from device_lens.domain.code import Function
from device_lens.domain.guard import Literals, came_up, made_since, renamed
from device_lens.domain.heap import (
    DictObject,
    Instance,
    ListObject,
    ModuleObject,
    Parameter,
    contents,
)
from device_lens.domain.values import (
    Const,
    DeviceValue,
    DtypeValue,
    External,
    Tensor,
    TupleValue,
)
from device_lens.interpreter import ambient, places, scan
from device_lens.models.python.own_contexts import IN_THREAD
from device_lens.models.python.picked import keep_held
from device_lens.models.torch.collectives import GROUP

if TYPE_CHECKING:
    from device_lens.domain.code import Scope
    from device_lens.domain.path import Path
    from device_lens.interpreter.machine import Machine

MAX_CLOSURES = 3
"""Functions within functions whose names decide an answer too."""
MAX_PARTS = 64
"""Parts of a module that are compared; calls with larger ones are not remembered."""
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
        self.own: dict[int, tuple[Any, list[Atom]]] = {}
        """By the identity of an answer, the answer itself, and the conditions that it hangs on and
        that came up in the call."""

    def key(
        self, machine: Machine, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, list[Any]] | None:
        """What decides the answer, and the objects whose identities that holds; None where it is
        too much to compare."""
        state = machine.globals
        defaults = (*ambient.devices(state), state["module_hooks"], state[GROUP])
        marks: list[Any] = [
            function.node,
            id(function.scope),
            state["grad"],
            state["expecting"],
            state.get(IN_THREAD),
            places.in_hot_loop(machine),
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
        _, own = self.own.get(id(value), (None, []))
        return again(value, own) if own else value

    def _notice(self, value: Any, start: int) -> None:
        own = own_atoms(value, start)
        if own:
            self.own[id(value)] = value, own


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


def own_atoms(value: Any, start: int) -> list[Atom]:
    """The conditions that an answer hangs on and that came up in the call, which began at `start`
    (an `atoms_before`)."""
    if type(value) is Tensor:
        return made_since(value.device, start)
    if type(value) in (TupleValue, ListObject):
        told = optional_items.optional(value)
        parts = contents(value) if told is None else (*contents(value), *told[0], *told[1])
        found = {atom: None for item in parts for atom in own_atoms(item, start)}
        return sorted(found, key=came_up)
    return made_since(value, start)


def again(value: Any, own: list[Atom]) -> Any:
    """An answer with other conditions in place of some. A list is another one each time."""
    return _with_names(value, {atom: Atom(atom.text, atom.kind) for atom in own})


def _with_names(value: Any, names: dict[Atom, Atom]) -> Any:
    if type(value) is Tensor:
        return value.with_(device=renamed(value.device, names)) if names else value
    if type(value) is TupleValue:
        items = tuple(_with_names(item, names) for item in value.items)
        return TupleValue(items, value.names)
    if type(value) is ListObject:
        items = tuple(_with_names(item, names) for item in value.items)
        another = ListObject(items, _with_names(value.rest, names), value.kind, value.site)
        optional_items.carry(value, another, lambda part: _with_names(part, names))
        return keep_held(value, another)
    return renamed(value, names) if names else value


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
            value.grad_apart,
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
