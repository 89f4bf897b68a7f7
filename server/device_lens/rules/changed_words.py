"""What the functions of a file change, by the last word of each name or attribute."""

from __future__ import annotations

import ast

from device_lens.interpreter import scan
from device_lens.syntax.source import SourceFile

_CHANGED = "_words_changed"
"""The entry of a statement under which the words are kept that its functions change."""


def changed_words(source: SourceFile) -> set[str]:
    """The names of the file that functions bind, the attributes that they set and what they write
    into; `__init__` apart."""
    words: set[str] = set()
    for chunk in source.chunks:
        for statement in chunk.body:
            known: frozenset[str] | None = statement.__dict__.get(_CHANGED)
            if known is None:
                known = statement.__dict__[_CHANGED] = _changed(statement)
            words |= known
    return words


def _changed(statement: ast.stmt) -> frozenset[str]:
    found: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name != "__init__":
            info = scan.loop_info(node)
            found |= {text.rpartition(".")[2] for text in (*info.places, *info.mutated)}
            found |= scan.globals_of(node)
    return frozenset(found)
