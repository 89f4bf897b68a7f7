"""Bounds of an analysis: every one that is hit is said, none is silent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from device_lens.domain.journal import Journal


class Cancelled(Exception):
    """The caller does not want the answer any more. Leaves the interpreter's public functions."""


class Exhausted(Exception):
    """The steps of one activation or of the whole run are used up. Stays inside."""


def never() -> bool:
    """What nobody stops."""
    return False


@dataclass(frozen=True)
class Options:
    """What an analysis may assume and spend."""

    assume_accelerator: str = "cuda"
    only_findings: bool = False
    """Whether nothing is asked for but what rules tell: what cannot tell anything is not run."""
    max_steps: int = 6_000
    """Statements run in one entry, however short it is. A path that parts in two counts as one:
    what follows hangs on a condition more, which costs about as much as a statement."""
    steps_per_line: int = 5
    """Further ones for each line of the entry, and of the modules that it reaches."""
    max_standalone_steps: int = 4_000
    """Statements run for one function that no one calls."""
    max_depth: int = 28
    """Calls within calls."""
    max_same_function: int = 4
    """Activations of one function on the stack: recursion beyond that is unknown."""
    max_descent: int = 10
    """The same where each is at another module, deeper down."""
    max_activations: int = 192
    """Activations of one function in one run, those with remembered answers left out."""
    max_spent: int = 2_000
    """Statements run in one unit for one function, with all that it calls, before it is followed no
    more."""
    min_spent: int = 100
    """The same before calls like those that were followed are answered as these were."""
    symbolic_activations: int = 4
    """The same under a function that no one calls."""
    symbolic_depth: int = 4
    """Calls within calls for a function that no one calls."""
    shallow_depth: int = 2
    """The same where its text treats nothing as a tensor: it only passes on."""


PARTS = 4
"""One function, with all that it calls, takes one of so many parts of what its script may take."""
CHANGES = 5
"""Changes of objects that cost as much as a statement."""
RESERVE = 1_000
"""Steps for what is under way when the others are used up: no call is followed by then."""


@dataclass
class Budget:
    """Steps left, and the sentences about what ran out. Those of a script's own statements, and of
    files that somebody edits, are counted apart (`own`): so where the others run out does not hang
    on what is typed, and what comes behind is still looked at."""

    steps: int
    cancelled: Callable[[], bool]
    own: int = 0
    limits: list[str] = field(default_factory=list)
    reached: set[str] = field(default_factory=set)
    """Files whose lines have been granted."""
    reserve: int = 0
    own_reserve: int = 0
    """The parts of the steps that are for the primary case alone."""
    asked: bool = False
    """Whether it has mattered what the reserves are, and whether that has been touched which is
    for what somebody types."""
    touched: bool = False
    apart: bool = False
    """Whether own statements are counted apart."""
    most: int | None = None
    """The steps of all kinds beyond which no call is followed."""
    _room: int = 0
    _changes: int = 0
    """What statements have changed, in steps."""
    _given: int = 0
    _last: int = -RESERVE

    def __post_init__(self) -> None:
        self.apart = self.own > 0
        if self.most is not None:
            self.steps, self.own = min(self.steps, self.most), min(self.own, self.most)
            self._room = self.most - self.steps
            self._last = -min(RESERVE, self.most // PARTS)
        self.reserve, self.own_reserve = self.steps // 2, self.own // 2
        self._given = self.left

    def grant(self, path: str, steps: int) -> None:
        """More steps for a file that is reached for the first time."""
        if path not in self.reached:
            self.reached.add(path)
            if self.most is not None:
                steps = min(steps, self._room)
                self._room -= steps
            self._given += steps
            self.steps += steps
            self.reserve += steps // 2

    def spares(self) -> bool:
        """Whether steps are left for anything but the primary case."""
        self.asked = True
        if self.apart and self.own < self.own_reserve:
            self.touched = True
            return False
        if self.steps >= self.reserve:
            return True
        self.touched = self.touched or not self.apart
        return False

    def spare(self) -> int:
        """How many more statements could have been typed without another outcome."""
        left, reserve = self._of_edits()
        return left - reserve if self.asked else left

    def is_over(self) -> bool:
        """Whether anything was left out that a statement more or less could have let in."""
        return self._of_edits()[0] < 0 or self.touched

    def _of_edits(self) -> tuple[int, int]:
        return (self.own, self.own_reserve) if self.apart else (self.steps, self.reserve)

    @property
    def left(self) -> int:
        return self.steps + self.own

    @property
    def spent(self) -> int:
        """The steps of all kinds that were taken."""
        return self._given - self.left + self._changes

    @property
    def is_short(self) -> bool:
        """Whether it has run out of the steps that it has together with others."""
        return self.most is not None and self.is_low

    def limit(self, most: int) -> int:
        """What one function may take where it may take `most` of steps that are not bounded."""
        return most if self.most is None else min(most, self.most // PARTS)

    @property
    def is_low(self) -> bool:
        """Whether calls are not followed any more."""
        return self.steps < 0 or self.own < 0

    def spend(self) -> None:
        self.steps -= 1
        if self.steps < self._last:
            raise Exhausted

    def spend_own(self) -> None:
        self.own -= 1
        if self.own < self._last:
            raise Exhausted

    def checkpoint(self, journal: Journal) -> None:
        """Called at loop heads and calls. Where steps are bounded, many changes of what a program
        holds count as steps too: a move of a large model is one statement."""
        if self.cancelled():
            raise Cancelled
        if self.most is not None:
            steps, journal.unpaid = divmod(journal.unpaid, CHANGES)
            self._changes += steps
            if self.spent > self.most:
                self.steps = min(self.steps, -1)

    def note(self, sentence: str) -> None:
        if sentence not in self.limits:
            self.limits.append(sentence)
