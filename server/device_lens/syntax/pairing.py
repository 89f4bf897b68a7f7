"""Which target of an assignment a value is for, and which variable of a loop goes through what."""

from __future__ import annotations

import ast
from collections.abc import Sequence

LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)
Loop = ast.For | ast.AsyncFor | ast.comprehension


def parts_of(targets: Sequence[ast.expr], value: ast.expr | None) -> list[ast.expr | None]:
    """The expressions that `a, b = x, y` gives its targets one by one; None each where it is
    written otherwise."""
    parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
    if len(parts) != len(targets) or any(isinstance(p, ast.Starred) for p in (*targets, *parts)):
        return [None] * len(targets)
    return [*parts]


def target_of(statement: ast.Assign, value: ast.AST) -> ast.expr | None:
    """The only target that an assignment binds to an expression of it: `x = value`, and its like
    in `x, y = value, other`."""
    if len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if statement.value is value:
        return target
    targets = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    pairs = zip(targets, parts_of(targets, statement.value), strict=True)
    return next((each for each, part in pairs if part is value), None)


def several(container: ast.expr) -> list[ast.expr]:
    """What a loop over a written list or tuple goes through one by one; of anything else that."""
    return container.elts if isinstance(container, ast.Tuple | ast.List) else [container]


def gone_through(iterated: ast.expr) -> ast.expr:
    """What a loop over its items, values or numbered items goes through: `d` of `d.items()`."""
    match iterated:
        case ast.Call(func=ast.Attribute(value=owner)):
            return owner
        case ast.Call(args=[first, *_]):
            return first
    return iterated


def holders(loop: Loop, variable: str) -> list[ast.expr]:
    """The containers whose items a loop binds to a variable."""
    ways = zipped(loop)
    if ways:
        return [container for name, container in ways if name == variable]
    bound = (each.id for each in ast.walk(loop.target) if isinstance(each, ast.Name))
    return several(gone_through(loop.iter)) if variable in bound else []


def zipped(loop: Loop) -> list[tuple[str | None, ast.expr]]:
    """The variables of `for a, b in zip(first, second):` with what each goes through; None for a
    target that is no name. Empty where the loop is written otherwise."""
    match loop.iter:
        case ast.Call(func=ast.Name(id="zip"), args=containers) if isinstance(
            loop.target, ast.Tuple
        ) and len(loop.target.elts) == len(containers):
            names = (each.id if isinstance(each, ast.Name) else None for each in loop.target.elts)
            return list(zip(names, containers, strict=True))
    return []
