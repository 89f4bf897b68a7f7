"""What one stretch of an analysis finds by itself, and what it has of its own while it runs.

A unit is the top level of a module, a script, an object of a class made with symbols, or the
functions of one statement that no one calls. It rests on the modules of a `Program` and on the
units that it names as its parts, on nothing else that another one did: so it holds for as long as
the code that it consulted stands.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from device_lens.domain.path import ALWAYS
from device_lens.interpreter.alike import Alikes
from device_lens.interpreter.budget import Budget
from device_lens.interpreter.findings import Findings
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.memory import Memory
from device_lens.interpreter.protocol import Workspace
from device_lens.interpreter.recording import Recorder
from device_lens.interpreter.watched import Watched

if TYPE_CHECKING:
    from device_lens.domain.code import Namespace
    from device_lens.interpreter.landmarks import Landmarks
    from device_lens.interpreter.visits import Visits


class Unit:
    """`activated` are the functions that ran, here or in the parts, `entered` those that ran here;
    `consulted` are other nodes whose code was read, `imports` the modules that were asked for. The
    rest is what the machine works with (`Machine.apart`)."""

    def __init__(self, recorder: Recorder, watched: Watched, budget: Budget) -> None:
        self.recorder = recorder
        self.findings = Findings()
        self.watched = watched
        self.budget = budget
        self.activated: set[Any] = set()
        self.entered: set[Any] = set()
        self.consulted: set[Any] = set()
        self.weighed: dict[Any, dict[Callable[[Any], Any], Any]] = {}
        """Nodes of whose code a few things alone were asked: the questions with their answers."""
        self.noted: set[object] = set()
        """The lineages of chunks whose places are kept in notes."""
        self.imports: set[str] = set()
        self.parts: dict[int, Unit] = {}
        self.files: dict[str, Any] = {}
        """Files that were read for this unit alone, with their stamps."""
        self.asked: dict[tuple[str, str], Any] = {}
        """What else the workspace was asked, by method and argument, with the answers."""
        self.within = False
        """Whether it is a run of some statements of the unit that it is a part of."""
        self.own: frozenset[str] = frozenset()
        """The file of a script or module, and those that somebody edits: their statements are
        counted apart from what they call."""
        self.standalone = False
        self.symbolic = False
        self.symbolic_depth = 0
        """Calls within calls that are followed while it is symbolic."""
        self.gives = False
        """Whether the function that it ran gives a tensor or a device that it was not given."""
        self.visits: Visits | None = None
        """The runs of the statements that were edited last, where they are taken down."""
        self.landmarks: Landmarks | None = None
        """The states before the statements of files that somebody edits."""
        self.source: Any = None
        """The file that is run, if it is a script: what was found is placed by the nodes of this
        very parse."""
        self.namespace: Namespace | None = None
        """That of a script."""
        self.rests_on: Any = None
        """What else decided the outcome: whoever keeps the unit compares it."""
        self.defined: dict[Any, Any] = {}
        self.classes: dict[Any, Any] = {}
        """The functions and classes by the nodes that define them."""
        self._silent: bool | None = None
        self._begin()

    def spender(self, budget: Budget, frame: Frame) -> Callable[[], None]:
        """What counts a statement, or a path that parts, of a frame."""
        own = self.own
        return budget.spend_own if own and frame.namespace.path in own else budget.spend

    def _begin(self) -> None:
        self.memory = Memory()
        self.alikes = Alikes()
        self.activations: Counter[Any] = Counter()
        self.spent: Counter[Any] = Counter()
        self.shared: dict[Any, Any] = {}
        self.stack: list[Frame] = []
        self.path = ALWAYS
        self.active: tuple[Any, Frame] | None = None
        self.current_call: Any = None

    def run_on(self, other: Unit) -> None:
        """Begins as the part of another unit that runs within it: answers, counts and bounds are
        those of the whole."""
        self.budget, self.memory, self.alikes = other.budget, other.memory, other.alikes
        self.activations, self.spent = other.activations, other.spent
        self.shared, self.stack = other.shared, other.stack
        self.defined, self.classes = other.defined, other.classes

    def close(self) -> None:
        """Lets go of what only a run needs."""
        if self.landmarks is not None:
            self.landmarks.close(self)
        self._begin()

    def let_go(self) -> None:
        """Nothing will be run again in it: what was found may be held for long, the states in which
        it was found are ten times as much."""
        self.visits = self.landmarks = None

    def is_silent(self) -> bool:
        """Whether the unit, once it is over, has nothing to conclude from."""
        if self._silent is None:
            self._silent = self.watched.is_silent()
        return self._silent

    @property
    def limits(self) -> list[str]:
        return self.budget.limits

    def use(self, other: Unit) -> None:
        """Rests on another unit from now on."""
        if id(other) in self.parts:
            return
        self.parts[id(other)] = other
        self.activated |= other.activated
        self.learn(other)

    def learn(self, other: Unit) -> None:
        """Rests on all that one of its parts has read."""
        self.take_questions(other)
        self.imports |= other.imports
        self.asked.update(other.asked)

    def take_questions(self, other: Unit) -> None:
        """Rests on what another one has asked of code that did not run."""
        self.consulted |= other.consulted
        for node, answers in other.weighed.items():
            self.weighed.setdefault(node, {}).update(answers)

    def weigh(self, node: Any, question: Callable[[Any], Any]) -> Any:
        """Asks one thing of a function's code, and rests on nothing else of it."""
        answer = self.weighed.setdefault(node, {})[question] = question(node)
        return answer

    def read(self, nodes: set[Any], modules: Collection[str]) -> bool:
        """Whether the unit ran or read one of some nodes, or asked for one of some modules."""
        return not (
            nodes.isdisjoint(self.activated)
            and nodes.isdisjoint(self.consulted)
            and nodes.isdisjoint(self.weighed)
            and self.imports.isdisjoint(modules)
        )

    def holds(self, workspace: Workspace) -> bool:
        """Whether what was read for this unit alone is still the same."""
        if not self.files and not self.asked:
            return True
        return all(workspace.stamp(path) == stamp for path, stamp in self.files.items()) and all(
            getattr(workspace, question)(about) == known
            for (question, about), known in self.asked.items()
        )

    def told(self, codes: Iterable[tuple[Any, Any, Any]]) -> bool:
        """Whether the unit read the text of a function or class that has changed, and what it
        asked of it has another answer now."""
        return any(
            left in self.consulted or self._reads_else(left, right) for _, left, right in codes
        )

    def _reads_else(self, left: Any, right: Any) -> bool:
        known = self.weighed.get(left, {})
        return any(question(right) != answer for question, answer in known.items())

    def recode(self, codes: Iterable[tuple[Any, Any, Any]]) -> None:
        """Takes the new code of functions and classes, each with its chunk, its old and its new
        node."""
        for chunk, left, right in codes:
            for nodes in (self.activated, self.entered, self.consulted):
                if left in nodes:
                    nodes.remove(left)
                    nodes.add(right)
            if left in self.weighed:
                self.weighed[right] = self.weighed.pop(left)
            if self.rests_on is not None and left in self.rests_on:
                self.rests_on = (self.rests_on - {left}) | {right}
            if left in self.recorder.settled:
                self.recorder.settled = (self.recorder.settled - {left}) | {right}
            for table in (self.defined, self.classes):
                found = table.pop(left, None)
                if found is not None:
                    found.node, found.chunk = right, chunk
                    table[right] = found
                    if isinstance(right, ast.ClassDef):
                        found.site = right
            if self.landmarks is not None:
                self.landmarks.recode(left, right)

    def recorders(self) -> Iterator[Recorder]:
        """Its own recorder, and those of its statements that ran apart."""
        yield self.recorder
        for part in self.parts.values():
            if part.within:
                yield from part.recorders()

    def flat(self) -> dict[int, Unit]:
        """The unit and all its parts, parts first."""
        found: dict[int, Unit] = {}
        for part in self.parts.values():
            found.update(part.flat())
        found[id(self)] = self
        return found
