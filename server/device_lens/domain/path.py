"""Path conditions: what is known to hold where a statement runs.

A path keeps the atoms that a reader knows (accelerators, flags, the environment) exactly, as a
condition over them, and of the others which are known to be true or false, with the conditions
that tie them to the former: a path is weaker than what holds on it, never stronger.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from device_lens.domain.atom import Atom
from device_lens.domain.condition import (
    MOST_REMEMBERED,
    conjunction,
    disjunction,
    exclude,
    forced,
    implies,
    settled,
    together,
)
from device_lens.domain.guard import (
    MOST_CASES,
    Guarded,
    Literals,
    assume_all,
    assume_known,
    atom_set,
    atoms,
    choose,
    depth,
    node,
)

MAX_NAMED_DEPTH = 6
"""Named atoms on one way through a path's condition; beyond that it is not refined further."""


MOST_MIXED = 24
"""Conditions over atoms of both kinds that a path keeps: one for each `elif` that asks what a flag
is, where it may have been given anything."""

MOST_WORDS = 4
"""Values one of which something is, of which a path keeps that it is one of these."""
MOST_GROWN = 4 * MOST_CASES
"""Leaves of what some conditions are together, from which the rest is left out: the whole is not
expected to have few again."""


class Path:
    """`named` is a condition over named atoms; `literals` are the atoms of any kind that are
    decided; `mixed` are conditions over named and other atoms, or over a few that ask for one
    value, of which the two do not tell all."""

    __slots__ = ("_known", "literals", "mixed", "named")

    def __init__(self, named: Any, literals: Literals, mixed: tuple[Any, ...] = ()) -> None:
        self.named = named
        self.literals = literals
        self.mixed = mixed
        self._known: dict[Atom, bool] | None = None

    @property
    def known(self) -> dict[Atom, bool]:
        """The literals, by their atoms."""
        found = self._known
        if found is None:
            found = self._known = dict(self.literals)
        return found

    @property
    def told(self) -> Any:
        """The condition over named atoms, and those that how far a run is decides."""
        counted = tuple(each for each in self.literals if each[0].is_counted)
        return together(counted, self.named) if counted else self.named

    def left_of(self, tree: Any) -> Any:
        """What is left of a tree where the literals hold."""
        if type(tree) is not Guarded or not self.literals:
            return tree
        return assume_known(tree, self.known)

    def assume(self, condition: Any) -> Path:
        """This path where `condition` holds too."""
        if type(condition) is not Guarded:
            return self
        if not condition.atom.named and condition.depth == 1:
            return self._assume_unnamed(condition.atom, condition.yes is True)
        named = conjunction(self.named, without_unnamed(condition))
        if depth(named) > MAX_NAMED_DEPTH:
            named = self.named
        known = dict(self.known)
        known.update(forced(condition))
        if type(named) is Guarded:
            known.update(forced(named))
        mixed = self.mixed
        if len(mixed) < MOST_MIXED and _is_mixed(condition):
            mixed = (*mixed, condition)
        return Path(named, tuple(known.items()), mixed)

    def _assume_unnamed(self, atom: Atom, value: bool) -> Path:
        """This path where one atom without words has a value."""
        literals = self.literals
        for index, (known, before) in enumerate(literals):
            if known is atom:
                if before is value:
                    return self
                before_it, after = literals[:index], literals[index + 1 :]
                return Path(self.named, (*before_it, (atom, value), *after), self.mixed)
        return Path(self.named, (*literals, (atom, value)), self.mixed)

    def decide(self, condition: Any) -> Any:
        """`condition` as far as this path does not settle it."""
        if type(condition) is not Guarded:
            return condition
        condition = self.left_of(condition)
        if type(condition) is not Guarded:
            return condition
        asked = atom_set(condition)
        for known in (self.named, *self.mixed):
            if type(known) is not Guarded or asked.isdisjoint(atom_set(known)):
                continue  # neither tells anything of the other
            if known is not self.named:
                known = self.left_of(known)
                if type(known) is not Guarded:
                    continue
            if exclude(known, condition):
                return False
            if implies(known, condition):
                return True
        return condition

    def allows(self, literals: Literals) -> bool:
        """Whether atoms may have these values together here, as far as this path tells."""
        together: Any = True
        for atom, value in sorted(literals, key=_order, reverse=True):
            together = node(atom, together, False) if value else node(atom, False, together)
        return self.decide(together) is not False

    def meet(self, other: Path) -> Path:
        """What holds on both paths, where they come together."""
        if other is self:
            return self
        mixed = self.mixed and tuple(each for each in self.mixed if each in other.mixed)
        if not self.literals or not other.literals:
            return Path(disjunction(self.named, other.named), (), mixed)
        others = other.known
        kept = tuple(each for each in self.literals if others.get(each[0]) is each[1])
        return Path(disjunction(self.named, other.named), kept, mixed)

    def excludes(self, other: Path) -> bool:
        """Whether the two cannot be the same run."""
        known = other.known
        if any(known.get(atom, value) is not value for atom, value in self.literals):
            return True
        if exclude(self.named, other.named):
            return True
        return bool(self.mixed or other.mixed) and self._excludes_mixed(other)

    def _excludes_mixed(self, other: Path) -> bool:
        """Whether a condition of one path is false wherever one of the other holds."""
        if _any_exclude(self.mixed, other.mixed):
            return True
        sides = ((self, other), (other, self))
        return any(path.left_of(each) is False for path, kin in sides for each in kin.mixed)

    def apart_from(self, others: Sequence[Path], base: Path) -> Path:
        """This path with no more unnamed literals than set it apart from the others. What else
        holds on it holds wherever a run gets here: elsewhere it has failed."""
        before = base.known
        path = Path(self.named, (), self.mixed)
        for atom, value in self.literals:
            if all(path.excludes(other) for other in others):
                return path
            if not atom.named and atom not in before:
                path = Path(self.named, (*path.literals, (atom, value)), self.mixed)
        return self

    def condition(self, base: Path) -> Any:
        """What sets this path apart from others that start at `base`, as a condition."""
        before = base.known
        new = [each for each in self.literals if each[0] not in before and not each[0].named]
        literals: Any = True
        for atom, value in sorted(new, key=_order, reverse=True):
            literals = node(atom, literals, False) if value else node(atom, False, literals)
        found = conjunction(self.named, literals)
        for mixed in self.mixed:
            if mixed not in base.mixed:
                found = conjunction(found, mixed)
                if type(found) is Guarded and found.size > MOST_GROWN:
                    break
        return settled(found)


