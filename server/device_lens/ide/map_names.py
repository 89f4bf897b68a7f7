"""What a device map looks up while it walks through a program: facts by node, names as text."""

from __future__ import annotations

import ast

from device_lens.domain.trail import Site
from device_lens.ide.map_graph import Ids
from device_lens.ide.places import text_of
from device_lens.interpreter.facts import Expression, FileFacts, Kind

LONGEST_LABEL = 28
_DRAWN = (Kind.TENSOR, Kind.MODULE, Kind.DATALOADER, Kind.CONTAINER)


class Known:
    """The facts of a file by the node that they are about."""

    def __init__(self, facts: FileFacts) -> None:
        self._expressions = {
            id(each.site.node): each for each in facts.expressions if each.kind in _DRAWN
        }
        self.transfers = {
            id(each.site.node): each for each in facts.transfers if each.moves and each.called
        }
        self.waits = {id(each.site.node): each for each in facts.synchronizations}

    def fact(self, node: ast.AST) -> Expression | None:
        """What is known of an expression that a map may draw."""
        return self._expressions.get(id(node))

    def module_of(self, func: ast.expr) -> Expression | None:
        """The module that a call runs: itself, or by a method."""
        fact = self.fact(func)
        if fact is None and isinstance(func, ast.Attribute):
            fact = self.fact(func.value)
        return fact if fact is not None and fact.kind is Kind.MODULE else None


def arguments_of(call: ast.Call) -> list[ast.expr]:
    """What a call is given, in order."""
    return [*call.args, *(each.value for each in call.keywords)]


def label_of(site: Site, facts: FileFacts) -> str:
    """The text of an expression on one line, cut where it is long."""
    text = " ".join(text_of(facts.source, site).split())
    return text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"


def is_named(node: ast.AST) -> bool:
    return name_of(node) is not None


def name_of(node: ast.AST) -> str | None:
    """A name, or attributes of one, as text."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = name_of(node.value)
        return None if base is None else f"{base}.{node.attr}"
    return None


def pairs_of(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """What is assigned to what: the items of `a, b = x, y` one by one."""
    sequences = ast.Tuple | ast.List
    if isinstance(target, sequences) and isinstance(value, sequences):
        starred = any(isinstance(each, ast.Starred) for each in (*target.elts, *value.elts))
        if len(target.elts) == len(value.elts) and not starred:
            return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def parts_of(node: ast.AST) -> list[ast.AST]:
    return [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr | ast.keyword)]


def union(*several: Ids) -> Ids:
    return tuple(dict.fromkeys(each for ids in several for each in ids))
