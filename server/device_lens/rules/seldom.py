"""Places in a loop that do not run on each turn: where one goes wrong, and on the way out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from device_lens.fixes.blocks import block_of
from device_lens.fixes.place import LOOPS, Place

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_EXITS = frozenset({"exit", "quit", "sys.exit", "os._exit", "os.abort"})


def is_seldom(place: Place, loop: ast.AST | None = None) -> bool:
    """Whether a place in a loop is in a handler of an exception, or in a block that leaves the
    loop; without a loop, whether one in a function is in such a handler, or in a block that ends
    otherwise than by a return."""
    for node in (place.statement.node, *place.statement.ancestors()):
        if node is loop or (loop is None and isinstance(node, _DEFINITIONS)):
            return False
        if isinstance(node, ast.ExceptHandler):
            return True
        if isinstance(node, ast.stmt) and _leaves(place.at(node), loop):
            return True
    return False


def _leaves(statement: Place, loop: ast.AST | None) -> bool:
    """Whether the block of a statement ends by leaving the loop, or gives up where there is
    none."""
    block = block_of(statement)
    last = block[-1] if block else None
    if isinstance(last, ast.Expr) and _exits(last.value):
        return True
    if loop is None:
        return isinstance(last, ast.Raise)
    if isinstance(last, ast.Return):
        return True
    if isinstance(last, ast.Break):
        return next(_loops_around(statement, loop), loop) is loop
    return isinstance(last, ast.Raise) and not _is_caught(statement, loop)


def _exits(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in _EXITS


def _loops_around(place: Place, loop: ast.AST) -> Iterator[ast.AST]:
    """The loops around a place up to one of them, innermost first."""
    for node in place.ancestors():
        if isinstance(node, LOOPS):
            yield node
        if node is loop:
            return


def _is_caught(place: Place, loop: ast.AST) -> bool:
    """Whether a `try` in the loop may catch what is raised there."""
    for node in place.ancestors():
        if node is loop:
            return False
        if isinstance(node, ast.Try) and node.handlers:
            return True
    return False
