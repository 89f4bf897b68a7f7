"""Lists, deques and dicts that let go of items, or of their graphs, as others come, and so keep few
graphs."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from device_lens.domain.heap import ListObject
from device_lens.interpreter.graph_flow import may_hold
from device_lens.interpreter.graph_names import container_of
from device_lens.syntax.gathering import gather
from device_lens.syntax.walking import walk

_TAKING_OUT = frozenset("pop popleft popitem remove clear".split())


def lets_go(run: ast.AST, holders: frozenset[str] | None, container: ast.expr) -> bool:
    """Whether a loop or function takes items out of a container which its names hold, or their
    graphs; None: what outlives the calls does, under the container's own name or attribute."""
    names = {_called(container)} if holders is None else holders
    return not names.isdisjoint(gather(run, "_taken_out_of", _taken_out_of))


def is_bounded(container: Any) -> bool:
    """Whether a deque lets go of its first items by itself."""
    return type(container) is ListObject and container.fields.get("bound") is not None


def _taken_out_of(node: ast.AST) -> Iterable[str]:
    match node:
        case ast.Call(func=ast.Attribute(value=whole, attr=method)) if method in _TAKING_OUT:
            return (_called(whole),)
        case ast.Delete(targets=targets):
            return [_called(each) for each in targets if isinstance(each, ast.Subscript)]
        case ast.Assign(targets=[target], value=value):
            name = _called(target)
            some = any(_is_some_of(name, part) for part in walk(value))
            return (name,) if some or _drops_graphs(name, target, value) else ()
    return ()


def _drops_graphs(name: str, target: ast.expr, value: ast.expr) -> bool:
    """`found = [each.detach() for each in found]`, or `found[-1] = found[-1].item()`."""
    text = ast.unparse(target) if isinstance(target, ast.Subscript) else name
    return (
        name.isidentifier()
        and any(_called(part) == name and ast.unparse(part) == text for part in walk(value))
        and not may_hold(value, name)
    )


def _is_some_of(name: str, node: ast.AST) -> bool:
    """`found[-4:]`, or a comprehension that leaves items out."""
    match node:
        case ast.Subscript(value=whole, slice=ast.Slice()):
            return _called(whole) == name
        case ast.ListComp(generators=[one]) | ast.DictComp(generators=[one]) if one.ifs:
            return any(_called(part) == name for part in walk(one.iter))
    return False


def _called(node: ast.AST) -> str:
    """The name of what an expression takes an item of; an attribute with its dot, whoever has
    it."""
    match container_of(node) if isinstance(node, ast.expr) else None:
        case ast.Name(id=name):
            return name
        case ast.Attribute(attr=name):
            return f".{name}"
        case ast.Call(args=[inner, *_]):
            return _called(inner)
    return ""
