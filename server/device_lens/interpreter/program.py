"""The modules of a workspace, their top levels run once, kept between versions of its files.

Every unit starts from here and leaves nothing behind: what it wrote to the heap is undone. When a
file changes in nothing but the bodies of functions, its module stays and the functions get their
new code; else the module is run again, and with it those that import it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from device_lens.domain.heap import moment
from device_lens.domain.history import History
from device_lens.domain.values import forgetting
from device_lens.interpreter import patching, standalone, unfinished
from device_lens.interpreter.budget import Budget, Options
from device_lens.interpreter.edits import Codes, Edits
from device_lens.interpreter.former import Former
from device_lens.interpreter.landmarks import Landmarks
from device_lens.interpreter.loads import Load, undo
from device_lens.interpreter.machine import Machine
from device_lens.interpreter.protocol import Workspace
from device_lens.interpreter.recording import Recorder
from device_lens.interpreter.relevance import Relevance
from device_lens.interpreter.stretch import Stretch
from device_lens.interpreter.unit import Unit
from device_lens.interpreter.visits import Visits
from device_lens.interpreter.watched import Watched
from device_lens.models.torch.parts import device_remembered


class Program:
    """The modules of one workspace, and the units that rest on them. For one thread."""

    def __init__(self, options: Options, workspace: Workspace) -> None:
        self.options = options
        self.cancelled: Callable[[], bool] = lambda: False
        self.loading: list[str] = []
        self.stretch: Stretch | None = None
        """The statements that were edited last, in a function."""
        self.edited: frozenset[str] = frozenset()
        """The files that somebody edits."""
        self.history: History | None = None
        """What happens to the heap in the unit that runs, where its states will be asked for."""
        self._overtaken: set[Hashable] = set()
        """The scripts that an edit took."""
        self._start_afresh(workspace)

    def _start_afresh(self, workspace: Workspace) -> None:
        self.watched = Watched()
        self.loads: dict[str, Load] = {}
        self._aside: list[Load] = []
        self.units: dict[Any, Unit] = {}
        self.instances: dict[Any, standalone.Made | None] = {}
        self.relevance = Relevance(workspace, lambda: self.cancelled())
        self.former = Former()
        self.machine = Machine(self, self.options, workspace)
        self.machine.adopt(self.unit(self.options.max_steps))
        self.start = dict(self.machine.globals)
        self.defined: dict[Any, Any] = {}
        self.classes: dict[Any, Any] = {}
        self.activations: Counter[Any] = Counter()
        """Those of functions that top levels call: all of them count together."""

    def unit(self, steps: int, lasting: bool = False) -> Unit:
        """A new unit. With `lasting`, its values are for others too."""
        journal = self.machine.journal
        recorder = Recorder(lambda module: device_remembered(module, journal.moves))
        budget = Budget(steps, lambda: self.cancelled())
        return Unit(recorder, Watched(self.watched, lasting), budget)

    # What a new version of the files leaves standing.

    def begin(self, workspace: Workspace, cancelled: Callable[[], bool]) -> None:
        """Takes the files as they are now."""
        self.cancelled = cancelled
        self.machine.workspace = workspace
        self.edited = workspace.edited
        self._leave_alone()
        self.relevance.begin(workspace)
        self._edits = Edits()
        for key in [key for key, unit in self.units.items() if not unit.holds(workspace)]:
            if not self._is_spliced(key, workspace):
                self._edits.touched = True
                del self.units[key]
        for cls in [c for c, m in self.instances.items() if m and not m.unit.holds(workspace)]:
            self._forget_instance(cls)
        gone = [
            path
            for path, load in self.loads.items()
            if not load.unit.holds(workspace)
            or (workspace.stamp(path) != load.stamp and not self._patch(path, workspace))
        ]
        if gone:
            self._edits.touched = True
        if self.former.is_too_much():
            self._start_afresh(workspace)
        elif gone:
            self.drop(gone)
        self._run_edited()

    def _patch(self, path: str, workspace: Workspace) -> bool:
        """Gives a module the new bodies of its functions, if that is all that changed."""
        load = self.loads[path]
        new = workspace.source(path)
        if new is None or not load.shared:
            return False
        old = load.namespace.file
        if unfinished.is_all(old, new, self._files_around(path)):
            load.namespace.file = new
            load.stamp = workspace.stamp(path)
            return True
        pairs = patching.replaced(old.chunks, new.chunks)
        if pairs is None:
            return False
        codes: Codes = []
        for before, after in pairs:
            inner = patching.definitions(before.body, after.body)
            if inner is None or not all(each.allows(before, after) for each in self.loads.values()):
                return False
            codes += ((after, left, right) for left, right in inner)
        for chunk, left, right in codes:
            self._recode(chunk, left, right)
        for _, after in pairs:
            if after.splice is not None:
                self._rehouse(after)
        load.namespace.file = new
        load.stamp = workspace.stamp(path)
        self.former.add(before for before, _ in pairs)
        alone = patching.spliced(old.chunks, new.chunks)
        if alone is not None and self._says_the_same(*alone, codes):
            self._rename(codes)
            return True
        self._edits.touched = True
        kept = set() if alone is None else self._edits.put_off(alone[1], codes, self._all_units())
        self._forget_units({left for _, left, _ in codes}, kept=kept)
        return True

    def _says_the_same(self, before: Any, after: Any, codes: Codes) -> bool:
        """Whether nothing has changed but comments and blank lines, without a word that matters."""
        words = self.relevance.words
        return not (after.splice.added or after.splice.removed) and all(
            words(before, left) == words(after, right) for _, left, right in codes
        )

    def _rename(self, codes: Codes) -> None:
        """Some functions and classes are other nodes now, and nothing else has changed."""
        units: dict[int, Unit] = {}
        for unit in self._all_units():
            units.update(unit.flat())
        for load in self.loads.values():
            units.update(load.unit.flat())
        for unit in units.values():
            unit.recode(codes)
        for _, left, right in codes:
            if left in self.units:
                self.units[right] = self.units.pop(left)

    def _is_spliced(self, key: Any, workspace: Workspace) -> bool:
        """Whether a script that does not hold differs only by an edit of one of its functions,
        which may be run by itself."""
        unit, (kind, path) = self.units[key], key if isinstance(key, tuple) else ("", "")
        new = workspace.source(path) if kind == "script" else None
        if new is None or unit.source is None:
            return False
        aside = unfinished.is_all(unit.source, new, self._files_around(path))
        pair = patching.spliced(unit.source.chunks, new.chunks)
        inner = None if pair is None else patching.definitions(pair[0].body, pair[1].body)
        if not aside and (pair is None or inner is None):
            return False
        before, unit.files[path] = unit.files[path], workspace.stamp(path)
        if not unit.holds(workspace):
            unit.files[path] = before
            return False
        unit.source = new
        if aside or pair is None or inner is None:
            return True
        codes = [(pair[1], left, right) for left, right in inner]
        if self._says_the_same(*pair, codes):
            unit.recode(codes)
            return True
        return bool(self._edits.put_off(pair[1], codes, (unit,)))

    def _files_around(self, path: str) -> Iterator[Any]:
        """The other files that may see what a module binds."""
        for importer in self._importers([path]) - {path}:
            yield self.loads[importer].namespace.file
        for key, unit in self.units.items():
            if key != ("script", path) and unit.source and path in unit.imports:
                yield unit.source

    def _run_edited(self) -> None:
        """Lets those units stand in which edited statements do what they did before: none of them
        if that is cancelled."""
        before, self.stretch = self.stretch, None
        gone: Collection[int] = self._edits.open_units(self._all_units())
        nodes: Mapping[Any, Any] = {}
        try:
            self.stretch, gone, nodes = self._edits.settle(self.machine, before, self._depth)
        finally:
            self._renew(gone, nodes)

    def _renew(self, gone: Collection[int], nodes: Mapping[Any, Any]) -> None:
        """Forgets some units, and keeps those of functions under their new nodes."""
        for key in [key for key, unit in self.units.items() if id(unit) in gone]:
            del self.units[key]
            if isinstance(key, tuple):
                self._overtaken.add(key)
        for cls in [c for c, made in self.instances.items() if made and id(made.unit) in gone]:
            self._forget_instance(cls)
        for left in [left for left in nodes if left in self.units]:
            self.units[nodes[left]] = self.units.pop(left)

    def _depth(self, unit: Unit, codes: Codes) -> int | None:
        """How deep a unit follows calls now, where that hangs on the edited function itself."""
        for _, left, right in codes:
            function = self.defined.get(right)
            if self.units.get(left) is unit and function is not None and unit.symbolic_depth:
                return standalone.depth_of(self.machine, function)
        return None

    def _recode(self, chunk: Any, old: Any, new: Any) -> None:
        self.relevance.forget(old)
        function = self.defined.pop(old, None)
        if function is not None:
            function.node, function.chunk = new, chunk
            self.defined[new] = function
        cls = self.classes.pop(old, None)
        if cls is not None:
            cls.node = cls.site = new
            cls.chunk = chunk
            self.classes[new] = cls

    def _rehouse(self, chunk: Any) -> None:
        """Lets code that stayed know the text in which it stands now."""
        for node in patching.defined_in(chunk.body):
            for table in (self.defined, self.classes):
                if node in table:
                    table[node].chunk = chunk

    def _forget_units(
        self, nodes: set[Any], modules: Collection[str] = (), kept: Collection[int] = ()
    ) -> None:
        """Forgets what ran or read some nodes, or asked for some modules, save what is `kept`."""
        for key, unit in list(self.units.items()):
            if unit.read(nodes, modules) and id(unit) not in kept:
                del self.units[key]
        for cls, made in list(self.instances.items()):
            if made is not None and made.unit.read(nodes, modules) and id(made.unit) not in kept:
                self._forget_instance(cls)

    def _all_units(self) -> list[Unit]:
        """Those that stand for themselves: of scripts, functions and instances."""
        return [*self.units.values(), *(made.unit for made in self.instances.values() if made)]

    def _forget_instance(self, cls: Any) -> None:
        made = self.instances.pop(cls)
        if made is not None:
            self.watched.forget(made.unit.watched)

    def drop(self, paths: Iterable[str]) -> None:
        """Takes some modules out, with those that import them."""
        gone = self._importers(paths)
        if not gone:
            return
        machine = self.machine
        left = [load for path, load in self.loads.items() if path in gone]
        if not undo([effect for load in left for effect in load.effects], machine.journal):
            self._start_afresh(machine.workspace)
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
        self._forget_units({*code, *classes}, gone)

    def _importers(self, paths: Iterable[str]) -> set[str]:
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
        if key in self._overtaken and unit.visits is not None:
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
            self._overtaken.discard(key)

    def look_at_edited(self, unit: Unit) -> None:
        """Has the runs of the statements that were edited last taken down in a unit."""
        if self.stretch is not None and self.history is not None:
            unit.visits = Visits(self.stretch)
            self._looked_at.append(unit.visits)

    def leave(self, unit: Unit) -> None:
        """Takes those modules out again that only one unit may see."""
        for load in self._leave_alone():
            unit.use(load.unit)
            unit.files[load.namespace.path] = load.stamp

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

    def _leave_alone(self) -> list[Load]:
        self._aside = []
        alone = self._importers(path for path, load in self.loads.items() if not load.shared)
        left = [load for path, load in self.loads.items() if path in alone]
        self.drop(alone)
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
