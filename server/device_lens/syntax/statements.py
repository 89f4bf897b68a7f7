"""The statement around a place, and the part of it that a comment or a fix concerns."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from device_lens.syntax.position import Position, Range
from device_lens.syntax.scanner import is_blank
from device_lens.syntax.source import Chunk, SourceFile


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a file, at absolute places."""

    chunk: Chunk
    node: ast.stmt
    range: Range
    """Decorators included."""
    header: Range
    """Up to the line before the block; the whole range of a simple statement."""
    parents: tuple[ast.stmt, ...]
    """The statements around it, outermost first."""


def innermost_statement(file: SourceFile, place: Position | Range) -> Statement | None:
    """The smallest statement that covers a place; None between statements."""
    where = place if isinstance(place, Range) else Range(place, place)
    chunk = file.chunk_at(where.start.line)
    if chunk is None:
        return None
    relative = where.shifted(-file.start_of(chunk))
    parents: list[ast.stmt] = []
    found: ast.stmt | None = None
    inner = _covering(chunk, iter(chunk.body), relative)
    while inner is not None:
        if found is not None:
            parents.append(found)
        found = inner
        inner = _covering(chunk, child_statements(found), relative)
    if found is None:
        return None
    start = file.start_of(chunk)
    full, header = full_range(chunk, found), header_range(chunk, found)
    return Statement(chunk, found, full.shifted(start), header.shifted(start), tuple(parents))


def enclosing_statement(file: SourceFile, place: Position | Range) -> Range | None:
    """The range of the smallest statement that covers a place."""
    found = innermost_statement(file, place)
    return None if found is None else found.range


def suppression_scope(file: SourceFile, place: Position | Range) -> Range:
    """The range whose first and last line can carry an ignore comment for a place: the
    statement, or a compound statement's header; the place itself between statements."""
    found = innermost_statement(file, place)
    if found is not None:
        return found.header
    return place if isinstance(place, Range) else Range(place, place)


def child_statements(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements directly inside a compound statement, clause by clause."""
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        for child in getattr(node, name, ()) if not isinstance(node, ast.expr) else ():
            if isinstance(child, ast.stmt):
                yield child
            else:
                yield from child_statements(child)


def full_range(chunk: Chunk, node: ast.stmt) -> Range:
    """A statement's range relative to its chunk, decorators included."""
    where = chunk.range(node)
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    if not decorators:
        return where
    first = chunk.range(decorators[0]).start
    return Range(Position(first.line, where.start.column), where.end)


def header_range(chunk: Chunk, node: ast.stmt) -> Range:
    """A statement's range without its block, relative to its chunk."""
    where = full_range(chunk, node)
    first = next(child_statements(node), None)
    if first is None:
        return where
    block = full_range(chunk, first).start
    line = block.line - 1
    while line > where.start.line and is_blank(chunk.line(line)):
        line -= 1
    if line < where.start.line:
        return Range(where.start, block)
    return Range(where.start, Position(line, len(chunk.line(line))))


def _covering(chunk: Chunk, nodes: Iterator[ast.stmt], where: Range) -> ast.stmt | None:
    # Bytes are no fewer than characters: what ends too early in bytes does so in characters.
    end = (where.end.line + chunk.first_line, where.end.column)
    late = (
        node
        for node in nodes
        if ((node.end_lineno or node.lineno), node.end_col_offset or 0) >= end
    )
    return next((node for node in late if full_range(chunk, node).covers(where)), None)
