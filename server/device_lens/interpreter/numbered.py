"""Loops whose turns have numbers that make names, `layers[f"conv{i}"]` and
`getattr(self, f"block{i}")`: each turn is about something of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from device_lens.domain.heap import ListObject
from device_lens.domain.values import Const
from device_lens.interpreter.scan import names_bound, names_read, own_nodes, replaces_own_items
from device_lens.models.numbers import NUMBERS
from device_lens.syntax.walking import walk

MAX_NAMED = 12
"""Turns that are taken one by one where each gives a name to something."""
_BY_NAME = "_goes_by_name"
"""The entry of a node under which its answer is kept."""
_FUNCTIONS = frozenset({"getattr", "setattr", "hasattr", "delattr"})
_METHODS = frozenset(
    "__getattr__ __setattr__ add_module register_module register_buffer register_parameter "
    "get_submodule get_parameter get_buffer".split()
)


def each_number(iterable: Any, most: int = MAX_NAMED) -> Any:
    """A range with its numbers one by one, where these are known and not too many; anything else
    as it is."""
    if not has_numbers(iterable):
        return iterable
    numbers = iterable.fields[NUMBERS]
    if len(numbers) > most:
        return iterable
    return ListObject(tuple(map(Const, numbers)), None, "range", iterable.site)


def has_numbers(iterable: Any) -> bool:
    """Whether this is a range of which all numbers are known, though not told one by one."""
    return type(iterable) is ListObject and type(iterable.fields.get(NUMBERS)) is range


def goes_by_name(node: Any, body: Sequence[ast.AST]) -> bool:
    """Whether the text of a loop, or of a comprehension's generator, stores something under a word
    that it makes of what it is at, or reads or calls what is there (`layers["conv", i](x)`)."""
    known: bool | None = node.__dict__.get(_BY_NAME)
    if known is None:
        known = node.__dict__[_BY_NAME] = _goes_by_name(node.target, body)
    return known


def _goes_by_name(target: ast.expr, body: Sequence[ast.AST]) -> bool:
    names, nodes = names_read(target), list(own_nodes(body))
    keys = [key for each in nodes for key in _key_of(each)]
    if not keys:
        return False
    words = {name for each in nodes for name in _words_bound(each, names)}
    return any(
        _is_word_of(key, names) or (isinstance(key, ast.Name) and key.id in words) for key in keys
    )


def _words_bound(node: Any, names: set[str]) -> Iterator[str]:
    """The names that an assignment binds to a word of what a loop is at."""
    if isinstance(node, ast.Assign) and _is_word_of(node.value, names):
        for target in node.targets:
            yield from names_bound(target)


def _key_of(node: Any) -> Iterator[ast.expr]:
    """The key or name under which a node stores something, reads an attribute, or calls what is
    there."""
    match node:
        case ast.Subscript(slice=key, ctx=ast.Store()) | ast.Call(func=ast.Subscript(slice=key)):
            yield key
        case ast.Call(func=ast.Name(id=name), args=[_, key, *_]) if name in _FUNCTIONS:
            yield key
        case ast.Call(func=ast.Attribute(attr=name), args=[key, *_]) if name in _METHODS:
            yield key


def _is_word_of(key: ast.expr, names: set[str]) -> bool:
    parts = list(walk(key))
    mentions = any(isinstance(part, ast.Name) and part.id in names for part in parts)
    return mentions and any(
        (isinstance(part, ast.Constant) and isinstance(part.value, str))
        or (isinstance(part, ast.Name) and part.id == "str")
        for part in parts
    )


def one_by_one(node: ast.For | ast.AsyncFor, iterable: Any, most: int) -> Any:
    """What a loop goes through; the numbers of a range each by itself where the body replaces the
    item of a list that has the number, or goes by a name that has it: which ones it has stored is
    not known otherwise."""
    if not has_numbers(iterable):
        return iterable
    if goes_by_name(node, node.body):
        return each_number(iterable)
    replaces = replaces_own_items(node)
    return each_number(iterable, most) if replaces else iterable
