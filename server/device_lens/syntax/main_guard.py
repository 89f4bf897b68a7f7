"""`if __name__ == "__main__":`, which tells that a file is a script."""

from __future__ import annotations

import ast


def is_main_guard(statement: ast.stmt) -> bool:
    """Whether a statement runs what it has only where its file is the script, and perhaps something
    else holds."""
    return isinstance(statement, ast.If) and _asks_for_main(statement.test)


def _asks_for_main(test: ast.expr) -> bool:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(map(_asks_for_main, test.values))
    if not isinstance(test, ast.Compare):
        return False
    sides = [test.left, *test.comparators]
    has_name = any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
    return has_name and any(
        isinstance(side, ast.Constant) and side.value == "__main__" for side in sides
    )
