"""One value for several paths that meet, told apart by their conditions where that can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from device_lens.domain import perhaps_none
from device_lens.domain.guard import Literals, undecided
from device_lens.domain.heap import MISSING, Entries, Placed, Table
from device_lens.domain.join import join
from device_lens.domain.journal import Delta, Held
from device_lens.domain.kinds import regathered
from device_lens.domain.path import Path
from device_lens.domain.presence import either, presence_beside, under_any_key

MOST_WAYS = 24
"""Paths that are told apart where they meet: every two of them are compared."""

Join = Callable[[Any, Any, Any], Any]
"""Joins two values that a condition tells apart; None: none does."""


class Ways:
    """Paths that meet. What sets them apart is asked for each place that any of them changed, and
    worked out once."""

    __slots__ = ("_base", "_conditions", "_exclude", "_where", "paths")

    def __init__(self, paths: list[Path], base: Path | None) -> None:
        """`base` is what the paths share; None: they are not told apart."""
        self.paths = paths
        self._base = base
        self._exclude: bool | None = None
        self._conditions: dict[int, Any] = {}
        self._where: dict[Literals, tuple[list[int], Ways]] = {}

    def condition(self, index: int) -> Any:
        """What sets a path apart from the others; None where nothing does."""
        if self._base is None:
            return None
        if self._exclude is None:
            self._exclude = exclusive(self.paths)
        if not self._exclude:
            return None
        if index not in self._conditions:
            others = [path for at, path in enumerate(self.paths) if at != index]
            path = self.paths[index].apart_from(others, self._base)
            self._conditions[index] = path.condition(self._base)
        return self._conditions[index]

    def where(self, literals: Literals) -> tuple[list[int], Ways]:
        """Those paths on which some literals may hold, by their numbers, all if none is."""
        known = self._where.get(literals)
        if known is None:
            places = [at for at, path in enumerate(self.paths) if _may_hold(literals, path)]
            places = places or list(range(len(self.paths)))
            base = self._base and Path(self._base.named, literals)
            known = places, Ways([self.paths[at] for at in places], base)
            self._where[literals] = known
        return known


def fold(values: list[Any], ways: Ways, join_two: Join) -> Any:
    """One value for several paths: told apart by their conditions where these exclude one
    another."""
    result = values[-1]
    for index in range(len(values) - 2, -1, -1):
        if values[index] is not result:
            result = join_two(ways.condition(index), values[index], result)
    return result


def made_on(table: Table) -> Path | None:
    """The path of which all holds wherever a table exists; None where it is known of none."""
    return table.path if isinstance(table, Placed) else None


def fold_in(table: Table, values: list[Any], ways: Ways) -> Any:
    """What a table holds where several paths meet, of those alone on which it may exist."""
    path = made_on(table)
    if path is not None and path.literals:
        places, ways = ways.where(path.literals)
        values = [values[at] for at in places]
    values = [_held(table, value) for value in values]
    return fold(values, ways, _join_items if "rest" in table else join_values)


def _join_items(condition: Any, left: Any, right: Any) -> Any:
    """The same of what a list holds, which may be modules of several kinds."""
    return regathered(join_values(condition, left, right), left, right)


def _may_hold(literals: Literals, path: Path) -> bool:
    return not any((atom, not value) in path.literals for atom, value in literals)


class WhereMade:
    """What is left of a condition wherever a table exists. Who moves `A() if c else B()` moves
    `A()` where `c` holds, and elsewhere there is none: a module that only one side of a condition
    makes knows that one's changes alone. Tables that were made together have the same answer."""

    __slots__ = ("_condition", "_known")

    def __init__(self, condition: Any) -> None:
        self._condition = condition
        self._known: dict[int, tuple[Path, Any]] = {}
        """By their identities, which they keep for as long as they are here."""

    def of(self, table: Table) -> Any:
        path = made_on(table)
        if path is None:
            return self._condition
        known = self._known.get(id(path))
        if known is None:
            known = self._known[id(path)] = path, path.decide(self._condition)
        return known[1]


def join_in(table: Table, condition: Any, left: Any, right: Any) -> Any:
    """What a table holds after two sides of a condition, which tells of where the table exists."""
    if condition is True or condition is False:
        return left if condition else right
    left, right = _held(table, left), _held(table, right)
    joined = join(condition, left, right)
    return regathered(joined, left, right) if "rest" in table else joined


def _held(table: Table, value: Any) -> Any:
    """A value of a table, or what a dict may have in place of one that is not known."""
    return under_any_key(table) if value is MISSING else value


def join_presence_in(entries: Entries, key: Any, condition: Any, yes: Delta, no: Delta) -> Any:
    """Whether a key is there after two sides of a condition, of which each changed something."""
    sides = (presence_beside(side, entries, key) for side in (yes, no))
    return either(condition, *sides)


def join_values(condition: Any, left: Any, right: Any) -> Any:
    """Either of two values; the other one where one is missing."""
    if left is MISSING or right is MISSING:
        return right if left is MISSING else left
    return perhaps_none.either(left, right) if condition is None else join(condition, left, right)


def any_of_these(earlier: list[Held], now: Any) -> Any:
    """What a place holds of which any of the values that were written may be the last, each where
    its condition holds."""
    seen, found = {id(now)}, now
    for value, under in sorted(earlier, key=_is_told):
        if id(value) not in seen and value is not MISSING:
            if under is True:
                seen.add(id(value))
            either_one = perhaps_none.either(value, found)
            found = either_one if under is True else join(under, either_one, found)
    return found


def _is_told(held: Held) -> bool:
    """Whether a condition tells where a value was held: the others are taken first."""
    return held[1] is not True


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
