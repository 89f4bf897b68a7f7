"""Top-level statements that are being typed and say nothing yet: a bare word, a name that nobody
uses for a number or for what stands for a broken statement. A module with other ones is the same to
everybody."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

from device_lens.interpreter import patching
from device_lens.interpreter.stretch import identifiers, looks_up_texts
from device_lens.syntax.chunk import Chunk
from device_lens.syntax.splicing import MARK

_WORD = re.compile(r"[^\W\d]\w*")


def is_all(old: Any, new: Any, others: Iterable[Any]) -> bool:
    """Whether two versions of a file differ in nothing but such statements. `others` are the
    files that may mention what it binds."""
    gone, come = patching.unshared(old.chunks, new.chunks)
    chunks = (*gone, *come)
    statements = [each for chunk in chunks for each in chunk.body]
    if not all(map(_says_nothing, statements)) or any(MARK in chunk.text for chunk in chunks):
        return False
    if any(isinstance(each, ast.Expr) for each in statements) and "import *" in new.text:
        return False  # a bare word may be a name that another module has
    words = {name for each in statements for name in _names(each)}
    rest = [chunk for chunk in new.chunks if chunk not in come]
    if any(not words.isdisjoint(mentioned(chunk)) for chunk in rest):
        return False
    binds = bound(old, new)
    return not binds or not any(is_seen(binds, each) for each in others)


def bound(old: Any, new: Any) -> frozenset[str]:
    """The names that statements bind which only one of two versions has."""
    chunks = [chunk for part in patching.unshared(old.chunks, new.chunks) for chunk in part]
    return frozenset(
        name
        for chunk in chunks
        for each in chunk.body
        if isinstance(each, ast.Assign)
        for name in _names(each)
    )


_MENTIONED: WeakKeyDictionary[Chunk, frozenset[str]] = WeakKeyDictionary()


def mentioned(chunk: Chunk) -> frozenset[str]:
    """The names that a statement uses or binds, those of attributes and texts too; all its words
    where it may look names up otherwise."""
    known = _MENTIONED.get(chunk)
    if known is None:
        nodes = [node for statement in chunk.body for node in ast.walk(statement)]
        found = (name for node in nodes for name in identifiers(node))
        by_text = any(map(looks_up, nodes))
        known = _MENTIONED[chunk] = frozenset(_WORD.findall(chunk.text) if by_text else found)
    return known


def looks_up(node: ast.AST) -> bool:
    """Whether a node may look names of a module up by their texts."""
    if isinstance(node, ast.alias):
        return node.name == "*"
    is_modules = isinstance(node, ast.Attribute) and node.attr == "modules"
    return is_modules or looks_up_texts(node)


def is_seen(names: frozenset[str], file: Any) -> bool:
    """Whether another file may mention a name of a module."""
    return (
        any(
            any(name in chunk.text for name in names) and not names.isdisjoint(mentioned(chunk))
            for chunk in file.chunks
        )
        or "import *" in file.text
    )


def _says_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Pass):
        return True
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Name)
    return (
        isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Constant)
        and not isinstance(statement.value.value, str | bytes)
        and all(isinstance(each, ast.Name) for each in _targets(statement))
    )


def _targets(statement: ast.Assign) -> list[ast.expr]:
    found = []
    for target in statement.targets:
        found += target.elts if isinstance(target, ast.Tuple) else [target]
    return found


def _names(statement: ast.stmt) -> list[str]:
    return [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
