"""One value for several paths that meet, told apart by their conditions where that can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from device_lens.domain.guard import Guarded, Literals, assume_all, undecided
from device_lens.domain.heap import MISSING, Registry, Table
from device_lens.domain.join import join, join_blind
from device_lens.domain.kinds import regathered
from device_lens.domain.path import Path
from device_lens.domain.presence import either

MOST_WAYS = 24
"""Paths that are told apart where they meet: every two of them are compared."""

Join = Callable[[Any, Any, Any], Any]
"""Joins two values that a condition tells apart; None: none does."""


def fold(values: list[Any], paths: list[Path], base: Path | None, join_two: Join) -> Any:
    """One value for several paths: told apart by their conditions where these exclude one another
    (`base` is what they share, None: they do not tell)."""
    result = values[-1]
    told = base is not None and exclusive(paths)
    for value, path in zip(reversed(values[:-1]), reversed(paths[:-1]), strict=True):
        if value is not result:
            condition = path.condition(base) if told and base is not None else None
            result = join_two(condition, value, result)
    return result


def made_on(table: Table) -> Literals:
    """What holds wherever a table exists."""
    return table.literals if type(table) is Registry else ()


def fold_in(table: Table, values: list[Any], paths: list[Path], base: Path | None) -> Any:
    """What a table holds where several paths meet, of those alone on which it may exist."""
    literals = made_on(table)
    if literals:
        ways = [each for each in zip(values, paths, strict=True) if _may_hold(literals, each[1])]
        if ways:
            values, paths = [value for value, _ in ways], [path for _, path in ways]
        base = base and Path(base.named, literals)
    return fold(values, paths, base, join_values)


def _may_hold(literals: Literals, path: Path) -> bool:
    return not any((atom, not value) in path.literals for atom, value in literals)


def join_in(table: Table, condition: Any, left: Any, right: Any) -> Any:
    """What a table holds after two sides of a condition. A module that only one of them makes
    knows that one's changes alone: who moves `A() if c else B()` moves `A()` where `c` holds, and
    elsewhere there is none."""
    literals = made_on(table)
    if literals and type(condition) is Guarded:
        condition = assume_all(condition, literals)
        if type(condition) is not Guarded:
            return left if condition else right
    joined = join(condition, left, right)
    return regathered(joined, left, right) if "rest" in table else joined


def join_values(condition: Any, left: Any, right: Any) -> Any:
    """Either of two values; the other one where one is missing."""
    if left is MISSING or right is MISSING:
        return right if left is MISSING else left
    return join_blind(left, right) if condition is None else join(condition, left, right)


def any_of_these(earlier: list[Any], now: Any) -> Any:
    """What a place holds of which any of the values that were written may be the last."""
    seen, found = {id(now)}, now
    for value in earlier:
        if id(value) not in seen and value is not MISSING:
            seen.add(id(value))
            found = join_blind(value, found)
    return found


def join_presences(condition: Any, left: Any, right: Any) -> Any:
    """Whether a key is there on either of two paths."""
    return either(undecided() if condition is None else condition, left, right)


def exclusive(paths: list[Path]) -> bool:
    """Whether no two of the paths can be the same run."""
    if len(paths) > MOST_WAYS:
        return False
    return all(
        path.excludes(other) for index, path in enumerate(paths) for other in paths[index + 1 :]
    )
