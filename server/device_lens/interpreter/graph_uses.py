"""Whether a backward pass uses what a loop keeps, as the texts of the functions say that ran."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from device_lens.interpreter.graph_chains import Level, reaches
from device_lens.interpreter.graph_flow import Fate, fate, stands_for_another
from device_lens.interpreter.graph_names import container_of
from device_lens.interpreter.graph_steps import base_of
from device_lens.interpreter.rarer_facts import RetainedGraph
from device_lens.syntax.walking import walk

Chains = Sequence[tuple[Level, ...]]
"""The ways by which a program got to a place."""


def is_never_used(fact: RetainedGraph, chains: Chains) -> bool:
    """Whether none uses a sum or list of a function's own, an attribute of the object whose method
    adds to it, or a list that is made there."""
    node = fact.site.node
    if isinstance(node, ast.ListComp):
        return _is_dropped(chains, set(), frozenset({node}))
    base = base_of(fact.accumulator)
    if base is None:
        return _is_attribute_never_used(fact, chains)
    if any(chain and stands_for_another(chain[0].body, base) for chain in chains):
        return False
    return _is_dropped(chains, {base}, frozenset())


def _is_dropped(chains: Chains, names: set[str], nodes: frozenset[Any]) -> bool:
    return bool(chains) and all(
        chain and reaches(chain, names, nodes) is Fate.NOTHING for chain in chains
    )


def _is_attribute_never_used(fact: RetainedGraph, chains: Chains) -> bool:
    """`self.total += loss`, in a class none of whose methods does anything with it, as far as those
    read it that made, ran and asked the object."""
    place = container_of(ast.parse(fact.accumulator, mode="eval").body)
    if not isinstance(place, ast.Attribute) or not isinstance(place.value, ast.Name):
        return False
    own: list[Any] = [
        each for part in fact.site.chunk.body for each in walk(part) if _mentions(each, place)
    ]
    if any(place.value.id != _first_parameter(each) for each in own):
        return False
    if not any(_reads(each, place.attr) for each in own):
        return False  # it is there for others
    text = ast.unparse(place)
    for method in own:
        if any(_is_what_another_holds(each, text) for each in walk(method)):
            return False
        if not any(chain and chain[0].body is method.body for chain in chains) and fate(
            method.body, {text}, frozenset()
        ):
            return False
    if any(_mentioned(part, place.attr) for each in chains for part in _outside(each, own)):
        return False
    return _is_dropped(chains, {text}, frozenset())


def _mentions(node: ast.AST, place: ast.Attribute) -> bool:
    """Whether a function that is no part of another one here has the attribute in its text."""
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _mentioned(node, place.attr)


def _mentioned(node: ast.AST, name: str) -> bool:
    return any(isinstance(each, ast.Attribute) and each.attr == name for each in walk(node))


def _reads(function: ast.AST, name: str) -> bool:
    """Whether a method reads an attribute, beyond what puts something into it or empties it."""
    changed = [
        each.value
        for each in walk(function)
        if isinstance(each, ast.Attribute) and each.attr in _CHANGES
    ]
    return any(
        isinstance(each, ast.Attribute)
        and each.attr == name
        and isinstance(each.ctx, ast.Load)
        and not any(each is other for other in changed)
        for each in walk(function)
    )


_CHANGES = frozenset("append extend insert appendleft add update clear pop popleft".split())


def _first_parameter(function: Any) -> str:
    first = [*function.args.posonlyargs, *function.args.args][:1]
    return first[0].arg if first else ""


def _is_what_another_holds(node: ast.AST, text: str) -> bool:
    """Whether a statement gives the attribute what something else holds."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Name | ast.Attribute):
        return False
    return text in map(ast.unparse, node.targets)


def _outside(chain: tuple[Level, ...], methods: list[Any]) -> list[ast.stmt]:
    """The statements of the functions on the way that are none of these methods, nor their
    classes."""
    own = [method.body for method in methods]
    found = [level.body for level in chain if not any(level.body is each for each in own)]
    return [each for body in found for each in body if not isinstance(each, ast.ClassDef)]
