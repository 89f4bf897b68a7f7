"""How a value got where it is: the history that hovers and related locations show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MAX_STEPS = 8
"""Steps kept; older ones in between are dropped, the creation is kept."""


class Site:
    """A place in a program: a node of a chunk of a file. The position is resolved when it is
    shown, since a chunk moves when text above it is edited."""

    __slots__ = ("chunk", "node", "path")

    def __init__(self, path: str, chunk: Any, node: Any) -> None:
        self.path = path
        self.chunk = chunk
        self.node = node

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Site) and self.node is other.node

    def __hash__(self) -> int:
        return id(self.node)


class Trail:
    """One step of a value's history and the steps before it.

    `kind` is `created`, `encoded` (by a library, out of what is no tensor), `computed` (by what
    runs on the host alone), `moved`, `assigned`, `received` or `loaded`; `text` completes the
    sentence that starts with the value's name: "is created on the CPU by torch.randn". `case` is
    the condition over named atoms, and those of how far a run is, under which the step was taken,
    `instead` what happened where it was not, if that has a history of its own. `is_given_out` tells
    that a data loader has given out since what there was then.
    """

    __slots__ = ("case", "instead", "is_given_out", "kind", "length", "previous", "site", "text")

    def __init__(
        self, kind: str, text: str, site: Site, previous: Trail | None = None, case: Any = True
    ) -> None:
        self.kind = kind
        self.text = text
        self.site = site
        self.case = case
        self.instead: Trail | None = None
        self.is_given_out = False
        if previous is not None and previous.length >= MAX_STEPS:
            previous = previous.first
        self.previous = previous
        self.length: int = 1 if previous is None else previous.length + 1

    def behind(self, previous: Trail | None) -> Trail:
        """This step as the last one of another history."""
        found = Trail(self.kind, self.text, self.site, previous, self.case)
        found.instead = self.instead
        found.is_given_out = self.is_given_out
        return found

    def given_out(self) -> Trail:
        """The history of what a data loader gives out."""
        if self.is_given_out:
            return self
        found = self.behind(self.previous)
        found.is_given_out = True
        return found

    def or_else(self, other: Trail) -> Trail:
        """This history, with another one for where its last step was not taken. Of several others
        the first is kept, and of those beside that as many as of steps."""
        if self.case is True or self.instead is not None or self.tells_the_same(other):
            return self
        if sum(1 for _ in other.others()) >= MAX_STEPS:
            return self
        found = self.behind(self.previous)
        found.instead = other
        return found

    def others(self) -> Iterator[Trail]:
        """The histories beside this one, the nearest first."""
        trail = self.instead
        while trail is not None:
            yield trail
            trail = trail.instead

    @property
    def has_moved(self) -> bool:
        """Whether it was moved by itself since it was made."""
        return any(step.kind == "moved" for step in self.steps())

    @property
    def first(self) -> Trail:
        trail = self
        while trail.previous is not None:
            trail = trail.previous
        return trail

    def tells_the_same(self, other: Trail | None) -> bool:
        """Whether a reader sees the same steps at the same places."""
        left: Trail | None = self
        right = other
        while left is not right:
            if left is None or right is None:
                return False
            if (left.kind, left.text, left.site) != (right.kind, right.text, right.site):
                return False
            left, right = left.previous, right.previous
        return True

    def steps(self) -> Iterator[Trail]:
        """Oldest first; what a loop does again, once."""
        found: dict[tuple[Site, str], Trail] = {}
        trail: Trail | None = self
        while trail is not None:
            found.setdefault((trail.site, trail.text), trail)
            trail = trail.previous
        yield from reversed(found.values())