_NEVER_BOTH: dict[Any, Any] = {}
"""Answers with the conditions of two paths that they are about, which keep their identities: paths
that part later share theirs."""


def _any_exclude(left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
    """Whether one of some conditions never holds together with one of some others."""
    if not left or not right or left is right:
        return False
    key = (id(left), id(right))
    known = _NEVER_BOTH.get(key)
    if known is None:
        found = any(exclude(mine, theirs) for mine in left for theirs in right)
        if len(_NEVER_BOTH) >= MOST_REMEMBERED:
            _NEVER_BOTH.clear()
        known = _NEVER_BOTH[key] = found, left, right
    return bool(known[0])


def _order(literal: tuple[Atom, bool]) -> int:
    return literal[0].order


ALWAYS = Path(True, ())


@lru_cache(MOST_REMEMBERED)
def _is_mixed(condition: Guarded) -> bool:
    """Whether atoms of both kinds are open in a condition where all that it forces holds; or drawn
    ones, of which conflicts are told too; or what one value is, of a few that it may be."""
    found = atoms(assume_all(condition, forced(condition)))
    if all(atom.named for atom in found):
        return False
    if any(atom.named or atom.goes_both_ways for atom in found):
        return True
    return 1 < len(found) <= MOST_WORDS and len({atom.text or atom for atom in found}) == 1


def without_unnamed(condition: Any) -> Any:
    """The weakest condition over named atoms that `condition` implies."""
    return _named_part(condition) if type(condition) is Guarded else condition


@lru_cache(MOST_REMEMBERED)
def _named_part(condition: Guarded) -> Any:
    yes, no = without_unnamed(condition.yes), without_unnamed(condition.no)
    if not condition.atom.named:
        return disjunction(yes, no)
    if yes == no:
        return yes
    return choose(literal(condition.atom), yes, no)


def literal(atom: Atom) -> Guarded:
    return Guarded(atom, True, False)
