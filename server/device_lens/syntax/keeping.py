"""Whether something that a text is given outlives it: an object, a container or a function that is
not at hand has it then.

Told by the text alone, as `sharing.py` tells which names share memory. A name that the text binds
ends with it, what it is put into besides does not.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from device_lens.syntax.gathering import statements_of
from device_lens.syntax.names import is_own_attribute, last_name, root_name
from device_lens.syntax.sharing import ADDERS, names_of, sharing
from device_lens.syntax.walking import walk

_KEEPERS = frozenset(
    """put put_nowait push register_buffer register_parameter setattr __setitem__ __setattr__
    __init__""".split()
)
"""Calls that keep what they are given."""
_CALLED = frozenset({"forward", "__call__"})
"""Methods that run where an object is called."""
_COLLECTING = (ast.BinOp, ast.List, ast.Tuple, ast.Set, ast.Dict)

Functions = Mapping[str, Sequence[ast.FunctionDef | ast.AsyncFunctionDef]]
"""The functions and methods of a file by name; a class is known by its `__init__`."""


def functions_of(body: Iterable[ast.AST]) -> Functions:
    """What a file defines, methods of the same name together. What it imports has none."""
    found: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
    for statement in body:
        for node in statements_of(statement):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    found.setdefault(alias.asname or alias.name, [])
            elif isinstance(node, ast.ClassDef):
                inside = (each for each in node.body if isinstance(each, ast.FunctionDef))
                made = [each for each in inside if each.name in ("__init__", "__new__")]
                found.setdefault(node.name, []).extend(made)
    return found


def _collects(value: ast.expr, targets: Iterable[ast.expr]) -> bool:
    """Whether a value goes on from what a target has, with more in it: `xs = xs + [x]`."""
    if isinstance(value, ast.Call):
        inside = [*value.args, *(each.value for each in value.keywords)]
    elif isinstance(value, _COLLECTING):
        inside = [value]
    else:
        return False
    names = {name for each in inside for name in names_of(each)}
    return any(isinstance(each, ast.Name) and each.id in names for each in targets)


@dataclass
class Keeping:
    """What becomes of values in some nodes. `own` are the names that begin in them, `shared` those
    that others have too, `steps` the statements that run one after the other."""

    nodes: Sequence[ast.AST]
    steps: Sequence[ast.AST]
    known: Functions
    own: frozenset[str]
    moved: ast.AST | None = None
    shared: frozenset[str] = frozenset()
    entered: frozenset[str] = frozenset()
    holders: set[str] = field(default_factory=set)
    """The names by which the values are known."""

    def keeps(self, names: Iterable[str]) -> bool:
        """Whether values that are known by some names outlive the nodes."""
        self.holders = set(names)
        grown = True
        while grown:
            before = len(self.holders)
            if any(self._keeps(each) for node in self.nodes for each in walk(node)):
                return True
            grown = len(self.holders) > before
        return False

    def _keeps(self, node: ast.AST) -> bool:
        match node:
            case ast.Assign(value=value):
                if not self._holds(value):
                    return False
                return _collects(value, node.targets) or any(map(self._binds, node.targets))
            case ast.AnnAssign(value=value) | ast.NamedExpr(value=value):
                return self._holds(value) and self._binds(node.target)
            case ast.AugAssign(value=value):
                return self._holds(value) and self._is_put_into(node.target)
            case ast.For(iter=value) | ast.comprehension(iter=value):
                return self._holds(value) and self._binds(node.target)
            case ast.Return(value=value) | ast.Yield(value=value):
                return self._holds(value)
            case ast.Call():
                return self._is_kept_by(node)
        return False

    def _holds(self, value: ast.AST | None) -> bool:
        held = self.holders.intersection(names_of(value, self.moved) if value else ())
        line = getattr(value, "lineno", 0)
        return any(not self._has_another(name, line) for name in held)

    def _has_another(self, name: str, line: int) -> bool:
        """Whether the last statement that binds a name before a line, of those that always run,
        gives it another value."""
        given = [
            each
            for each in self.steps
            if isinstance(each, ast.Assign)
            and each.lineno < line
            and any(isinstance(target, ast.Name) and target.id == name for target in each.targets)
        ]
        return bool(given) and not self._holds(given[-1].value)

    def _binds(self, target: ast.expr) -> bool:
        """Gives a value another name; whether that outlives the nodes."""
        if isinstance(target, ast.Name):
            self.holders.add(target.id)
            return target.id in self.shared
        if isinstance(target, ast.Tuple | ast.List):
            kept = [self._binds(each) for each in target.elts]
            return any(kept)
        if isinstance(target, ast.Starred):
            return self._binds(target.value)
        return self._is_put_into(target)

    def _is_put_into(self, holder: ast.expr) -> bool:
        """Whether what a value is put into outlives the nodes, by this or another name."""
        root = root_name(holder)
        if root not in self.own:
            return True
        self.holders.add(root)
        return not sharing({root}, self.nodes) <= self.own

    def _is_kept_by(self, call: ast.Call) -> bool:
        given = [*call.args, *(each.value for each in call.keywords)]
        if not any(map(self._holds, given)):
            return False
        name = last_name(call.func)
        if name in _KEEPERS:
            return True
        if name in ADDERS and isinstance(call.func, ast.Attribute):
            return self._is_put_into(call.func.value)
        if name in self.known:
            return any(self._is_kept_in(each, call) for each in self.known[name])
        if isinstance(call.func, ast.Name) and name in self.own | self.holders:
            return False
        methods = (each for called in _CALLED for each in self.known.get(called, ()))
        is_object = is_own_attribute(call.func) or (
            isinstance(call.func, ast.Name) and not hasattr(builtins, name)
        )
        return is_object and any(self._is_kept_in(each, call) for each in methods)

    def _is_kept_in(self, function: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call) -> bool:
        """Whether a function of the file keeps, or gives back, what a call gives it."""
        if function.name in self.entered:
            return False
        names = self._parameters_given(function, call)
        stored = {
            each.id
            for node in function.body
            for each in walk(node)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        shared = frozenset(
            name
            for node in function.body
            for each in walk(node)
            if isinstance(each, ast.Global | ast.Nonlocal)
            for name in each.names
        )
        parameters = {each.arg for each in walk(function.args) if isinstance(each, ast.arg)}
        own = frozenset(stored - shared - parameters)
        entered = self.entered | {function.name}
        body = function.body
        return Keeping(body, body, self.known, own, None, shared, entered).keeps(names)

    def _parameters_given(
        self, function: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call
    ) -> set[str]:
        """The parameters that a call gives one of the values."""
        arguments = function.args
        places = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
        if places[:1] in (["self"], ["cls"]):
            places = places[1:]
        found: set[str] = set()
        for index, value in enumerate(call.args):
            if not self._holds(value):
                continue
            if isinstance(value, ast.Starred):
                found.update(places[index:])
            elif index < len(places):
                found.add(places[index])
            elif arguments.vararg is not None:
                found.add(arguments.vararg.arg)
        for keyword in call.keywords:
            if self._holds(keyword.value):
                rest = [] if arguments.kwarg is None else [arguments.kwarg.arg]
                named = [keyword.arg] if keyword.arg in places else rest
                kwonly = {each.arg for each in arguments.kwonlyargs}
                named = [keyword.arg] if keyword.arg in kwonly else named
                found.update(each for each in named if each is not None)
        return found
