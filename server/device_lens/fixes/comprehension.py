"""What a comprehension can hold where a fix puts one."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from device_lens.fixes.names import name_for, own_nodes, remembered
from device_lens.fixes.place import FUNCTIONS, Place
from device_lens.syntax.import_statements import bound_names
from device_lens.syntax.walking import walk

_SCOPES = (*FUNCTIONS, ast.ClassDef)
_WAITING = (ast.Await, ast.Yield, ast.YieldFrom)


def can_hold(place: Place, parts: Iterable[ast.AST], variables: set[str]) -> bool:
    """Whether expressions mean the same in a comprehension at a place, behind `for` and its
    variables: it neither waits nor yields, binds none of its variables itself, and in the body of a
    class sees no name of it."""
    nodes = [node for part in parts for node in walk(part)]
    bound = {node.target.id for node in nodes if isinstance(node, ast.NamedExpr)}
    if any(isinstance(node, _WAITING) for node in nodes) or bound & variables:
        return False
    if bound and isinstance(_scope(place), ast.ClassDef):
        return False
    return sees(place, {node.id for node in nodes if isinstance(node, ast.Name)} - variables)


def sees(place: Place, names: set[str]) -> bool:
    """Whether names are the same in a function or comprehension at a place: they are not those of a
    class's body."""
    scope = _scope(place)
    return not isinstance(scope, ast.ClassDef) or not names & _bound_in(scope)


def as_condition(test: Place) -> str:
    """The text of a test as it can stand behind `if` in an expression."""
    bare = not isinstance(test.node, ast.NamedExpr | ast.IfExp | ast.Lambda)
    return test.text if bare else f"({test.text})"


def means_builtin(place: Place, name: str) -> bool:
    """Whether a name is Python's own at a place: nothing around binds it."""
    first = _scope(place)
    scopes: list[ast.AST] = [node for node in place.ancestors() if isinstance(node, FUNCTIONS)]
    if isinstance(first, ast.ClassDef):
        scopes.append(first)
    if any(name in _bound_in(scope) for scope in scopes):
        return False
    if not any(name in chunk.text for chunk in place.source.chunks):
        return True
    return not any(name in _names(_of_scope([each])) for each in place.top_level)


def name_at(place: Place, module: str) -> str | None:
    """How a module such as `torch.nn` can be written at a place; None where it cannot, or where a
    function around has another thing by that name."""
    written = name_for(place.source, module)
    name = "" if written is None else written.partition(".")[0]
    around = (node for node in place.ancestors() if isinstance(node, FUNCTIONS))
    return None if any(name in _assigned_in(node) for node in around) else written


def _scope(place: Place) -> ast.AST | None:
    return next((node for node in place.ancestors() if isinstance(node, _SCOPES)), None)


def _bound_in(scope: ast.AST) -> set[str]:
    """The names that a function or the body of a class binds."""
    if isinstance(scope, FUNCTIONS):
        return set(_names(own_nodes(scope)))
    return set(_names(_of_scope(getattr(scope, "body", []))))


def _assigned_in(function: ast.AST) -> frozenset[str]:
    """The same without what it imports, which is mostly what the file has by that name too."""
    return remembered(function, "_assigned_names", _assigned, own=True)


def _assigned(node: ast.AST) -> Iterable[str]:
    return () if isinstance(node, ast.Import | ast.ImportFrom) else _names((node,))


def _of_scope(statements: list[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of a block without those in functions and classes."""
    stack: list[ast.AST] = [*statements]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, _SCOPES):
            stack += ast.iter_child_nodes(node)


def _names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The names that are bound at nodes."""
    for node in nodes:
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (name for _, name in bound_names(node))
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names
