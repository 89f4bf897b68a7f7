"""Whether two trees say the same."""

from __future__ import annotations

import ast


def alike(left: object, right: object, placed: bool = False) -> bool:
    """Whether two trees have the same text but for spaces; if they are to be `placed` alike, the
    text stands at the same place too. As `ast.dump` of both would tell it, which leaves a cycle
    for the collector behind at each call."""
    pending = [(left, right)]
    while pending:
        one, other = pending.pop()
        if one is other:
            continue
        if isinstance(one, ast.AST):
            if type(one).__name__ != type(other).__name__:
                return False
            for name in one._fields:
                pending.append((getattr(one, name, None), getattr(other, name, None)))
            if placed and any(
                getattr(one, name, None) != getattr(other, name, None) for name in one._attributes
            ):
                return False
        elif type(one) is list:
            if type(other) is not list or len(one) != len(other):
                return False
            pending += zip(one, other, strict=True)
        elif type(one) is not type(other) or repr(one) != repr(other):
            return False
    return True
