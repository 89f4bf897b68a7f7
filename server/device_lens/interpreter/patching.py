"""Tells whether two versions of a file differ in nothing but the bodies of functions.

Then every name, class and function is what it was, and only what ran those bodies must run again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from device_lens.syntax.alike import alike

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Pairs = list[tuple[Any, Any]]


def replaced(old: Sequence[Any], new: Sequence[Any]) -> Pairs | None:
    """The chunks of two versions that are not shared, in pairs; None where they do not pair."""
    if len(old) != len(new):
        return None
    return list(zip(*unshared(old, new), strict=True))


def unshared(old: Sequence[Any], new: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    """The chunks of two versions between those that they share at both ends."""
    head = 0
    most = min(len(old), len(new))
    while head < most and old[head] is new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] is new[-1 - tail]:
        tail += 1
    return old[head : len(old) - tail], new[head : len(new) - tail]


def definitions(old: Sequence[ast.stmt], new: Sequence[ast.stmt]) -> Pairs | None:
    """The functions and classes of two stretches of code, in pairs; None where anything differs
    but the bodies of functions, or where one that stayed is in another's place."""
    found: Pairs = []
    if not _paired(old, new, found):
        return None
    apart = {before for before, _ in found}.isdisjoint(after for _, after in found)
    return found if apart else None


def spliced(old: Sequence[Any], new: Sequence[Any]) -> tuple[Any, Any] | None:
    """The only chunk in which two versions differ, in both, where the later one has taken over the
    statements of the earlier one."""
    pairs = replaced(old, new)
    if pairs is None or len(pairs) != 1:
        return None
    before, after = pairs[0]
    follows = after.lineage is before.lineage and after.revision == before.revision + 1
    return (before, after) if follows and after.splice is not None else None


def defined_in(body: Sequence[ast.stmt]) -> Iterator[Definition]:
    """The functions and classes of a stretch of code, those inside functions left out."""
    for statement in body:
        if isinstance(statement, Definition):
            yield statement
        if isinstance(statement, ast.ClassDef):
            yield from defined_in(statement.body)


def _paired(old: Sequence[ast.stmt], new: Sequence[ast.stmt], found: Pairs) -> bool:
    return len(old) == len(new) and all(
        _alike(left, right, found) for left, right in zip(old, new, strict=True)
    )


def _alike(old: ast.stmt, new: ast.stmt, found: Pairs) -> bool:
    if old is new:
        return True
    if type(old) is not type(new):
        return False
    if isinstance(old, ast.FunctionDef | ast.AsyncFunctionDef):
        found.append((old, new))
        return _same_but(old, new, ("body",))
    if isinstance(old, ast.ClassDef):
        found.append((old, new))
        assert isinstance(new, ast.ClassDef)
        return _same_but(old, new, ("body",)) and _paired(old.body, new.body, found)
    if isinstance(old, ast.If | ast.Try | ast.With | ast.For | ast.While):
        blocks = [name for name in ("body", "orelse", "finalbody") if hasattr(old, name)]
        return _same_but(old, new, tuple(blocks)) and all(
            _paired(getattr(old, name), getattr(new, name), found) for name in blocks
        )
    if _is_text(old) and _is_text(new):
        return True
    return alike(old, new)


def _is_text(statement: ast.stmt) -> bool:
    """A docstring, or any other string that stands alone."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _same_but(old: ast.stmt, new: ast.stmt, blocks: tuple[str, ...]) -> bool:
    """Whether two statements say the same outside of their blocks."""
    return all(
        _same(getattr(old, name, None), getattr(new, name, None))
        for name in old._fields
        if name not in blocks
    )


def _same(old: Any, new: Any) -> bool:
    if isinstance(old, list):
        return len(old) == len(new) and all(map(_same, old, new))
    if isinstance(old, ast.AST):
        return alike(old, new)
    return bool(old == new)
