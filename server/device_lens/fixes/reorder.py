"""Moves a statement behind, or before, the one that it depends on."""

from __future__ import annotations

import ast

from device_lens.fixes.blocks import block_of, move_above, move_below
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.names import loads
from device_lens.fixes.place import Place
from device_lens.syntax.names import root_name


def put_below(statement: Place, anchor: Place, title: str) -> Fix | None:
    """Moves a statement below another one of the same block, where nothing in between reads what
    it binds."""
    first, last = _positions(statement, anchor)
    if first is None or last is None or first >= last:
        return None
    bound = [n.id for n in ast.walk(statement.node) if _is_store(n) and isinstance(n, ast.Name)]
    between = block_of(statement)[first + 1 : last + 1]
    if any(loads(node, name) for node in between for name in bound):
        return None
    edits = move_below(statement, anchor)
    return Fix(title, Safety.UNSAFE, edits) if edits else None


def put_before(statement: Place, anchor: Place, title: str) -> Fix | None:
    """Moves a call that stands by itself above an earlier statement of the same block, where
    nothing from there on binds or sets a part of what it names."""
    first, last = _positions(anchor, statement)
    if first is None or last is None or first >= last or not isinstance(statement.node, ast.Expr):
        return None
    named = {each.id for each in ast.walk(statement.node) if isinstance(each, ast.Name)}
    for node in block_of(statement)[first:last]:
        for each in ast.walk(node):
            if _is_store(each) and root_name(each) in named:
                return None
    edits = move_above(statement, anchor)
    return Fix(title, Safety.UNSAFE, edits) if edits else None


def put_above(statement: Place, anchor: Place, title: str) -> Fix | None:
    """Moves a statement above another one of the same block."""
    edits = move_above(statement, anchor)
    return Fix(title, Safety.UNSAFE, edits) if edits else None


def _positions(statement: Place, anchor: Place) -> tuple[int | None, int | None]:
    """The numbers of two statements in their common block."""
    block = _common_block(statement, anchor)
    numbers = {id(node): number for number, node in enumerate(block)}
    return numbers.get(id(statement.node)), numbers.get(id(anchor.node))


def _common_block(statement: Place, anchor: Place) -> list[ast.stmt]:
    block = block_of(statement)
    return block if any(node is anchor.node for node in block) else []


def _is_store(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store)
