"""The assignments that set an attribute before all others do."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from device_lens.fixes.place import Place
from device_lens.fixes.set_up import ready
from device_lens.syntax.names import is_own_attribute
from device_lens.syntax.pairing import parts_of


def first_set(assignment: Place, attribute: str, fits: Callable[[ast.expr], bool]) -> list[Place]:
    """Those of `__init__`, one on each way through its branches, or of a method that it calls: one
    of them runs before all others of the class. Empty where that cannot be told, or `fits` does not
    tell of all values that a buffer can hold them. What makes a parameter is left out, which takes
    the place of a buffer by itself."""
    owner = assignment.owner
    methods = [each for each in getattr(owner, "body", ()) if isinstance(each, ast.FunctionDef)]
    setting = [each for each in methods if stores_of(each, attribute)]
    count = 0 if owner is None else len(stores_of(owner, attribute))
    if sum(len(stores_of(each, attribute)) for each in setting) < count:
        return []
    if not all(
        fits(value) for each in setting for value in values_of(each, stores_of(each, attribute))
    ):
        return []
    init = next((each for each in methods if each.name == "__init__"), None)
    search = _Search(assignment, attribute, [each for each in setting if each is not init])
    if init is None or search.through(init.body) is None:
        return []
    return [each for each in search.found if not _makes_parameter(each.node)]


class _Search:
    """Goes through `__init__` to what sets the attribute first."""

    def __init__(self, near: Place, attribute: str, others: list[ast.FunctionDef]) -> None:
        self.found: list[Place] = []
        self._near = near
        self._attribute = attribute
        self._others = {each.name: each for each in others}
        self._inside = False

    def through(self, block: list[ast.stmt]) -> bool | None:
        """Whether a block sets the attribute on every way through it; None where that cannot be
        told, nor what comes first."""
        for statement in block:
            if stores_of(statement, self._attribute) or self._others.keys() & _named(statement):
                is_set = self._through_one(statement)
                if is_set is not False:
                    return is_set
            elif any(isinstance(node, ast.Return) for node in ast.walk(statement)):
                return None
        return False

    def _through_one(self, statement: ast.stmt) -> bool | None:
        match statement:
            case ast.Assign() | ast.AnnAssign() if not self._others.keys() & _named(statement):
                self.found.append(self._near.at(statement))
                return True
            case ast.If(test=test) if not self._others.keys() & _named(test):
                sides = [self.through(each) for each in (statement.body, statement.orelse)]
                return None if None in sides else all(sides)
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name) as func)):
                alone = self._others.keys() & _named(statement) == {name} and is_own_attribute(func)
                return self._through_method(statement, name) if alone else None
        return None

    def _through_method(self, call: ast.stmt, name: str) -> bool | None:
        """The same for `self.reset(…)`, of a method that sets the attribute."""
        method = self._others[name]
        if self._inside or method.decorator_list or not ready(self._near.at(call)):
            return None
        self._inside = True
        is_set = self.through(method.body)
        self._inside = False
        return is_set


def _makes_parameter(statement: ast.AST) -> bool:
    value = getattr(statement, "value", None)
    return isinstance(value, ast.Call) and ast.unparse(value.func).endswith("Parameter")


def _named(node: ast.AST) -> set[str]:
    """The attributes that a node mentions, methods among them."""
    return {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}


def values_of(function: ast.AST, targets: list[ast.expr]) -> Iterator[ast.expr]:
    """What the function assigns to each target: the target itself where that is not written."""
    targets = list(targets)
    for node in ast.walk(function) if targets else ():
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        for target, value in _pairs(node):
            if target in targets:
                targets.remove(target)
                yield value or target
    yield from targets


def _pairs(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """The targets of an assignment, each with its own value where one is written."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets) | ast.List(elts=targets), *_]):
            yield from zip(targets, parts_of(targets, node.value), strict=True)
        case ast.Assign(targets=[target, *_]) | ast.AnnAssign(target=target):
            yield target, node.value


def stores_of(node: ast.AST, attribute: str) -> list[ast.expr]:
    """The places that bind `self.<attribute>`; `+=` changes its tensor in place."""
    nodes = list(ast.walk(node))
    in_place = {id(each.target) for each in nodes if isinstance(each, ast.AugAssign)}
    return [
        each
        for each in nodes
        if isinstance(each, ast.Attribute)
        and each.attr == attribute
        and id(each) not in in_place
        and isinstance(each.ctx, ast.Store)
        and is_own_attribute(each)
    ]
