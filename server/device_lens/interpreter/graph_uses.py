"""Whether a backward pass uses what a loop keeps, as the texts of the functions say that ran."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from device_lens.interpreter.doings import first_parameter
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
    """`self.total += loss`, as far as those tell that ran the method and asked for its answer.
    What other methods do with it the rule asks of their class (`is_read_alone`)."""
    place = _attribute(fact.accumulator)
    if place is None:
        return False
    own = [each for part in fact.site.chunk.body for each in walk(part) if _mentions(each, place)]
    if any(_mentioned(part, place.attr) for each in chains for part in _outside(each, own)):
        return False
    return _is_dropped(chains, {ast.unparse(place)}, frozenset())


def is_read_alone(accumulator: str, method: ast.AST | None, statements: Iterable[ast.stmt]) -> bool:
    """Whether an attribute that a `method` adds to, of a class among some statements, is read in
    that class, and none of its methods does anything with its graph."""
    place = _attribute(accumulator)
    if place is None:
        return False
    own: list[Any] = [e for part in statements for e in walk(part) if _mentions(e, place)]
    if any(place.value.id != first_parameter(each) for each in own):
        return False
    if not any(_reads(each, place.attr) for each in own):
        return False  # it is there for others
    text = ast.unparse(place)
    return not any(
        any(_is_what_another_holds(node, text) for node in walk(each))
        or (each is not method and fate(each.body, {text}, frozenset()))
        for each in own
    )


def _attribute(accumulator: str) -> Any:
    """The attribute of a name that holds the sum or list; None where another place does."""
    place = container_of(ast.parse(accumulator, mode="eval").body)
    is_one = isinstance(place, ast.Attribute) and isinstance(place.value, ast.Name)
    return place if is_one else None


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
