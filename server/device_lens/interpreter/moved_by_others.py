"""Which parts of objects, and which objects of a file, others move: `user.model.to(device)`, a
method that a server calls first, a function that it runs as it starts. Where a method or function
runs that no one calls, nobody knows whether that has happened."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue, Function
from device_lens.domain.guard import leaves
from device_lens.domain.heap import Instance, ModuleObject
from device_lens.models.torch import module as torch_module
from device_lens.syntax.names import is_own_attribute
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.program import Program
    from device_lens.interpreter.unit import Unit

_MOVE = re.compile(r"\.(?:to|cuda|cpu|xpu)\(")
_PART = re.compile(r"(?<![\w.])(?!(?:self|cls)\b)\w+(?:\[[^\]]*\])?\.(\w+)\Z")
"""What ends with an attribute of what a name or an item stands for."""


class MovedByOthers:
    """The names of the attributes that a program moves from outside of their classes."""

    def __init__(self) -> None:
        self.names: frozenset[str] = frozenset()
        self._known: dict[str, tuple[Any, frozenset[str]]] = {}

    def look(self, program: Program, scripts: Iterable[tuple[str, Unit]]) -> None:
        """Finds them anew. What ran as if there were others, or none, is forgotten."""
        files = {path: load.namespace.file for path, load in program.loads.items()}
        files.update((path, unit.source) for path, unit in scripts)
        found = frozenset(name for path, file in files.items() for name in self._of(path, file))
        changed, self.names = found ^ self.names, found
        made = (each.instance for each in program.instances.values() if each is not None)
        if changed and any(not changed.isdisjoint(each.fields) for each in made):
            program.forget_uncalled()

    def _of(self, path: str, file: Any) -> frozenset[str]:
        known = self._known.get(path)
        if known is None or known[0] is not file:
            known = self._known[path] = file, frozenset(_moved(file))
        return known[1]

    def lose(self, machine: Machine, instance: Instance) -> None:
        """Where the parts of an object are that others move, or methods that no one has called, is
        not known."""
        names = self.names
        if type(instance.cls) is ClassValue:
            names = names.union(*(_moved_by_class(base.node) for base in instance.cls.mro))
        for name in names.intersection(instance.fields):
            _lose(machine, instance.fields[name])

    def lose_globals(self, machine: Machine, function: Function) -> None:
        """Where the modules of a file are is not known that another function of the file moves."""
        names = function.namespace.scope.names
        for name in _moved_by_functions(function.namespace.file):
            if name in names:
                _lose(machine, names[name])


def _lose(machine: Machine, value: Any) -> None:
    for leaf in leaves(value):
        if isinstance(leaf, ModuleObject):
            torch_module.lose(machine, leaf)


_OWN_MOVES, _GLOBAL_MOVES = "_moves_of_own", "_moves_of_globals"
"""The entries of a class and of a function under which what they move is kept."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _moved_by_class(node: ast.ClassDef) -> frozenset[str]:
    """The attributes of its own that a class moves in methods which `__init__` does not call."""
    known: frozenset[str] | None = node.__dict__.get(_OWN_MOVES)
    if known is None:
        methods = {each.name: each for each in node.body if isinstance(each, _FUNCTIONS)}
        made = methods.get("__init__")
        early = (
            {each.attr for each in walk(made) if isinstance(each, ast.Attribute)} if made else ()
        )
        found = (
            moved
            for name, method in methods.items()
            if name != "__init__" and name not in early
            for moved in map(_moved_in_place, walk(method))
        )
        names = (each.attr for each in found if is_own_attribute(each))
        known = node.__dict__[_OWN_MOVES] = frozenset(names)
    return known


def _moved_by_functions(file: Any) -> frozenset[str]:
    """The names of the top level that functions of a file move, and that are none of their own."""
    statements = (each for part in file.chunks if _MOVE.search(part.text) for each in part.body)
    return frozenset().union(
        *(_moved_by_function(each) for each in statements if isinstance(each, _FUNCTIONS))
    )


def _moved_by_function(node: Any) -> frozenset[str]:
    known: frozenset[str] | None = node.__dict__.get(_GLOBAL_MOVES)
    if known is None:
        moved = {each.id for each in map(_moved_in_place, walk(node)) if isinstance(each, ast.Name)}
        shared = {
            name for each in walk(node) if isinstance(each, ast.Global) for name in each.names
        }
        own = {each.arg for each in walk(node) if isinstance(each, ast.arg)} | {
            each.id
            for each in walk(node)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        known = node.__dict__[_GLOBAL_MOVES] = frozenset(moved - (own - shared))
    return known


def _moved_in_place(node: ast.AST) -> ast.AST | None:
    """What `model.to(device)` moves, as a statement of its own or with what is called on it."""
    match node:
        case ast.Call(func=ast.Attribute(value=moved, attr="to" | "cuda" | "cpu" | "xpu")):
            return moved
    return None


def _moved(file: Any) -> Iterator[str]:
    """The attributes of others that the text of a file moves. It is asked at each keystroke: few
    lines have a move, which is found in a twentieth of the time that looking for names takes."""
    for chunk in file.chunks:
        for move in _MOVE.finditer(chunk.text):
            end = move.start()
            part = _PART.search(chunk.text[chunk.text.rfind("\n", 0, end) + 1 : end])
            if part is not None:
                yield part[1]
