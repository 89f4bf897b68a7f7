"""Whether the variable of a loop is used outside of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from device_lens.fixes.names import is_local, of_comprehension
from device_lens.fixes.place import FUNCTIONS, LOOPS, Place
from device_lens.syntax.names import names_in
from device_lens.syntax.walking import walk


def outlives(loop: Place, name: str) -> bool:
    """Whether the program may use what a variable holds once a loop is over: it reads or deletes
    it below the loop, or above it in another loop around both, reads it in a function, or has it as
    the attribute of a class."""
    scope = next((n for n in loop.ancestors() if isinstance(n, (*FUNCTIONS, ast.ClassDef))), None)
    if isinstance(scope, ast.ClassDef):
        return True
    return any(_may_follow(loop, use, name) for use in _uses(loop, name))


def _uses(loop: Place, name: str) -> Iterator[Place]:
    """Where the variable is read or deleted, or told to be one of the file's or of a function
    around."""
    function = loop.function
    if function is not None:
        places = (loop.at(node) for node in walk(function))
    else:
        places = (
            Place(loop.source, chunk, node)
            for chunk in loop.source.chunks
            if name in chunk.text
            for statement in chunk.body
            for node in walk(statement)
        )
    for place in places:
        node = place.node
        if isinstance(node, ast.Global | ast.Nonlocal):
            if name in node.names:
                yield place
        elif isinstance(node, ast.Name) and node.id == name and not _binds(node):
            yield place


def _binds(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _may_follow(loop: Place, use: Place, name: str) -> bool:
    if isinstance(use.node, ast.Global | ast.Nonlocal):
        return True
    around = list(use.ancestors())
    if loop.node in around or of_comprehension(use, name):
        return False
    own = loop.function
    inner = [node for node in around if isinstance(node, FUNCTIONS)]
    inner = inner[: inner.index(own)] if own in inner else inner
    if inner:
        return not any(is_local(each, name) for each in inner)
    if _bound_by_loop(around, use, name):
        return False
    again = any(isinstance(each, LOOPS) for each in loop.ancestors() if each in around)
    return again or use.range.start >= loop.range.end


def _bound_by_loop(around: list[ast.AST], use: Place, name: str) -> bool:
    """Whether another loop around a use has bound the name itself."""
    return any(
        isinstance(node, ast.For)
        and name in names_in(node.target)
        and _is_in(node.body, around, use)
        for node in around
    )


def _is_in(body: list[ast.stmt], around: list[ast.AST], use: Place) -> bool:
    return any(each is use.node or each in around for each in body)
