"""Whether a name has a value at a place, whichever way the program got there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from device_lens.fixes.names import is_local, names_in, own_nodes, stores
from device_lens.fixes.place import FUNCTIONS, Place


def surely_bound(place: Place, name: str) -> bool:
    """Whether a name has a value whenever the place runs: a parameter, a binding further up that
    no branch skips, or a name of the file's top level."""
    function = place.function
    if function is None:
        return any(
            _binds(chunk_node, name)
            for chunk in place.source.chunks
            for chunk_node in chunk.body
            if place.source.range(chunk, chunk_node).end <= place.statement.range.start
        ) or _bound_around(place, name)
    if any(isinstance(node, ast.arg) and node.arg == name for node in own_nodes(function)):
        return True
    if isinstance(function, ast.Lambda) or not is_local(function, name):
        return _bound_outside(place, function, name)
    return _bound_around(place, name)


def _bound_around(place: Place, name: str) -> bool:
    """Whether the blocks around the place bind the name above it, or a loop or `with` does."""
    above = place.above
    node: ast.AST = place.statement.node
    while True:
        parent = above.get(node)
        for block in _blocks(parent) if parent is not None else ():
            if any(each is node for each in block):
                earlier = block[: next(i for i, each in enumerate(block) if each is node)]
                if any(_binds(each, name) for each in earlier):
                    return True
        if isinstance(parent, ast.For | ast.AsyncFor) and name in names_in(parent.target):
            return any(each is node for each in parent.body)
        if isinstance(parent, ast.With | ast.AsyncWith) and _with_binds(parent, name):
            return True
        if parent is None or isinstance(parent, FUNCTIONS):
            return False
        node = parent


def _binds(statement: ast.stmt, name: str) -> bool:
    """Whether a statement, once run, has bound the name on every path."""
    if isinstance(statement, ast.If):
        sides = (statement.body, statement.orelse)
        return all(any(_binds(each, name) for each in side) for side in sides)
    if isinstance(statement, ast.With | ast.AsyncWith):
        inner = any(_binds(each, name) for each in statement.body)
        return inner or _with_binds(statement, name)
    if isinstance(statement, ast.Try):
        return any(_binds(each, name) for each in statement.finalbody)
    if isinstance(statement, ast.For | ast.AsyncFor | ast.While | ast.Match):
        return False
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return statement.name == name
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return any((each.asname or each.name) == name for each in statement.names)
    return any(isinstance(node, ast.Name) for node in stores(statement, name))


def _bound_outside(place: Place, function: ast.AST, name: str) -> bool:
    """Whether an enclosing function or the top level binds a name that a function reads."""
    outer = [node for node in place.at(function).ancestors() if isinstance(node, FUNCTIONS)]
    if any(is_local(node, name) for node in outer):
        return True
    top = (node for chunk in place.source.chunks for node in chunk.body)
    return any(_binds(node, name) for node in top)


def _with_binds(statement: ast.With | ast.AsyncWith, name: str) -> bool:
    targets = (item.optional_vars for item in statement.items)
    return any(target is not None and name in names_in(target) for target in targets)


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for part in ("body", "orelse", "finalbody"):
        block = getattr(node, part, None)
        if isinstance(block, list):
            yield block
