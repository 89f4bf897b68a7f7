"""All nodes of a tree, as `ast.walk` gives them, for what is asked at each keystroke."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it, those further up first. Two to three times as fast as `ast.walk`,
    which makes two generators for each node. What tells only how a name is used (`ast.Load` and
    the like) is left out."""
    found: list[ast.AST] = [node]
    for each in found:
        yield each
        for name in each._fields:
            if name == "ctx":
                continue
            value = getattr(each, name, None)
            if isinstance(value, ast.AST):
                found.append(value)
            elif type(value) is list:
                found += [item for item in value if isinstance(item, ast.AST)]


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one, as `ast.iter_child_nodes` gives them, without what tells only how
    a name is used."""
    found: list[ast.AST] = []
    for name in node._fields:
        if name == "ctx":
            continue
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            found.append(value)
        elif type(value) is list:
            found += [item for item in value if isinstance(item, ast.AST)]
    return found
