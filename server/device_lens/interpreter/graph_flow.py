"""Where values with an autograd graph go, as the text of a function says.

The answer errs on the side of "it is used": what is not understood lets a value escape.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from enum import Flag, auto
from typing import Any

from device_lens.interpreter import scan
from device_lens.syntax.names import LIBRARIES
from device_lens.syntax.walking import walk


class Fate(Flag):
    """What becomes of a value."""

    NOTHING = 0
    BACKWARD = auto()
    """A backward pass, or a gradient, starts from it."""
    RETURNED = auto()
    ESCAPED = auto()
    """It is kept or used where the text does not show it."""


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_PLACES = (ast.Name, ast.Attribute, ast.Subscript)
DROP = frozenset("item detach tolist numpy numpy_ backward data_ptr size dim numel".split())
"""Methods whose result has no graph."""
_DROP_ATTRIBUTES = frozenset("data shape device dtype requires_grad grad ndim is_cuda".split())
_NUMBERS = frozenset("float int bool len str repr print isinstance round range id format".split())
_PASSING = frozenset("sum max min list tuple zip enumerate sorted reversed abs dict set".split())
_STORES = frozenset("append extend add insert appendleft".split())
_LOGS = ("log", "info", "debug", "warn", "add_", "set_postfix", "set_desc", "write", "print")
_LIBRARIES = LIBRARIES | frozenset(
    "plt wandb logging logger json os sys tqdm pd random time".split()
)


def fate(body: Iterable[ast.stmt], names: set[str], nodes: frozenset[ast.AST]) -> Fate:
    """What becomes of the values of `names`, which may be those of attributes (`self.total`), and
    of `nodes` in a body."""
    flow = _Flow(set(names), nodes)
    statements = list(body)
    for _ in range(6):
        known = len(flow.names)
        for statement in statements:
            flow.visit(statement)
        if len(flow.names) == known:
            break
    return flow.found


def may_hold(node: ast.expr, name: str) -> bool:
    """Whether the value of an expression may hold the graph of what a name holds."""
    return _Flow({name}, frozenset()).carries(node)


class _Flow:
    """The names that may hold such a value, and what has been seen of them."""

    def __init__(self, names: set[str], nodes: frozenset[ast.AST]) -> None:
        self.names = names
        self.attributes = {name.rpartition(".")[2] for name in names if "." in name}
        self.nodes = nodes
        self.found = Fate.NOTHING

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, _FUNCTIONS):
            if not self.names.isdisjoint(_read_from_outside(node)):
                self.found |= Fate.ESCAPED
            return
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            if node.value is not None and self.carries(node.value):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                self._bind(targets)
        elif isinstance(node, ast.For | ast.AsyncFor):
            if self.carries(node.iter):
                self._bind([node.target])
        elif isinstance(node, ast.Return | ast.Yield | ast.YieldFrom):
            if node.value is not None and self.carries(node.value):
                self.found |= Fate.RETURNED
        elif isinstance(node, ast.Call):
            self._call(node)
        for child in ast.iter_child_nodes(node):
            self.visit(child)

    def _bind(self, targets: Iterable[ast.expr]) -> None:
        pending: list[ast.AST] = [*targets]
        while pending:
            part = pending.pop()
            if isinstance(part, ast.Name):
                self.names.add(part.id)
            elif not isinstance(part, ast.Attribute):
                pending += ast.iter_child_nodes(part)
            elif not self._is_named(part):
                self.found |= Fate.ESCAPED

    def _is_named(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute):
            return node.attr in self.attributes and ast.unparse(node) in self.names
        return isinstance(node, ast.Name) and node.id in self.names

    def _call(self, node: ast.Call) -> None:
        given = any(self.carries(value) for value in arguments(node))
        func = node.func
        name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
        of_value = isinstance(func, ast.Attribute) and self.carries(func.value)
        if "backward" in name or name in ("grad", "jacobian", "hessian"):
            if given or of_value:
                self.found |= Fate.BACKWARD
        elif given and isinstance(func, ast.Attribute) and name in _STORES:
            self._bind([func.value])
        elif given and not of_value and not _is_known(func, name):
            self.found |= Fate.ESCAPED

    def carries(self, node: ast.AST) -> bool:
        """Whether the expression's value may hold the graph. However deep an expression is nested,
        it is gone through without recursion."""
        pending = [node]
        while pending:
            each = pending.pop()
            if each in self.nodes or self._is_named(each):
                return True
            if not isinstance(each, _COMPREHENSIONS):
                pending += _holding(each)
            elif self._comprehension(each):
                return True
        return False

    def _comprehension(self, node: Any) -> bool:
        inner = _Flow(set(self.names), self.nodes)
        for generator in node.generators:
            if inner.carries(generator.iter):
                inner._bind([generator.target])
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return any(inner.carries(part) for part in parts)


def _read_from_outside(node: ast.AST) -> set[str]:
    """The names in a function or class that need not be its own."""
    found = {each.id for each in walk(node) if isinstance(each, ast.Name)}
    if isinstance(node, ast.ClassDef):
        return found
    shared = {
        name
        for each in walk(node)
        if isinstance(each, ast.Global | ast.Nonlocal)
        for name in each.names
    }
    own = {each.arg for each in walk(node) if isinstance(each, ast.arg)}
    for each in walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            own.add(each.id)
    return found - (own - shared)


def _holding(node: ast.AST) -> Iterable[ast.AST]:
    """The parts of an expression whose values its own value may hold."""
    if isinstance(node, ast.Name | ast.JoinedStr | ast.Compare | ast.Constant | ast.Lambda):
        return ()
    if isinstance(node, ast.Attribute):
        return () if node.attr in _DROP_ATTRIBUTES else (node.value,)
    if isinstance(node, ast.Subscript):
        return (node.value,)
    if not isinstance(node, ast.Call):
        return ast.iter_child_nodes(node)
    func = node.func
    if isinstance(func, ast.Attribute):
        return () if func.attr in DROP else (func.value, *arguments(node))
    return () if isinstance(func, ast.Name) and func.id in _NUMBERS else arguments(node)


def arguments(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(keyword.value for keyword in node.keywords)]


def stands_for_another(body: Iterable[ast.stmt], name: str) -> bool:
    """Whether a name is bound to what something else holds: an item that a loop or comprehension
    goes through, an attribute, another name's value."""
    for node in (each for statement in body for each in walk(statement)):
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            targets: list[ast.expr] = [node.target]
        elif isinstance(node, ast.Assign) and isinstance(node.value, _PLACES):
            targets = node.targets
        else:
            continue
        if any(name in scan.names_bound(target) for target in targets):
            return True
    return False


def _is_known(func: ast.expr, name: str) -> bool:
    """A call that neither keeps its arguments nor starts a backward pass from them."""
    if name in _NUMBERS or name in _PASSING or name.startswith(_LOGS):
        return True
    root = func
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root.id in _LIBRARIES and root is not func
