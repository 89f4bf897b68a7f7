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
    words = {name for each in statements for name in _names(each)}
    rest = [chunk for chunk in new.chunks if chunk not in come]
    if any(not words.isdisjoint(mentioned(chunk)) for chunk in rest):
        return False
    bound = {name for each in statements if isinstance(each, ast.Assign) for name in _names(each)}
    return not bound or not any(_is_seen(bound, each) for each in others)


_MENTIONED: WeakKeyDictionary[Chunk, frozenset[str]] = WeakKeyDictionary()


def mentioned(chunk: Chunk) -> frozenset[str]:
    """The names that a statement uses or binds, those of attributes and texts too; all its words
    where it may look names up otherwise."""
    known = _MENTIONED.get(chunk)
    if known is None:
        nodes = [node for statement in chunk.body for node in ast.walk(statement)]
        found = (name for node in nodes for name in identifiers(node))
        looks_up = any(map(_looks_up, nodes))
        known = _MENTIONED[chunk] = frozenset(_WORD.findall(chunk.text) if looks_up else found)
    return known


def _looks_up(node: ast.AST) -> bool:
    if isinstance(node, ast.alias):
        return node.name == "*"
    is_modules = isinstance(node, ast.Attribute) and node.attr == "modules"
    return is_modules or looks_up_texts(node)


def _is_seen(names: set[str], file: Any) -> bool:
    """Whether another file, which imports this one, may mention a name."""
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
