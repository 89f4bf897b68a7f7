"""Keeps the methods of a class that an edit of another one left alone.

A class is one chunk, and typing in one of its methods makes a new one. The methods whose text
stands where it stood go over into it as they are, so that what is known of them holds on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from device_lens.syntax.chunk import Chunk
from device_lens.syntax.twins import move

Method = ast.FunctionDef | ast.AsyncFunctionDef


def graft(old: Chunk, new: Chunk) -> Chunk:
    """The new chunk with the old one's methods wherever they are the same, at the same lines."""
    before, after = _class_of(old), _class_of(new)
    if before is None or after is None:
        return new
    moved = old.first_line - new.first_line
    lines, other_lines = old.text.split("\n"), new.text.split("\n")
    known = {_lines(method): method for method in _methods(before)}
    kept: dict[int, ast.stmt] = {}
    for index, statement in enumerate(after.body):
        if not isinstance(statement, Method):
            continue
        first, last = _lines(statement)
        same = known.get((first + moved, last + moved))
        start, stop = first - new.first_line, last - new.first_line + 1
        if same is None or lines[start:stop] != other_lines[start:stop]:
            continue
        if not (_leads_out(old, start, stop) or _leads_out(new, start, stop)):
            kept[index] = same
    if not kept:
        return new
    if moved:
        for index, statement in enumerate(after.body):
            if index not in kept:
                move(statement, moved)
        _move_head(after, moved)
    for index, method in kept.items():
        after.body[index] = method
    return replace(new, first_line=old.first_line, lineage=old.lineage)


def _leads_out(chunk: Chunk, start: int, stop: int) -> bool:
    """Whether something broken begins in some lines and goes on behind them, where it may have
    changed: what stands for it is in its first line alone."""
    return any(start <= first < stop < last for first, last in chunk.mended)


def _class_of(chunk: Chunk) -> ast.ClassDef | None:
    only = chunk.body[0] if len(chunk.body) == 1 else None
    return only if isinstance(only, ast.ClassDef) else None


def _methods(node: ast.ClassDef) -> Iterator[Method]:
    for statement in node.body:
        if isinstance(statement, Method):
            yield statement


def _lines(method: Method) -> tuple[int, int]:
    """The first line of a method with its decorators, and its last."""
    first = min([method.lineno, *(each.lineno for each in method.decorator_list)])
    return first, method.end_lineno or first


def _move_head(node: ast.ClassDef, moved: int) -> None:
    """Moves a class without its body."""
    for part in (*node.bases, *node.keywords, *node.decorator_list):
        move(part, moved)
    node.lineno += moved
    if node.end_lineno is not None:
        node.end_lineno += moved
