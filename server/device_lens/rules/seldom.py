"""Places in a loop that do not run on each turn: where one goes wrong, and on the way out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from device_lens.fixes.blocks import block_of
from device_lens.fixes.place import LOOPS, Place

_EXITS = frozenset({"exit", "quit", "sys.exit", "os._exit", "os.abort"})


def is_seldom(place: Place, loop: ast.AST) -> bool:
    """Whether a place in a loop is in a handler of an exception, or in a block that leaves the
    loop."""
    for node in (place.statement.node, *place.statement.ancestors()):
        if node is loop:
            return False
        if isinstance(node, ast.ExceptHandler):
            return True
        if isinstance(node, ast.stmt) and _leaves(place.at(node), loop):
            return True
    return False


def is_seldom_in_function(place: Place) -> bool:
    """Whether a place in a function is in a handler of an exception, or in a block that raises or
    ends the program."""
    for node in (place.statement.node, *place.statement.ancestors()):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return False
        if isinstance(node, ast.ExceptHandler):
            return True
        if isinstance(node, ast.stmt) and _gives_up(place.at(node)):
            return True
    return False


def _gives_up(statement: Place) -> bool:
    block = block_of(statement)
    last = block[-1] if block else None
    return isinstance(last, ast.Raise) or (isinstance(last, ast.Expr) and _exits(last.value))


def _leaves(statement: Place, loop: ast.AST) -> bool:
    """Whether the block of a statement ends by leaving the loop."""
    block = block_of(statement)
    last = block[-1] if block else None
    if isinstance(last, ast.Return) or (isinstance(last, ast.Expr) and _exits(last.value)):
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
