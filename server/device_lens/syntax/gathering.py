"""What is read of all nodes of a statement, kept with it: who types in a long function changes few
of its statements, and each letter asks for all of them.

It is kept under a name with an underscore, which is dropped where another block is put into the
statement (`splicing.py: forget_answers`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from device_lens.syntax.walking import children

T = TypeVar("T")
Asked = Callable[[ast.AST], bool]

_HOLDING = (ast.stmt, ast.ExceptHandler, ast.match_case)
"""What statements can stand in."""


def always(_: ast.AST) -> bool:
    return True


def never(_: ast.AST) -> bool:
    return False


def gather(
    node: ast.AST,
    name: str,
    read: Callable[[ast.AST], Iterable[T]],
    enters: Asked = always,
    keeps: Asked = always,
) -> Sequence[T]:
    """What `read` gives of a node and of those below it, in the order of the text. `name` begins
    with an underscore and stands for `read` and `enters`, which says of a node whether those below
    it count; `keeps` says of a statement whether it may keep the answer, and have one already."""
    try:
        return _gather(node, name, read, enters, keeps)
    except RecursionError:  # hundreds of branches, each in the one before
        return [one for each in _below(node, enters) for one in read(each)]


def _gather(
    node: ast.AST,
    name: str,
    read: Callable[[ast.AST], Iterable[T]],
    enters: Asked,
    keeps: Asked,
) -> Sequence[T]:
    if not isinstance(node, _HOLDING):
        return [one for each in _below(node, enters) for one in read(each)]
    is_kept = isinstance(node, ast.stmt) and keeps(node)
    known: Sequence[T] | None = node.__dict__.get(name) if is_kept else None
    if known is None:
        found = [*read(node)]
        for each in children(node) if enters(node) else ():
            found += _gather(each, name, read, enters, keeps)
        known = tuple(found)  # of most there is nothing, for which there is one tuple
        if is_kept:
            node.__dict__[name] = known
    return known


def _below(node: ast.AST, enters: Asked) -> Iterator[ast.AST]:
    """A node and those below it, without a call within a call for each."""
    pending = [node]
    while pending:
        each = pending.pop()
        yield each
        if enters(each):
            pending += reversed(children(each))


def statements_of(node: ast.AST) -> Sequence[ast.stmt]:
    """A statement and those in it, those of functions and classes too."""
    return gather(node, "_statements", _itself, holds_statements)


def _itself(node: ast.AST) -> Iterable[ast.stmt]:
    return (node,) if isinstance(node, ast.stmt) else ()


def holds_statements(node: ast.AST) -> bool:
    """Whether statements may stand in a node."""
    return isinstance(node, _HOLDING)
