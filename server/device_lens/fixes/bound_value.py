"""The expression that a name, or an attribute of `self`, is set to."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from device_lens.fixes.names import is_local, own_nodes
from device_lens.fixes.place import FUNCTIONS, Place
from device_lens.syntax.names import is_own_attribute
from device_lens.syntax.pairing import parts_of
from device_lens.syntax.position import Position

_SCOPES = (*FUNCTIONS, ast.ClassDef)


def bound_value(reader: Place) -> Place | None:
    """Of a name in the scope that it belongs to, of `self.name` in the class; None where it is not
    one assignment that binds it, or of a name the last of several, by which every way comes."""
    wanted = ast.unparse(reader.node)
    found = list(binders(reader, wanted))
    if len(found) > 1 and isinstance(reader.node, ast.Attribute):
        return None
    binder = found[0] if len(found) == 1 else _last(found, reader)
    if binder is None:
        return None
    statement = binder.statement
    node = statement.node
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return statement.at(node.value)
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    value = _beside(node.targets[0], node.value, binder.node)
    return None if value is None else statement.at(value)


def binders(reader: Place, wanted: str) -> Iterator[Place]:
    """The targets that bind what a reader reads, in the scope that it belongs to."""
    for place in _scope(reader):
        node = place.node
        bound = isinstance(node, ast.Name | ast.Attribute) and not isinstance(node.ctx, ast.Load)
        text = ast.unparse(node) if bound else node.arg if isinstance(node, ast.arg) else ""
        if text == wanted:
            yield place


def _last(binders: list[Place], reader: Place) -> Place | None:
    """The binder after all others, where it comes before the reader on every way to it."""
    last = max(binders, key=_start, default=None)
    if last is None or _start(last) >= _start(reader):
        return None
    statement = last.statement.node
    if statement in last.chunk.body:
        return last
    ways = [reader.node, *reader.ancestors()]
    for each in ways:
        for name in ("body", "orelse", "finalbody"):
            block = getattr(each, name, None)
            if isinstance(block, list) and statement in block:
                return last if any(way in block for way in ways) else None
    return None


def _start(place: Place) -> Position:
    return place.range.start


def _scope(reader: Place) -> Iterator[Place]:
    """The nodes among which the binding has to be."""
    node = reader.node
    if isinstance(node, ast.Attribute):
        if is_own_attribute(node) and reader.owner is not None:
            yield from (reader.at(each) for each in ast.walk(reader.owner))
        return
    if not isinstance(node, ast.Name):
        return
    for function in reader.ancestors():
        if isinstance(function, FUNCTIONS) and is_local(function, node.id):
            yield from (reader.at(each) for each in own_nodes(function))
            return
    for chunk in reader.source.chunks:
        for statement in chunk.body:
            yield from (Place(reader.source, chunk, each) for each in at_top(statement))


def at_top(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement at top level that functions and classes in it do not have."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        if not isinstance(node, _SCOPES):
            yield node
            stack.extend(ast.iter_child_nodes(node))


def _beside(target: ast.expr, value: ast.expr, wanted: ast.AST) -> ast.expr | None:
    """What one target of an assignment gets: `b` in `x, y = a, b` for `y`."""
    if target is wanted:
        return value
    targets = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    pairs = zip(targets, parts_of(targets, value), strict=True)
    return next((given for each, given in pairs if each is wanted), None)
