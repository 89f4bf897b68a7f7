"""Whether two values of a step come out of one graph, told from the text of the step."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from device_lens.syntax.names import last_name
from device_lens.syntax.walking import children, walk

_BINDING = "_bindings_within"
"""The entry of a node under which its bindings are kept, for as long as the node lives."""
_CUTTING = frozenset("detach detach_ item tolist numpy argmax argmin size stop_gradient".split())
"""Calls whose result has no graph."""
_ASIDE = frozenset("data shape device dtype grad".split())
"""Attributes that have none."""

_HOLDING = (ast.expr, ast.keyword, ast.comprehension)

Bindings = dict[str, list[tuple[ast.expr, frozenset[str]]]]
"""What a step binds: where each name stands, and the names that its value is computed of."""


def share_graph(
    run: ast.AST,
    some: Iterable[str],
    others: Iterable[str],
    has_graph: Callable[[ast.expr], object],
) -> bool:
    """Whether what `some` names and what `others` hold is computed of one thing that the step has
    computed with gradients: a backward pass of the one frees what that of the other needs.
    `has_graph`: whether a name was seen to have a graph where it is bound."""
    bindings = _bindings(run)
    common = _sources(bindings, some) & _sources(bindings, others)
    return any(all(has_graph(target) for target, _ in bindings[name]) for name in common)


def is_computed_of(run: ast.AST, value: ast.expr, names: set[str]) -> bool:
    """Whether a value that a function gives is computed, with its graph, of what it names."""
    return not names.isdisjoint(
        {*read_with_graph(value), *_sources(_bindings(run), read_with_graph(value))}
    )


def is_bound_once(run: Any, name: str) -> bool:
    """Whether a step binds a name at one place at most."""
    return len(_bindings(run).get(name, ())) < 2


def _sources(bindings: Bindings, names: Iterable[str]) -> set[str]:
    """The names that a step binds of which others are computed, these among them."""
    pending = list(names)
    found: set[str] = set()
    while pending:
        name = pending.pop()
        if name in bindings and name not in found:
            found.add(name)
            pending += frozenset().union(*(read for _, read in bindings[name]))
    return found


def _bindings(run: ast.AST) -> Bindings:
    known: Bindings | None = run.__dict__.get(_BINDING)
    if known is None:
        known = run.__dict__[_BINDING] = {}
        for node in walk(run):
            if not isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            read = frozenset(() if node.value is None else read_with_graph(node.value))
            for each in (part for target in targets for part in walk(target)):
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                    known.setdefault(each.id, []).append((each, read))
    return known


def read_with_graph(value: ast.AST) -> Iterable[str]:
    """The names of which an expression is computed with its graph."""
    if isinstance(value, ast.Call) and last_name(value.func) in _CUTTING:
        return ()
    if isinstance(value, ast.Attribute) and value.attr in _ASIDE:
        return ()
    if isinstance(value, ast.Name):
        return (value.id,)
    below = (each for each in children(value) if isinstance(each, _HOLDING))
    parts = (each.value if isinstance(each, ast.keyword) else each for each in below)
    return [name for part in parts for name in read_with_graph(part)]
