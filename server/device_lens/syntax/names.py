"""Names as expressions."""

from __future__ import annotations

import ast
from typing import TypeGuard

from device_lens.syntax.walking import walk

TORCH = frozenset("torch th".split())
FUNCTIONAL = frozenset("F Fn functional".split())
LIBRARIES = TORCH | FUNCTIONAL | frozenset("nn np numpy math".split())
"""Names that files use to give libraries, for what sees no more of a file than a piece: who knows
the file asks it (`fixes/names.py`, `interpreter/full_names.py`)."""


def root_name(node: ast.AST | None) -> str:
    """`a` of `a.b[0].c` and of `a`; empty for what no name begins."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def last_name(node: ast.expr) -> str:
    """`c` of `a.b.c` and of `c`; empty for what is no name."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def is_own_attribute(node: ast.AST | None) -> TypeGuard[ast.Attribute]:
    """Whether an expression is an attribute of `self`."""
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


def dotted(node: ast.expr) -> str:
    """`a.b.c` of that, and of `a` that; empty for what is more than names."""
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return node.id if isinstance(node, ast.Name) else ""


def named_by_text(node: ast.AST | None, function: str, count: int) -> tuple[ast.expr, str] | None:
    """The object and the attribute that a call of `getattr`, `setattr` or `delattr` with `count`
    arguments names in so many words: `self` and `mask` of `setattr(self, "mask", value)`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None  # as most nodes that are asked
    match node:
        case ast.Call(func=ast.Name(id=called), args=[whole, ast.Constant(value=str(name)), *more]):
            if called == function and len(more) == count - 2:
                return whole, name
    return None


def set_by_call(node: ast.AST | None) -> ast.Attribute | None:
    """The attribute that `setattr(owner, "name", value)` sets, as it would be assigned to."""
    named = named_by_text(node, "setattr", 3)
    return None if named is None else ast.Attribute(*named, ast.Store())


def names_in(node: ast.AST | None) -> set[str]:
    """The names that an expression or statement reads or binds; none where there is no node."""
    if node is None:
        return set()
    return {each.id for each in walk(node) if isinstance(each, ast.Name)}
