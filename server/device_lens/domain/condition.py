"""Conditions: decision trees whose leaves are truth values, and the connectives over them.

Answers are remembered by the identities of what they are about, for each part of a condition: one
whose parts occur many times is not walked once for each way to them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from device_lens.domain.atom import Atom
from device_lens.domain.guard import MOST_CASES, Guarded, Literals, assume_all, node, side

MOST_REMEMBERED = 4_096
"""Answers kept of each operation on conditions: a program asks for few of them, again and again."""

_BOTH: dict[Any, Any] = {}
_EITHER: dict[Any, Any] = {}
_APART: dict[Any, Any] = {}
_WITHIN: dict[Any, Any] = {}
_OPPOSITE: dict[Any, Any] = {}
"""Answers with the conditions that they are about, which keep their identities."""


def conjunction(left: Any, right: Any) -> Any:
    if left is True or left is right:
        return right
    if right is True or left is False:
        return left
    if right is False:
        return False
    return _connected(_BOTH, conjunction, left, right)


def exclude(left: Any, right: Any) -> bool:
    """Whether two conditions never hold together."""
    if left is False or right is False:
        return True
    if left is True or right is True or left is right:
        return False
    return _throughout(_APART, exclude, left, right)


def implies(left: Any, right: Any) -> bool:
    """Whether the second condition holds wherever the first one does."""
    if left is False or right is True or left is right:
        return True
    if left is True or right is False:
        return False
    return _throughout(_WITHIN, implies, left, right)


def together(literals: Literals, where: Any = True) -> Any:
    """The condition that atoms have these values, where another one holds."""
    for atom, value in literals:
        where = conjunction(where, node(atom, value, not value))
    return where


def negation(condition: Any) -> Any:
    if type(condition) is not Guarded:
        return not condition
    key = id(condition)
    known = _OPPOSITE.get(key)
    if known is not None:
        return known[0]
    result = node(condition.atom, negation(condition.yes), negation(condition.no))
    _remember(_OPPOSITE, key, (result, condition))
    return result


def disjunction(left: Any, right: Any) -> Any:
    if left is True or right is False or left is right:
        return left
    if left is False or right is True:
        return right
    return _connected(_EITHER, disjunction, left, right)


def _connected(
    table: dict[Any, Any], connective: Callable[[Any, Any], Any], left: Guarded, right: Guarded
) -> Any:
    """A connective of two conditions, from those of their parts."""
    key = (id(left), id(right))
    known = table.get(key)
    if known is not None:
        return known[0]
    first = left.atom if left.atom.order <= right.atom.order else right.atom
    yes = connective(side(left, first, True), side(right, first, True))
    no = connective(side(left, first, False), side(right, first, False))
    result = node(first, yes, no)
    _remember(table, key, (result, left, right))
    return result


def _throughout(
    table: dict[Any, Any], question: Callable[[Any, Any], bool], left: Guarded, right: Guarded
) -> bool:
    """Whether something is so of two conditions in both their parts."""
    key = (id(left), id(right))
    known = table.get(key)
    if known is not None:
        return bool(known[0])
    first = left.atom if left.atom.order <= right.atom.order else right.atom
    result = question(side(left, first, True), side(right, first, True)) and question(
        side(left, first, False), side(right, first, False)
    )
    _remember(table, key, (result, left, right))
    return result


def _remember(table: dict[Any, tuple[Any, ...]], key: Any, entry: tuple[Any, ...]) -> None:
    """Keeps an answer, with the trees whose identity is its key."""
    if len(table) >= MOST_REMEMBERED:
        table.clear()
    table[key] = entry


def settled(condition: Any, text: str = "") -> Any:
    """The condition; one that nothing decides where it has too many cases."""
    if type(condition) is Guarded and condition.size > MOST_CASES:
        return Guarded(Atom(text), True, False)
    return condition


def forced(condition: Any) -> Literals:
    """The literals that hold wherever `condition` does."""
    found: list[tuple[Atom, bool]] = []
    while type(condition) is Guarded:
        if condition.no is False:
            found.append((condition.atom, True))
            condition = condition.yes
        elif condition.yes is False:
            found.append((condition.atom, False))
            condition = condition.no
        else:
            break
    return tuple(found)


def holds_somewhere(condition: Any, literals: Literals) -> bool:
    """Whether `condition` and all the literals can be true together."""
    return assume_all(condition, literals) is not False


def describe(literals: Literals) -> str | None:
    """The condition in the program's words, or None when an atom has no words."""
    if not all(atom.named for atom, _ in literals):
        return None
    return " and ".join(atom.text if value else atom.negative for atom, value in literals) or None
