"""Finds nodes of a snippet by their text, and applies what a rewriting makes of them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from textwrap import dedent

from device_lens.fixes.edit import Fix, apply_edits
from device_lens.fixes.place import Place
from device_lens.syntax.source import SourceFile, parse


def source_of(text: str) -> SourceFile:
    return parse("a.py", text)


def find(source: SourceFile, text: str, kind: type[ast.AST] = ast.AST, nth: int = 0) -> Place:
    """The `nth` node, from the top, whose source begins with `text` and is of the kind."""
    found = [
        place
        for chunk in source.chunks
        for statement in chunk.body
        for node in ast.walk(statement)
        if isinstance(node, kind) and hasattr(node, "lineno")
        for place in [Place(source, chunk, node)]
        if place.text.startswith(text)
    ]
    exact = [place for place in found if place.text == text] or found
    return sorted(exact, key=lambda place: place.range)[nth]


def rewritten(
    text: str, rewrite: Callable[[SourceFile], Fix | None], *, newline: str = "\n"
) -> str | None:
    """The dedented snippet after the fix that `rewrite` makes; None where it makes none. What
    comes out must parse."""
    whole = dedent(text).replace("\n", newline)
    fix = rewrite(source_of(whole))
    if fix is None:
        return None
    after = apply_edits(whole, fix.edits)
    ast.parse(after)
    return after


def expected(text: str, newline: str = "\n") -> str:
    return dedent(text).replace("\n", newline)
