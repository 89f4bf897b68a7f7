"""The states before the statements of files that somebody edits, kept while a unit runs.

What is typed between two of these statements then runs by itself from the first letter on, as
`stretch.py` and `replay.py` tell: the unit need not run once more for it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from device_lens.domain.history import History
from device_lens.domain.shallow import shallow
from device_lens.domain.values import Known, Remembered, newly_remembered
from device_lens.interpreter.stretch import Stretch
from device_lens.interpreter.told import Context, Text
from device_lens.interpreter.visits import MOST_VISITS, Outcome, Visit, Visits, part_of, state_of
from device_lens.interpreter.watched import Watched
from device_lens.syntax.splicing import forget_answers

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.unit import Unit
    from device_lens.syntax.chunk import Splice

MOST_LANDMARKS = 3_000
"""States that are kept of one unit."""
_NOTHING = Outcome({}, frozenset(), set(), 0, False)


@dataclass(frozen=True, slots=True)
class Landmark:
    """A state before a statement, and how much had been remembered of unknowns by then."""

    visit: Visit
    remembered: int


class Landmarks:
    """Those of one unit, for the files of some paths. A place is the statement behind it, at the
    end of a block the block's identity; None: there are too many for it."""

    def __init__(self, history: History, paths: frozenset[str], nobody: Unit) -> None:
        """`nobody` stands for the part of each state until it has one: with the unit itself there
        all of this would live on until the collector comes."""
        self.paths = paths
        self._nobody = nobody
        self._history = history
        self._places: dict[Any, list[Landmark] | None] = {}
        self._blocks: dict[int, list[ast.stmt]] = {}
        self._count = 0
        self._frame: Frame | None = None
        self._callers: dict[int, Frame] = {}
        self._remembered: list[Known] = []
        self._spent: Counter[Any] = Counter()
        self._asked: dict[Any, set[int]] = {}
        self._steps = 0
        self._usable = False
        self.bound: set[str] = set()
        """The names that the statements which run by themselves have bound."""
        self._former: frozenset[str] = frozenset()
        self._put_in: set[ast.stmt] = set()
        """Statements that were put between others since, and ran by themselves."""
        self._latest: list[ast.stmt] | None = None
        """Those of them that are being typed."""
        self.complete = True
        """Whether a place that is not known was not come to: statements that run apart, and what
        these call, leave no landmarks."""

    def run(
        self,
        machine: Machine,
        statements: Sequence[ast.stmt],
        frame: Frame,
        ends: list[ast.stmt] | None,
    ) -> int:
        """Runs some statements. At the end of the block that `ends` with them there is a landmark
        too."""
        for statement in statements:
            self._take(machine, frame, statement)
            if flow := machine.execute_each([statement], frame):
                return flow
        if ends is not None:
            self._blocks[id(ends)] = ends  # so that no other one gets its identity
            self._take(machine, frame, id(ends))
        return 0

    def _take(self, machine: Machine, frame: Frame, place: Any) -> None:
        taken = self._places.setdefault(place, [])
        if taken is None:
            return
        if len(taken) == MOST_VISITS or self._count == MOST_LANDMARKS:
            self._places[place] = None
            return
        self._count += 1
        self._remembered += newly_remembered()
        logged = self._history.mark()
        visit = state_of(machine, frame, self._nobody, logged, [], self._callers_of(frame))
        taken.append(Landmark(visit, len(self._remembered)))

    def _callers_of(self, frame: Frame) -> dict[int, Frame]:
        """The copies of its callers, which stay as they are for as long as it runs."""
        if frame is self._frame:
            del self._callers[id(frame)]
        else:
            self._frame, self._callers = frame, {}
        return self._callers

    def close(self, unit: Unit) -> None:
        """Takes down what the whole unit has spent, at its end."""
        watched = unit.watched
        self._frame, self._callers = None, {}
        self._usable = not (watched.kept_graphs or watched.bypasses or unit.budget.is_over())
        self._spent, self._steps = unit.spent, unit.budget.spare()
        self._asked = unit.alikes.asked

    def visits(
        self, machine: Machine, unit: Unit, stretch: Stretch, splice: Splice
    ) -> Visits | None:
        """What the unit would have taken down of the place at which a stretch was put in; None
        where that cannot be told."""
        self._latest = None
        taken = self._places.get(self._place_behind(stretch), [] if self.complete else None)
        if splice.removed or taken is None or not self._usable:
            return None
        self._former = frozenset(self.bound)
        mask = unit.watched.mask
        if any(each.visit.watched.mask is not mask for each in taken):
            return None
        known = [each.visit for each in taken]
        states = self._history.states((visit.logged, visit.born) for visit in known)
        each: list[Visit] = []
        for landmark, state in zip(taken, states, strict=True):
            visit = shallow(landmark.visit)
            visit.state, visit.outcome = state, _NOTHING
            visit.unknowns = self._known_at(landmark)
            visit.part = part_of(machine, unit)
            visit.part.symbolic = visit.symbolic
            visit.part.watched = Watched.over(visit.watched)
            visit.take_down(self._spent, self._asked)
            unit.use(visit.part)
            each.append(visit)
        contexts = _contexts_without(each, splice)
        found = Visits(stretch, True, each, contexts, self._steps, unit.watched.asks_start)
        found.silent = not taken
        return found

    def misses(self, names: frozenset[str]) -> bool:
        """Whether one of some names that a stretch mentions was bound since the landmarks were
        taken, by statements that are typed elsewhere."""
        return not names.isdisjoint(self._former)

    def put_in(self, stretch: Stretch) -> None:
        """Statements that were put between others have run by themselves."""
        self._latest = stretch.body
        self._put_in.update(self._latest)

    def replace(self, stretch: Stretch) -> None:
        """They have run as an edit leaves them."""
        if self._latest is not None:
            self._put_in.difference_update(self._latest)
            self.put_in(stretch)

    def recode(self, left: ast.stmt, right: ast.stmt) -> None:
        """A statement is another node now, and does the same."""
        if left in self._places:
            self._places[right] = self._places.pop(left)
        if left in self._put_in:
            self._put_in.remove(left)
            self._put_in.add(right)

    def _place_behind(self, stretch: Stretch) -> Any:
        """What was there before anything was put in: that changes nothing for what follows."""
        block, stop = stretch.block, stretch.stop
        while stop < len(block) and block[stop] in self._put_in:
            stop += 1
        return block[stop] if stop < len(block) else id(block)

    def _known_at(self, landmark: Landmark) -> Remembered:
        known = {id(each[0]): each for each in self._remembered[: landmark.remembered]}
        return list(known.values())


def _contexts_without(visits: list[Visit], splice: Splice) -> list[Context]:
    """What the text tells where the new statements are not there."""
    block, start = splice.block, splice.start
    added = block[start : start + splice.added]
    around = {
        id(node): node
        for visit in visits
        for node in (splice.owner, *(loop.node for loop in visit.frame.loops))
        if node is not None
    }
    del block[start : start + splice.added]
    try:
        for node in around.values():
            forget_answers(node)
        return [Text([]).context(visit.frame) for visit in visits]
    finally:
        block[start:start] = added
        for node in around.values():
            forget_answers(node)
