"""Whether an expression has the same value above some statements as below them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from device_lens.fixes.names import stored_names
from device_lens.fixes.place import FUNCTIONS, Place
from device_lens.syntax.import_statements import bound_names
from device_lens.syntax.names import names_in, root_name
from device_lens.syntax.source import SourceFile
from device_lens.syntax.walking import walk

_CALLING = frozenset("setattr delattr exec eval next super map filter".split())
_HARMLESS = frozenset(name for name in vars(builtins) if name.islower()) - _CALLING
_MAKING = ("__init__", "__new__")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_RUNNING = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom)


@dataclass(frozen=True)
class Program:
    """What tells what a call may change: the files that were analysed, and which expressions are
    tensors."""

    sources: Sequence[SourceFile]
    is_tensor: Callable[[ast.AST], bool]


@dataclass(frozen=True)
class Between:
    """Statements above which something is to be evaluated that is evaluated below them."""

    below: Place
    statements: Sequence[ast.stmt]
    program: Program

    def keeps(self, expressions: Sequence[ast.expr]) -> bool:
        """Whether each of the expressions has the same value above: no statement binds its names
        anew, or may set an attribute or an item that it reads."""
        names = {name for each in expressions for name in names_in(each)}
        if any(not names.isdisjoint(stored_names(each)) for each in self.statements):
            return False
        if self._calls and not names.isdisjoint(_shared_names(self.below.source)):
            return False
        return not any(self._reads_of_objects(each) and self._changes(each) for each in expressions)

    @property
    def keeps_current_device(self) -> bool:
        """Whether the current CUDA device is the same above."""
        if any(_sets_device(each) for each in self._nodes):
            return False
        return not self._calls or not any(
            "set_device" in each.text for each in self.program.sources
        )

    def _changes(self, expression: ast.expr) -> bool:
        """Whether the statements may change what an expression reads of an object."""
        attributes = {each.attr for each in walk(expression) if isinstance(each, ast.Attribute)}
        for node in self._nodes:
            if _is_set(node):
                if isinstance(node, ast.Attribute) and node.attr in attributes | {"data"}:
                    return True
                if isinstance(node, ast.Subscript) and not self.program.is_tensor(node.value):
                    return True
            if self._is_given(node, names_in(expression)):
                return True
        return self._calls and not self._is_set_once(expression)

    def _is_given(self, node: ast.AST, names: set[str]) -> bool:
        """Whether a call gives a library one of the objects, which may change it."""
        if not isinstance(node, ast.Call) or root_name(node.func) not in self._libraries:
            return False
        given = (*node.args, *(each.value for each in node.keywords))
        return any(isinstance(each, ast.Name) and each.id in names for each in given)

    def _is_set_once(self, expression: ast.expr) -> bool:
        """Whether an attribute of `self` is set where objects are made, above, and nowhere else."""
        match expression:
            case ast.Attribute(value=ast.Name(id="self"), attr=attribute):
                pass
            case _:
                return False
        setting = {name for each in self.program.sources for name in _setters(each, attribute)}
        made = getattr(self.below.function, "name", _MAKING[0]) not in _MAKING
        return made and bool(setting) and setting.issubset(_MAKING)

    def _reads_of_objects(self, expression: ast.expr) -> bool:
        """Whether an expression reads what an object has, or asks a function. A tensor that has a
        name stays where it is, and a library what it is."""
        for node in walk(expression):
            if isinstance(node, ast.Subscript):
                return True
            if isinstance(node, ast.Call) and not self._is_harmless(node):
                return True
            if isinstance(node, ast.Attribute) and root_name(node) not in self._libraries:
                named = isinstance(node.value, ast.Name) and self.program.is_tensor(node.value)
                if not (named and node.attr == "device") or self._sets_data:
                    return True
        return False

    @cached_property
    def _sets_data(self) -> bool:
        return any(map(_is_data_set, self._nodes))

    @cached_property
    def _calls(self) -> bool:
        """Whether the statements run what may change objects and global names."""
        return any(
            isinstance(each, _RUNNING) and not self._is_harmless(each) for each in self._nodes
        )

    def _is_harmless(self, node: ast.AST) -> bool:
        """Whether a call is that of a library's function, a builtin or a tensor's method."""
        match node:
            case ast.Call(func=ast.Name(id=name)):
                return name in self._libraries or (name in _HARMLESS and name not in self._own)
            case ast.Call(func=ast.Attribute(value=owner)):
                return root_name(owner) in self._libraries or self.program.is_tensor(owner)
        return False

    @cached_property
    def _libraries(self) -> frozenset[str]:
        """The names under which the file imports what is of none of the program's files."""
        own = {part for each in self.program.sources for part in _module_parts(each.path)} | {""}
        return frozenset(
            name
            for statement in self.below.top_level
            for module, name in bound_names(statement)
            if module.partition(".")[0] not in own
        )

    @cached_property
    def _own(self) -> frozenset[str]:
        """The names that the file defines."""
        top = self.below.top_level
        return frozenset(each.name for each in top if isinstance(each, _DEFINITIONS))

    @cached_property
    def _nodes(self) -> list[ast.AST]:
        return [node for statement in self.statements for node in walk(statement)]


def is_current_device(target: ast.expr) -> bool:
    """Whether a target may be the current CUDA device: all but the host and what has a number."""
    value = target.value if isinstance(target, ast.Constant) else ""
    return isinstance(value, str) and ":" not in value and value != "cpu"


def _is_data_set(node: ast.AST) -> bool:
    """Whether a tensor is given other data, which may be elsewhere: `x.data = y`."""
    return isinstance(node, ast.Attribute) and node.attr == "data" and _is_set(node)


def _is_set(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)


def _sets_device(node: ast.AST) -> bool:
    function = node.func if isinstance(node, ast.Call) else None
    return getattr(function, "attr", getattr(function, "id", "")) == "set_device"


def _module_parts(path: str) -> list[str]:
    """The names under which a file or its folder is imported."""
    *_, folder, name = ("", *path.replace("\\", "/").split("/"))
    return [folder, name.partition(".")[0]]


def _shared_names(source: SourceFile) -> frozenset[str]:
    """The names of outer scopes that functions of a file bind."""
    return frozenset(
        name
        for chunk in source.chunks
        if "global" in chunk.text or "nonlocal" in chunk.text
        for statement in chunk.body
        for node in walk(statement)
        if isinstance(node, ast.Global | ast.Nonlocal)
        for name in node.names
    )


def _setters(source: SourceFile, attribute: str) -> Iterable[str]:
    """The names of the functions that set or delete an attribute of that name; empty ones for the
    top level."""
    for chunk in source.chunks:
        if attribute in chunk.text:
            for statement in chunk.body:
                yield from _setting(statement, attribute, "")


def _setting(node: ast.AST, attribute: str, function: str) -> Iterator[str]:
    if isinstance(node, FUNCTIONS):
        function = getattr(node, "name", "")
    if isinstance(node, ast.Attribute) and node.attr == attribute and _is_set(node):
        yield function
    for child in ast.iter_child_nodes(node):
        yield from _setting(child, attribute, function)
