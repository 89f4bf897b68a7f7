"""Names as expressions."""

from __future__ import annotations

import ast


def last_name(node: ast.expr) -> str:
    """`c` of `a.b.c` and of `c`; empty for what is no name."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
