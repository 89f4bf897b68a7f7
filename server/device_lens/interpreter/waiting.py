"""Statements of a module that wait until somebody uses the name that they bind.

Where only findings are asked for, most tables of configurations and the like are never read. Such a
statement may wait where nothing can tell when it ran: it binds a name that nothing else binds, from
literals, functions and classes, and calls only what shows nothing of devices and reads nothing that
changes.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue, Function, Namespace, Waiting
from device_lens.domain.device import parse_device
from device_lens.domain.values import Const, DtypeValue, External, TupleValue, Unknown
from device_lens.interpreter import loading, scan
from device_lens.interpreter.budget import Exhausted
from device_lens.interpreter.evidence import Names, shows
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.relevance import text_of, words_in
from device_lens.syntax.chunk import Chunk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_DEFINING = (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)
_CHANGING = re.compile(
    r"^\s*(?:global|nonlocal)\s|\b(?:environ|getenv|putenv|argv|yield|await|setattr|__dict__|stdin)\b"
    r"|(?<!\.)\b(?:globals|locals|vars|eval|exec|input|open)\(|\brandom\.|\bsys\.modules\b",
    re.MULTILINE,
)
"""What reads what changes, or changes what others read."""
_PERHAPS_CHANGING = tuple(
    "global nonlocal env argv yield await setattr __dict__ stdin locals vars( eval( exec( "
    "input( open( random sys.modules".split()
)
"""Each such text has one of these, which are found in a twentieth of the time."""
_GLOBALS = re.compile(r"^\s*global\s+([\w, \t]+)", re.MULTILINE)
_LONG = 160
"""Letters from which on a display costs more to make than to leave."""


def may_wait(machine: Machine, namespace: Namespace) -> bool:
    """Whether statements of a file that runs now may wait: it is loaded as a module, for findings
    alone."""
    program = machine.program
    if not machine.options.only_findings or program.loading[-1:] != [namespace.path]:
        return False
    return machine.modules.get(namespace.path) is namespace and loading.is_ordinary(program)


def waits(machine: Machine, chunk: Chunk, frame: Frame) -> bool:
    """Whether a statement of a module waits from here on."""
    namespace = frame.namespace
    name = _bound_by(chunk, namespace)
    if name is None:
        return False
    texts, statement = machine.program.texts, chunk.body[0]
    if not texts.is_bound_once(namespace, name):
        return False
    if not texts.is_timeless(namespace, chunk.text, statement):
        return False
    settle = _Statement(machine, namespace, chunk, name)
    waiting = Waiting(namespace.path, namespace.name, name, settle)
    machine.journal.write(namespace.scope.names, name, waiting)
    return True


def _bound_by(chunk: Chunk, namespace: Namespace) -> str | None:
    """The name that a statement worth waiting binds, where it does nothing else."""
    if len(chunk.body) != 1:
        return None
    statement = chunk.body[0]
    if type(statement) is ast.Assign:
        target = statement.targets[0] if len(statement.targets) == 1 else None
    elif type(statement) is ast.AnnAssign:
        target = statement.target
    else:
        return None
    if type(target) is not ast.Name:
        return None
    value = statement.value
    if type(value) is ast.Call and type(value.func) is ast.Name:
        maker = namespace.scope.names.get(value.func.id)
        if type(maker) is Function or type(maker) is ClassValue:
            return target.id
    long = len(chunk.text) > _LONG and type(value) is not ast.Constant
    return target.id if long else None


class _Statement:
    """A statement that waits. `__call__` gives what its name stands for."""

    def __init__(self, machine: Machine, namespace: Namespace, chunk: Chunk, name: str) -> None:
        self._machine = machine
        self._namespace = namespace
        self._chunk: Chunk | None = chunk
        self._value: Any = Unknown(name)
        self._name = name

    def __call__(self) -> Any:
        chunk, namespace, machine = self._chunk, self._namespace, self._machine
        if chunk is None:
            return self._value
        if machine.modules.get(namespace.path) is not namespace:
            return self._value
        self._chunk = None
        names = namespace.scope.names
        frame = Frame(namespace, namespace.scope, chunk)
        try:
            with loading.resumed(machine.program, namespace.path):
                machine.stack.append(frame)
                try:
                    machine.execute_all(list(chunk.body), frame)
                except Exhausted:
                    machine.budget.note(f"`{self._name}` of `{namespace.name}`: too many steps")
                finally:
                    machine.stack.pop()
        except BaseException:
            self._chunk = chunk
            raise
        self._value = names.get(self._name, self._value)
        if type(self._value) is Waiting:
            self._value = Unknown(self._name)
        return self._value


def _may_configure(value: object) -> bool:
    """Whether a constant of a module may be what a program sets before it starts."""
    if type(value) is str:
        return parse_device(value) is not None
    return value is None or type(value) is bool


def shows_nothing(namespace: Namespace, text: str, node: ast.AST) -> bool:
    """Whether nothing of a text of a module can be told of."""
    return _shows_nothing(namespace, text, words_in(text), node)


def _shows_nothing(namespace: Namespace, text: str, words: frozenset[str], node: ast.AST) -> bool:
    libraries = {
        name: value.name
        for name, value in _used(namespace, words)
        if type(value) is External and value.name.partition(".")[0] == "torch"
    }
    return not shows(text, words, node, False, Names(libraries))


def _used(namespace: Namespace, words: frozenset[str]) -> list[tuple[str, Any]]:
    names = namespace.scope.names
    return [(word, names[word]) for word in words if word in names]


def _changes(text: str) -> bool:
    if not any(word in text for word in _PERHAPS_CHANGING):
        return False
    return _CHANGING.search(text) is not None


class Texts:
    """What texts of a program tell, remembered for one analysis."""

    def __init__(self) -> None:
        self._bound: dict[int, tuple[Namespace, Counter[str]]] = {}
        self._timeless: dict[Any, bool] = {}

    def is_bound_once(self, namespace: Namespace, name: str) -> bool:
        """Whether one statement of a module alone binds a name, and no function does."""
        known = self._bound.get(id(namespace))
        if known is None:
            known = self._bound[id(namespace)] = namespace, _bindings(namespace.file)
        return known[1][name] == 1 and not known[1]["*"]

    def is_timeless(self, namespace: Namespace, text: str, node: ast.AST) -> bool:
        """Whether a text of a module gives the same whenever it runs, and nothing else sees that it
        does; nothing in it can be told of."""
        if _changes(text):
            return False
        words = words_in(text)
        if not _shows_nothing(namespace, text, words, node):
            return False
        return all(self._stays(value, name, text) for name, value in _used(namespace, words))

    def is_given(self, namespace: Namespace, text: str, call: ast.Call) -> bool:
        """The same for the arguments of a call."""
        if _changes(text) or not shows_nothing(namespace, text, call):
            return False
        names = namespace.scope.names
        used = {
            each.id
            for part in (*call.args, *call.keywords)
            for each in ast.walk(part)
            if isinstance(each, ast.Name)
        }
        return all(self._stays(names[name], name, text) for name in used if name in names)

    def _stays(self, value: Any, name: str, text: str) -> bool:
        kind = type(value)
        if kind is External or kind is DtypeValue:
            return True
        if kind is Const:
            return not _may_configure(value.value)
        if kind is TupleValue:
            return all(self._stays(item, name, text) for item in value.items)
        if kind is ClassValue and value.is_module:
            return f"{name}(" not in text
        return (kind is Function or kind is ClassValue) and self._is_plain(value)

    def _is_plain(self, definition: Function | ClassValue) -> bool:
        known = self._timeless.get(definition.node)
        if known is None:
            self._timeless[definition.node] = True  # for those that call each other
            known = self._timeless[definition.node] = self._looks_plain(definition)
        return known

    def _looks_plain(self, definition: Function | ClassValue) -> bool:
        if isinstance(definition, ClassValue) and not definition.foreign:
            if definition.data_fields is None and "__init__" not in definition.fields:
                return False  # its attributes may be what a program is configured by
            if not all(each is definition or self._is_plain(each) for each in definition.mro):
                return False
        text = text_of(definition.chunk, definition.node)
        return self.is_timeless(definition.namespace, text, definition.node)


def _bindings(file: Any) -> Counter[str]:
    """How often the statements of a module bind each name; those that a function may bind count
    as bound often."""
    text: str = file.text
    found = Counter(name for chunk in file.chunks for name in _bound(chunk.body))
    if ":=" in text:
        found.update(2 * re.findall(r"(\w+)\s*:=", text))
    for names in _GLOBALS.findall(text) if "global" in text else ():
        found.update(2 * re.findall(r"\w+", names))
    return found


def _bound(body: Iterable[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, _DEFINING):
            yield statement.name
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                yield alias.asname or alias.name.partition(".")[0]
        elif isinstance(statement, ast.Assign):
            yield from (name for target in statement.targets for name in _names_in(target))
        elif isinstance(statement, ast.AnnAssign):
            yield from () if statement.value is None else _names_in(statement.target)
        elif not isinstance(statement, ast.Expr):
            yield from _names_in(statement)


def _names_in(node: ast.AST) -> Iterator[str]:
    """The names that a target or a statement binds."""
    if type(node) is ast.Name:
        yield node.id
        return
    for each in scan.own_nodes([node]):
        if isinstance(each, ast.Name):
            if type(each.ctx) is not ast.Load:
                yield each.id
        elif isinstance(each, _DEFINING):
            yield each.name
        elif isinstance(each, ast.alias):
            yield each.asname or each.name.partition(".")[0]
        elif isinstance(each, ast.ExceptHandler) and each.name:
            yield each.name
