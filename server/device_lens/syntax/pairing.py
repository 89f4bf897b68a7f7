"""Which target of an assignment a value is for."""

from __future__ import annotations

import ast


def target_of(statement: ast.Assign, value: ast.AST) -> ast.expr | None:
    """The only target that an assignment binds to an expression of it: `x = value`, and its like
    in `x, y = value, other`."""
    if len(statement.targets) != 1:
        return None
    target, whole = statement.targets[0], statement.value
    if whole is value:
        return target
    if not isinstance(target, ast.Tuple | ast.List) or not isinstance(whole, ast.Tuple | ast.List):
        return None
    parts = (*target.elts, *whole.elts)
    if len(target.elts) != len(whole.elts) or any(isinstance(p, ast.Starred) for p in parts):
        return None
    return next((t for t, v in zip(target.elts, whole.elts, strict=True) if v is value), None)
