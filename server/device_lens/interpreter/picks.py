"""Which of several functions or modules is called, where a condition without words decides it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from device_lens.domain.atom import Atom
from device_lens.domain.path import Path

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


@dataclass(frozen=True, slots=True)
class Pick:
    """The atoms that picked what is called, in an activation as deep as `depth`. A pick is doubtful
    where the path had decided something else without words: `if kind == "a"` picks `A()`, and
    another test of what `kind` is may exclude that; and where a number picks an item of a list."""

    depth: int = 0
    atoms: tuple[Atom, ...] = ()
    is_doubtful: bool = False

    def one_of(self, atom: Atom, depth: int, path: Path) -> Pick:
        """The pick of one side of `atom`; those in one activation are one of a tree."""
        atoms = self.atoms if depth == self.depth else ()
        others = (each for each, _ in path.literals if not each.named and each not in atoms)
        doubtful = self.is_doubtful or atom.tells_items_apart
        doubtful = doubtful or any(each is not atom for each in others)
        return Pick(depth, (*atoms, atom), doubtful)


@contextmanager
def picking(machine: Machine, atom: Atom) -> Iterator[None]:
    """Around a call of one of two that an atom tells apart."""
    before = machine.pick
    if not atom.named:
        machine.pick = before.one_of(atom, len(machine.stack), machine.path)
    try:
        yield
    finally:
        machine.pick = before
