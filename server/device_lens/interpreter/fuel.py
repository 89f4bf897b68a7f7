"""The steps that all scripts of a program have together, so that many cost no more than one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Extent:
    """How large a program is: the begun thousands of lines of all files that import each other,
    directly or not, and the scripts among these. `whole` tells that one analysis runs all of them,
    in one order."""

    thousands: int
    scripts: tuple[str, ...]
    whole: bool = True


STEPS_IN_ALL = 8_000
"""Statements run for each 1,000 lines of a program by all its scripts together, what they change
included (`Budget.checkpoint`). They take 40 to 85 microseconds each, so that 1,000 lines take a
second at the most (`docs/performance.md`)."""


class Fuel:
    """The steps that are left for the scripts of one program. Each may take an even part of what
    those before it have left, and never less than half of what an even part was at first."""

    def __init__(self, extent: Extent, scripts: int) -> None:
        """Those of an analysis that runs some `scripts`."""
        self._steps = STEPS_IN_ALL * extent.thousands
        self._scripts = max(scripts if extent.whole else len(extent.scripts), 1)
        self._even = self._steps // self._scripts
        self._whole = extent.whole

    def share(self) -> int:
        """The steps of all kinds for the next script. Where another analysis runs some of the
        scripts, perhaps at the same time, it does not hang on what these have left."""
        share = max(self._steps // max(self._scripts, 1), self._even // 2)
        return share if self._whole else self._even

    def part(self, scripts: int) -> int:
        """The steps for the next of some scripts that are run once more; none where another
        analysis runs some of the others."""
        return self._steps // scripts if self._whole else 0

    def take(self, steps: int) -> None:
        """A script has taken so many."""
        self._steps -= steps
        self._scripts -= 1
