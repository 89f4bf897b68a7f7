"""The modules of a workspace, their top levels run once, kept between versions of its files.

Every unit starts from here and leaves nothing behind: what it wrote to the heap is undone. When a
file changes in nothing but the bodies of functions, its module stays and the functions get their
new code; else the module is run again, and with it those that import it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable
from functools import partial
from typing import Any

from device_lens.domain.code import Namespace
from device_lens.domain.heap import moment
from device_lens.domain.history import History
from device_lens.domain.values import forgetting
from device_lens.interpreter import standalone
from device_lens.interpreter.budget import Budget, Options
from device_lens.interpreter.former import Former
from device_lens.interpreter.landmarks import Landmarks
from device_lens.interpreter.loads import Load, undo
from device_lens.interpreter.machine import Machine
from device_lens.interpreter.moved_by_others import MovedByOthers
from device_lens.interpreter.protocol import Workspace
from device_lens.interpreter.recording import Recorder
from device_lens.interpreter.registering import Registries
from device_lens.interpreter.relevance import Relevance
from device_lens.interpreter.revision import Revision
from device_lens.interpreter.stretch import Stretch
from device_lens.interpreter.told import Text
from device_lens.interpreter.top_level import TopLevel
from device_lens.interpreter.unit import Unit
from device_lens.interpreter.unseen_defaults import UnseenDefaults
from device_lens.interpreter.visits import Visits
from device_lens.interpreter.waiting import Texts
from device_lens.interpreter.watched import Watched
from device_lens.models.torch.parts import device_remembered


class Program:
    """The modules of one workspace, and the units that rest on them. For one thread."""

    def __init__(self, options: Options, workspace: Workspace) -> None:
        self.options = options
        self.cancelled: Callable[[], bool] = lambda: False
        self.loading: list[str] = []
        self.stretch: Stretch | None = None
        """The statements that were edited last."""
        self.tops: dict[str, TopLevel] = {}
        """The top levels of edited scripts."""
        self.edited: frozenset[str] = frozenset()
        """The files that somebody edits."""
        self.history: History | None = None
        """What happens to the heap in the unit that runs, where its states will be asked for."""
        self.overtaken: set[Hashable] = set()
        """The scripts that an edit took."""
        self.start_afresh(workspace)

    def start_afresh(self, workspace: Workspace) -> None:
        self.watched = Watched()
        self.loads: dict[str, Load] = {}
        self._aside: list[Load] = []
        self.units: dict[Any, Unit] = {}
        self.instances: dict[Any, standalone.Made | None] = {}
        self.relevance = Relevance(workspace, lambda: self.cancelled())
        self.shows: dict[Any, bool] = {}
        """What the texts of definitions show of devices (`demand.py`)."""
        self.texts = Texts()
        self.unseen_defaults = UnseenDefaults()
        self.moved_by_others = MovedByOthers()
        self.registries = Registries()
        self.former = Former()
        self.machine = Machine(self, self.options, workspace)
        self.machine.adopt(self.unit(self.options.max_steps))
        self.start = dict(self.machine.globals)
        self.defined: dict[Any, Any] = {}
        self.classes: dict[Any, Any] = {}
        self.activations: Counter[Any] = Counter()
        """Those of functions that top levels call: all of them count together."""

    def unit(
        self,
        steps: int,
        lasting: bool = False,
        own: frozenset[str] = frozenset(),
        most: int | None = None,
    ) -> Unit:
        """A new unit. With `lasting`, its values are for others too. The statements of its `own`
        files have as many steps again. It has no more than `most` in all, however many files it
        reaches."""
        journal = self.machine.journal
        recorder = Recorder(lambda module: device_remembered(module, journal.moves))
        budget = Budget(steps, lambda: self.cancelled(), steps if own else 0, most=most)
        found = Unit(recorder, Watched(self.watched, lasting), budget)
        found.own = own
        return found

    def begin(self, workspace: Workspace, cancelled: Callable[[], bool]) -> None:
        """Takes the files as they are now."""
        self.cancelled = cancelled
        self.machine.workspace = workspace
        self.edited = workspace.edited
        self.leave_alone()
        self.relevance.begin(workspace)
        Revision(self, workspace).take()

    def top_level(self, namespace: Namespace) -> TopLevel | None:
        """That of a script, where somebody edits it."""
        path, file = namespace.path, namespace.file
        if path not in self.edited:
            return None
        top = self.tops.get(path)
        if top is None or top.file is not file:
            top = self.tops[path] = TopLevel(file)
        return top

    def is_ground(self, path: str) -> bool:
        """Whether a module is there only for those of its functions that nobody calls: a script
        has run all else, and nobody imports it."""
        load = self.loads.get(path)
        return ("script", path) in self.units and not (
            load is not None and any(each in self.loads for each in load.importers)
        )

    def forget_units(
        self, nodes: set[Any], modules: Collection[str] = (), kept: Collection[int] = ()
    ) -> None:
        """Forgets what ran or read some nodes, or asked for some modules, save what is `kept`."""
        for key, unit in list(self.units.items()):
            if unit.read(nodes, modules) and id(unit) not in kept:
                self.forget_unit(key)
        for cls, made in list(self.instances.items()):
            if made is not None and made.unit.read(nodes, modules) and id(made.unit) not in kept:
                self.forget_instance(cls)

    def forget_uncalled(self) -> None:
        """Forgets what ran for functions that no script calls, and the objects made for them."""
        for key in [key for key in self.units if not isinstance(key, tuple)]:
            self.forget_unit(key)
        for cls in list(self.instances):
            self.forget_instance(cls)

    def forget_unit(self, key: Any) -> None:
        self.units.pop(key).let_go()

    def all_units(self) -> list[Unit]:
        """Those that stand for themselves: of scripts, functions and instances."""
        return [*self.units.values(), *(made.unit for made in self.instances.values() if made)]

    def forget_instance(self, cls: Any) -> None:
        made = self.instances.pop(cls)
        if made is not None:
            self.watched.forget(made.unit.watched)
            made.unit.let_go()

    def drop(self, paths: Iterable[str]) -> None:
        """Takes some modules out, with those that import them."""
        gone = self.importers(paths)
        if not gone:
            return
        machine = self.machine
        left = [load for path, load in self.loads.items() if path in gone]
        if not undo([effect for load in left for effect in load.effects], machine.journal):
            self.start_afresh(machine.workspace)
            return
        for load in left:
            del self.loads[load.namespace.path]
            machine.modules.pop(load.namespace.path, None)
            self.watched.forget(load.unit.watched)
            load.activations.take_back()
        self.former.add(load.unit for load in left)
        code = {n: f for n, f in self.defined.items() if f.namespace.path in gone}
        classes = {n: c for n, c in self.classes.items() if c.namespace.path in gone}
        for node in code:
            del self.defined[node]
        for node in classes:
            del self.classes[node]
        for node in (*code, *classes):
            self.relevance.forget(node)
            self.shows.pop(node, None)
        scripts = [self.units[key] for path in gone if (key := ("script", path)) in self.units]
        # A script has functions of its own, of the same text.
        kept = {id(unit) for unit in scripts if unit.imports.isdisjoint(gone)}
        self.forget_units({*code, *classes}, gone, kept)

    def importers(self, paths: Iterable[str]) -> set[str]:
        found: set[str] = set()
        pending = list(paths)
        while pending:
            path = pending.pop()
            if path not in found and path in self.loads:
                found.add(path)
                pending += self.loads[path].importers
        return found

    # Running.

    def run(self, unit: Unit, action: Callable[[], None], key: Hashable = None) -> None:
        """Runs a unit from the state that the modules leave, and puts that state back. A script
        that an edit took is known by its `key`."""
        machine = self.machine
        cancelled = self.cancelled
        journal = machine.journal
        mark, start = journal.mark(), moment()
        in_script = self.edited if key is not None else frozenset()
        self.history = History() if in_script or self.stretch is not None else None
        journal.log = None if self.history is None else self.history.changes
        self._looked_at: list[Visits] = []
        self.look_at_edited(unit)
        if self.history is not None and in_script:
            unit.landmarks = Landmarks(self.history, in_script, self.unit(0))
        if key in self.overtaken and unit.visits is not None:
            self.cancelled = partial(
                _give_way, unit.visits, unit.visits.stretch.is_plain, cancelled
            )
        try:
            with machine.apart(unit), forgetting():
                action()
        finally:
            journal.settle(mark, start)
            journal.undo(mark)
            if unit.visits is not None:
                unit.visits.close(unit)
            if self.history is not None:
                for visits in self._looked_at:
                    visits.finish(self.history)
            self.history = journal.log = None
            unit.close()
            self.cancelled = cancelled
            self.overtaken.discard(key)

    def look_at_edited(self, unit: Unit) -> None:
        """Has the runs of the statements that were edited last taken down in a unit."""
        if self.stretch is not None and self.history is not None:
            unit.visits = Visits(self.stretch, silent=Text(self.stretch.body).is_silent)
            self._looked_at.append(unit.visits)

    def leave(self, unit: Unit) -> None:
        """Takes those modules out again that only one unit may see: it rests on what it imports,
        not on what an earlier version has left of the script's own file as a module."""
        seen = self.reached(unit.imports)
        for load in self.leave_alone():
            path = load.namespace.path
            if path in seen:
                unit.use(load.unit)
                unit.files[path] = load.stamp

    def stand(self, path: str | None = None) -> None:
        """Takes the state that decides where what is made goes to be that of a program that starts,
        or as a module's run has left it."""
        load = self.loads.get(path or "")
        self.machine.globals.update(self.start)
        self.machine.globals.update((load.left if load is not None else None) or {})
        self.watched.mask = self.watched.started = None

    def set_aside(self) -> None:
        """Takes back for now what modules changed for others, the latest first."""
        self._aside = [load for load in self.loads.values() if not load.shared]
        for load in reversed(self._aside):
            load.set_aside(self.machine.journal)

    def put_back(self, path: str) -> None:
        """Whoever imports a module finds what it and those that it imports changed for others."""
        if any(load.aside for load in self._aside):
            for load in self.reached([path]).values():
                load.put_back(self.machine.journal)

    def leave_alone(self) -> list[Load]:
        self._aside = []
        gone: list[str] = []
        for path, load in self.loads.items():
            if load.shared:
                continue
            if path in self.edited and self.is_ground(path):
                load.follows = True  # who else imports it runs it again
            else:
                gone.append(path)
        alone = self.importers(gone)
        left = [load for path, load in self.loads.items() if path in alone]
        self.drop(alone)
        self.set_aside()
        self.stand()
        return left

    def reached(self, paths: Iterable[str]) -> dict[str, Load]:
        """The modules that some have imported, directly or not, in the order in which they ran."""
        found: set[str] = set()
        pending = list(paths)
        while pending:
            path = pending.pop()
            if path not in found and path in self.loads:
                found.add(path)
                pending += self.loads[path].unit.imports - found
        return {path: load for path, load in self.loads.items() if path in found}


def _give_way(visits: Visits, is_plain: bool, cancelled: Callable[[], bool]) -> bool:
    """Whether a run that takes down the visits of typed statements stops where it is cancelled. If
    only these statements will have to run at the next letter, half a run would be for nothing."""
    return not (is_plain and visits.usable) and cancelled()
