"""The node around each node of a chunk.

What is inside of one statement is known as long as there is the statement, in later versions of
its chunk too: typing leaves most of them as they are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from device_lens.syntax.chunk import Chunk
from device_lens.syntax.walking import children

Block = ast.stmt | ast.ExceptHandler | ast.match_case
_INSIDE = "_inside"


class Above:
    """The nodes around those of one version of a chunk."""

    def __init__(self, chunk: Chunk) -> None:
        self._body = chunk.body
        self._around: dict[ast.AST, ast.AST | None] = {}

    def get(self, node: ast.AST) -> ast.AST | None:
        """The node around a node; None around a top-level statement and for other nodes."""
        if node not in self._around:
            self._look_for(node)
        return self._around.get(node)

    def _look_for(self, node: ast.AST) -> None:
        line = getattr(node, "lineno", None)
        pending: list[tuple[Block, Block | None]] = [(each, None) for each in self._body]
        while pending and node not in self._around:
            block, around = pending.pop()
            self._around[block] = around
            if line is None or _covers(block, line):
                self._around.update(_inside(block))
                pending += [(inner, block) for inner in _inner_blocks(block)]


_KNOWN: WeakKeyDictionary[Chunk, Above] = WeakKeyDictionary()


def above(chunk: Chunk) -> Above:
    """The nodes around those of a chunk, found once."""
    known = _KNOWN.get(chunk)
    if known is None:
        known = _KNOWN[chunk] = Above(chunk)
    return known


def _inner_blocks(node: ast.AST) -> Iterator[Block]:
    """The statements and clauses directly inside a node."""
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        for child in getattr(node, name, ()):
            if isinstance(child, Block):
                yield child


def _covers(block: ast.AST, line: int) -> bool:
    """Whether a block may have a line; a clause of `match` does not tell where it stands."""
    first = getattr(block, "lineno", None)
    if first is None:
        return True
    decorators: list[ast.expr] = getattr(block, "decorator_list", [])
    first = min([first, *(each.lineno for each in decorators)])
    return bool(first <= line <= getattr(block, "end_lineno", line))


def _inside(block: ast.AST) -> dict[ast.AST, ast.AST]:
    """The nodes of a statement or clause, blocks left out, each with the node around it."""
    known: dict[ast.AST, ast.AST] | None = block.__dict__.get(_INSIDE)
    if known is None:
        known = block.__dict__[_INSIDE] = {}
        pending = [block]
        while pending:
            node = pending.pop()
            for child in children(node):
                if not isinstance(child, Block):
                    known[child] = node
                    pending.append(child)
    return known
