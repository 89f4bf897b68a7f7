"""Calls that put something into tables of a module, and give nothing else: `@register_model`.

Where only findings are asked for, most of what a library registers is never looked up. What a
function that registers does is learned from a call whose effects are taken back. From then on its
calls at the top levels of modules wait until somebody reads one of its tables: their names stand
for what waits (`Waiting`). After that they run where they stand.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue, Function, Namespace, Waiting
from device_lens.domain.heap import (
    MISSING,
    DictObject,
    Instance,
    ListObject,
    Table,
    contents,
    moment,
)
from device_lens.interpreter import decorators, imports, loading, waiting
from device_lens.interpreter.alike import Alikes
from device_lens.interpreter.budget import Exhausted
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.relevance import text_of, words_in
from device_lens.syntax.chunk import Chunk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

Action = Callable[[Frame], Any]
_HOLDING = (ListObject, DictObject, Instance)
_DEPTH = 2
"""How far into what a name of a module holds its tables are looked for."""


class Registry:
    """What waits to be put into the tables of one module."""

    def __init__(self, home: Namespace) -> None:
        self.home = home
        self.calls: list[tuple[Namespace, Chunk, Action]] | None = []
        """None once somebody has read one of the tables: from then on others may hold them."""
        self.guards: dict[tuple[int, str], tuple[Namespace, Waiting, Any]] = {}
        """What stands for the names of tables, and what these are."""
        self.is_learning = False

    def guard(self, machine: Machine, owner: Namespace, names: frozenset[str]) -> None:
        """Lets some names of a module stand for what waits."""
        table = owner.scope.names
        for name in names:
            if (id(owner), name) not in self.guards and name in table:
                value = imports.settled(machine, table[name], table, name)
                settle = partial(self._settled, machine, table, name, value)
                guard = Waiting(owner.path, owner.name, name, settle)
                self.guards[id(owner), name] = owner, guard, value
                table[name] = guard

    def guard_again(self) -> None:
        """After something was learned, for which the tables were looked at as they are."""
        for (_, name), (owner, guard, value) in self.guards.items():
            if owner.scope.names.get(name) is value:
                owner.scope.names[name] = guard

    def _settled(self, machine: Machine, names: Table, name: str, value: Any) -> Any:
        """What a name stands for once the calls are made, which may have bound it anew."""
        if self.is_learning:
            return value
        self.carry_out(machine)
        found = names.get(name, value)
        return value if type(found) is Waiting else found

    def carry_out(self, machine: Machine) -> None:
        """Makes all calls that wait."""
        if self.calls is None:
            return
        calls, self.calls = self.calls, None
        for (_, name), (owner, guard, before) in self.guards.items():
            if owner.scope.names.get(name) is guard:
                owner.scope.names[name] = before
        spent, alikes = Counter[Any](), Alikes()
        for _, group in groupby(calls, lambda call: call[0].path):
            _carry_out(machine, list(group), spent, alikes)


@dataclass(frozen=True)
class _Known:
    """What a function that registers reads and writes. `mine` are names of its own module, `theirs`
    of those that call it; with `adds` it also binds names there that its arguments tell."""

    mine: frozenset[str]
    theirs: frozenset[str]
    adds: bool = False


class Registries:
    """Those of one program."""

    def __init__(self) -> None:
        self._registries: dict[Namespace, Registry] = {}
        self._known: dict[tuple[Any, bool], _Known | None] = {}
        """By function, and whether it decorates: then it gives what it is given."""
        self._late: dict[Namespace, list[tuple[Namespace, frozenset[str], Registry]]] = {}
        """By module: those where a name that is missing in it may be bound by what waits, with the
        names."""

    def of(self, home: Namespace) -> Registry:
        found = self._registries.get(home)
        if found is None:
            found = self._registries[home] = Registry(home)
        return found

    def takes(
        self, machine: Machine, function: Function, action: Action, frame: Frame, given: Any
    ) -> bool:
        """Whether a call waits. `action` makes it, and gives `given` where it only registers."""
        registry, use = self.of(function.namespace), (function.node, given is not None)
        if use not in self._known:
            self._known[use] = _learned(machine, registry, function, action, frame, given)
        known = self._known[use]
        if known is None or registry.calls is None:
            return False
        registry.guard(machine, registry.home, known.mine)
        registry.guard(machine, frame.namespace, known.theirs)
        registry.calls.append((frame.namespace, frame.chunk, action))
        if known.adds:
            late = frame.namespace, words_in(frame.chunk.text), registry
            self._late.setdefault(frame.namespace, []).append(late)
        return True

    def missing(self, machine: Machine, namespace: Namespace, name: str) -> Any:
        """What a name that a module does not have stands for once what waits is done; `MISSING`
        where it has it not then either."""
        for source, names, registry in self._late.get(namespace, ()):
            if name in names:
                registry.carry_out(machine)
                found = source.scope.names.get(name, MISSING)
                if found is not MISSING:
                    return found
        return MISSING

    def spread(self, source: Namespace, into: Namespace) -> None:
        """A module takes all names of another one, those that are missing too."""
        late = self._late.get(source)
        if late is not None:
            self._late.setdefault(into, []).extend(late)


def decorates(machine: Machine, function: Function, frame: Frame) -> bool:
    """Whether the only decorator of a function waits to register it."""
    if len(function.node.decorator_list) != 1:
        return False
    expression = function.node.decorator_list[0]
    decorator = _called(expression, frame)
    if decorator is None:
        return False

    def action(frame: Frame) -> Any:
        return decorators.apply(machine, expression, function, function.node, frame)

    return machine.program.registries.takes(machine, decorator, action, frame, function)


def waits(machine: Machine, chunk: Chunk, frame: Frame) -> bool:
    """Whether a statement at the top level of a module, which is a call, waits."""
    statement = chunk.body[0] if len(chunk.body) == 1 else None
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    call = statement.value
    function = _called(call.func, frame)
    if function is None or not machine.program.texts.is_given(frame.namespace, chunk.text, call):
        return False

    def action(frame: Frame) -> Any:
        machine.execute_all([statement], frame)

    return machine.program.registries.takes(machine, function, action, frame, None)


def _called(expression: ast.expr, frame: Frame) -> Function | None:
    """The function of a module that a name stands for."""
    if type(expression) is not ast.Name:
        return None
    found = frame.namespace.scope.names.get(expression.id)
    if type(found) is not Function or found.scope is not found.namespace.scope:
        return None
    return None if found.kept is not None or found.manages else found


def _learned(
    machine: Machine,
    registry: Registry,
    function: Function,
    action: Action,
    frame: Frame,
    given: Any,
) -> _Known | None:
    """What a function does, as a call shows that is taken back; None where it does not only
    register."""
    home, journal = registry.home, machine.journal
    text = text_of(function.chunk, function.node)
    if registry.calls is None or not waiting.shows_nothing(home, text, function.node):
        return None
    mine = set(_names_read(function, {function.node}))
    theirs, adds = set[str](), False
    around = frame.namespace.scope.names
    mark, since, outside = journal.mark(), moment(), journal.outside
    registry.is_learning = True
    try:
        only_registers = action(frame) is given
        passes = journal.passing(since)
        changes = [(table, key) for table, key, _ in journal.entries[mark:] if not passes(table)]
        held = _holders(home, mine)
        other = _holders(frame.namespace, set(around))
        modules = {id(each.scope.names) for each in machine.modules.values()}
    finally:
        registry.is_learning = False
        journal.undo(mark)
        journal.outside = outside
        registry.guard_again()
    for table, key in changes:
        if id(table) in held:
            mine.add(held[id(table)])
        elif id(table) in other:
            theirs.add(other[id(table)])
        elif table is home.scope.names and key in home.scope.names:
            mine.add(key)
        elif table is around and key not in around and key in words_in(frame.chunk.text):
            adds = True
        elif id(table) in modules or type(table) is not dict:
            return None  # what is remembered of something unknown is in plain tables
    if any(
        _is_shared(machine, home, names)
        for home, names in ((home, mine), (frame.namespace, theirs))
    ):
        return None
    return _Known(frozenset(mine), frozenset(theirs), adds) if only_registers else None


def _is_shared(machine: Machine, home: Namespace, names: set[str]) -> bool:
    """Whether another module or a class has taken what some names of a module stand for, and would
    not see what waits."""
    tables = {id(home.scope.names[name]) for name in names if name in home.scope.names}
    for module in machine.modules.values():
        for name, value in module.scope.names.items():
            if id(value) in tables and not (module is home and name in names):
                return True
            if type(value) is ClassValue and any(
                id(part) in tables for part in value.fields.values()
            ):
                return True
    return False


def _names_read(function: Function, seen: set[Any]) -> Iterator[str]:
    """The names of a module that hold tables, and that a function of it may read or write."""
    names = function.namespace.scope.names
    for word in words_in(text_of(function.chunk, function.node)):
        value = names.get(word)
        if isinstance(value, _HOLDING) or type(value) is Waiting:
            yield word
        elif type(value) is Function and value.node not in seen and value.scope is function.scope:
            seen.add(value.node)
            yield from _names_read(value, seen)


def _holders(namespace: Namespace, names: set[str]) -> dict[int, str]:
    """Under which name of a module a table is found."""
    found: dict[int, str] = {}
    for name in names:
        for table in _tables_of(namespace.scope.names.get(name), _DEPTH):
            found.setdefault(id(table), name)
    return found


def _tables_of(value: Any, depth: int) -> Iterator[Table]:
    if not isinstance(value, _HOLDING):
        return
    yield value.fields
    inner = contents(value)
    if isinstance(value, DictObject):
        yield value.entries
        presence = getattr(value.entries, "presence", None)
        if presence is not None:
            yield presence
    elif isinstance(value, Instance):
        inner = list(value.fields.values())
    for each in inner if depth else ():
        yield from _tables_of(each, depth - 1)


def _carry_out(
    machine: Machine,
    calls: list[tuple[Namespace, Chunk, Action]],
    spent: Counter[Any],
    alikes: Alikes,
) -> None:
    """Makes the calls of one module that have waited. All that wait together count as those of one
    unit: what it has `spent` on a function, and which calls were `alike`."""
    namespace = calls[0][0]
    if machine.modules.get(namespace.path) is not namespace:
        return
    frame = Frame(namespace, namespace.scope, calls[0][1])
    with loading.resumed(machine.program, namespace.path):
        machine.spent, machine.alikes = spent, alikes
        machine.stack.append(frame)
        try:
            for _, frame.chunk, action in calls:
                frame.statement = frame.chunk.body[0]
                action(frame)
        except Exhausted:
            machine.budget.note(f"not all of `{namespace.name}` was registered: too many steps")
        finally:
            machine.stack.pop()
