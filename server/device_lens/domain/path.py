"""Path conditions: what is known to hold where a statement runs.

A path keeps the atoms that a reader knows (accelerators, flags, the environment) exactly, as a
condition over them, and of the others only which are known to be true or false: a path is weaker
than what holds on it, never stronger.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from device_lens.domain.guard import (
    MOST_REMEMBERED,
    Atom,
    Guarded,
    Literals,
    assume_all,
    choose,
    conjunction,
    depth,
    disjunction,
    exclude,
    forced,
    implies,
)

MAX_NAMED_DEPTH = 6
"""Named atoms on one way through a path's condition; beyond that it is not refined further."""


class Path:
    """`named` is a condition over named atoms; `literals` are the atoms of any kind that are
    decided."""

    __slots__ = ("literals", "named")

    def __init__(self, named: Any, literals: Literals) -> None:
        self.named = named
        self.literals = literals

    def assume(self, condition: Any) -> Path:
        """This path where `condition` holds too."""
        if type(condition) is not Guarded:
            return self
        if not condition.atom.named and condition.depth == 1:
            return self._assume_unnamed(condition.atom, condition.yes is True)
        named = conjunction(self.named, without_unnamed(condition))
        if depth(named) > MAX_NAMED_DEPTH:
            named = self.named
        known = dict(self.literals)
        known.update(forced(condition))
        if type(named) is Guarded:
            known.update(forced(named))
        return Path(named, tuple(known.items()))

    def _assume_unnamed(self, atom: Atom, value: bool) -> Path:
        """This path where one atom without words has a value."""
        literals = self.literals
        for index, (known, before) in enumerate(literals):
            if known is atom:
                if before is value:
                    return Path(self.named, literals)
                after = literals[index + 1 :]
                return Path(self.named, (*literals[:index], (atom, value), *after))
        return Path(self.named, (*literals, (atom, value)))

    def decide(self, condition: Any) -> Any:
        """`condition` as far as this path does not settle it."""
        if type(condition) is not Guarded:
            return condition
        condition = assume_all(condition, self.literals)
        if type(condition) is Guarded and type(self.named) is Guarded:
            if exclude(self.named, condition):
                return False
            if implies(self.named, condition):
                return True
        return condition

    def meet(self, other: Path) -> Path:
        """What holds on both paths, where they come together."""
        if other is self:
            return self
        if not self.literals or not other.literals:
            return Path(disjunction(self.named, other.named), ())
        common = set(self.literals) & set(other.literals)
        kept = tuple(literal for literal in self.literals if literal in common)
        return Path(disjunction(self.named, other.named), kept)

    def excludes(self, other: Path) -> bool:
        """Whether the two cannot be the same run."""
        known = dict(other.literals)
        if any(known.get(atom, value) != value for atom, value in self.literals):
            return True
        return exclude(self.named, other.named)

    def condition(self, base: Path) -> Any:
        """What sets this path apart from others that start at `base`, as a condition."""
        found: Any = self.named
        before = dict(base.literals)
        for atom, value in self.literals:
            if atom not in before and not atom.named:
                literal = Guarded(atom, True, False) if value else Guarded(atom, False, True)
                found = conjunction(found, literal)
        return found


ALWAYS = Path(True, ())


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
