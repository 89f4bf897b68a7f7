"""What a new version of the files leaves standing of a program.

Where a file changed in nothing but bodies of functions, its module stays and the functions get
their new code. What ran edited statements stands where these, run again by themselves, do to the
rest what they did before: a unit, and the module of a script with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from device_lens.interpreter import patching, standalone, unfinished
from device_lens.interpreter.edits import Codes, Edits, at_top, in_function
from device_lens.interpreter.loads import Load
from device_lens.interpreter.protocol import Workspace
from device_lens.interpreter.top_level import is_under_guard
from device_lens.interpreter.unit import Unit
from device_lens.syntax.chunk import Chunk

if TYPE_CHECKING:
    from device_lens.interpreter.program import Program


class Revision:
    """One step from a version of the files to the next."""

    def __init__(self, program: Program, workspace: Workspace) -> None:
        self._program = program
        self._workspace = workspace
        self._edits = Edits()
        self._followed: list[str] = []
        """Modules that stand only with the scripts of the same files."""

    def take(self) -> None:
        """Takes what the program knows to the new version."""
        program, workspace = self._program, self._workspace
        self._follow_tops()
        for key in [key for key, unit in program.units.items() if not unit.holds(workspace)]:
            if not self._is_spliced(key):
                self._edits.touched = True
                program.forget_unit(key)
        for cls in [c for c, m in program.instances.items() if m and not m.unit.holds(workspace)]:
            program.forget_instance(cls)
        gone = [
            path
            for path, load in program.loads.items()
            if not load.unit.holds(workspace)
            or self._is_missed(load)
            or (workspace.stamp(path) != load.stamp and not self._patch(path))
        ]
        if gone:
            self._edits.touched = True
        if program.former.is_too_much():
            program.start_afresh(workspace)
        elif gone:
            program.drop(gone)
        self._run_edited()

    def _is_missed(self, load: Load) -> bool:
        """Whether a file that somebody edits may ask a module for what it lacks."""
        if not load.lacks:
            return False
        files = map(self._workspace.source, self._program.edited - {load.namespace.path})
        return any(file is not None and unfinished.is_seen(load.lacks, file) for file in files)

    def _follow_tops(self) -> None:
        for path, top in list(self._program.tops.items()):
            new = self._workspace.source(path) if path in self._program.edited else None
            if new is None:
                del self._program.tops[path]
            else:
                self._program.former.add(patching.unshared(top.file.chunks, new.chunks)[0])
                top.follow(new)

    def _patch_top(self, load: Load, new: Any) -> bool:
        """Lets a module stand whose top level was edited where only the script runs that, or does
        what the script does."""
        path = load.namespace.path
        top = self._program.tops.get(path)
        if top is None or top.splice is None or top.before is not load.namespace.file:
            return False
        if not is_under_guard(top.splice.owner):
            if not self._program.is_ground(path):
                return False
            self._followed.append(path)
        load.namespace.file = new
        load.stamp = self._workspace.stamp(path)
        return True

    def _patch(self, path: str) -> bool:
        """Gives a module the new bodies of its functions, if that is all that changed."""
        load = self._program.loads[path]
        new = self._workspace.source(path)
        if new is None or not (load.shared or self._program.is_ground(path)):
            return False
        old = load.namespace.file
        if unfinished.is_all(old, new, self._files_around(path)):
            load.lacks |= unfinished.bound(old, new)
            load.namespace.file = new
            load.stamp = self._workspace.stamp(path)
            return True
        pairs = patching.replaced(old.chunks, new.chunks)
        alone = patching.spliced(old.chunks, new.chunks)
        if self._patch_top(load, new):
            return True
        if pairs is None or any(_is_at_top(after) for _, after in pairs):
            return False
        codes: Codes = []
        for before, after in pairs:
            inner = patching.definitions(before.body, after.body)
            if inner is None or load.misses(after):
                return False
            refusing = [
                each for each in self._program.loads.values() if not each.allows(before, after)
            ]
            if refusing == [load] and alone is not None and self._program.is_ground(path):
                self._followed.append(path)
            elif refusing:
                return False
            codes += ((after, left, right) for left, right in inner)
        for chunk, left, right in codes:
            self._recode(chunk, left, right)
        for _, after in pairs:
            if after.splice is not None:
                self._rehouse(after)
        load.namespace.file = new
        load.stamp = self._workspace.stamp(path)
        self._program.former.add(before for before, _ in pairs)
        if alone is not None and self._says_the_same(*alone, codes):
            self._rename(codes)
            return True
        self._edits.touched = True
        kept: set[int] = set()
        if alone is not None:
            kept = self._edits.put_off(in_function(alone[1], codes), self._program.all_units())
        self._program.forget_units({left for _, left, _ in codes}, kept=kept)
        return True

    def _says_the_same(self, before: Any, after: Any, codes: Codes) -> bool:
        """Whether nothing has changed but comments and blank lines, without a word that matters."""
        words = self._program.relevance.words
        return not (after.splice.added or after.splice.removed) and all(
            words(before, left) == words(after, right) for _, left, right in codes
        )

    def _rename(self, codes: Codes) -> None:
        """Some functions and classes are other nodes now, and nothing else has changed."""
        units: dict[int, Unit] = {}
        for unit in self._program.all_units():
            units.update(unit.flat())
        for load in self._program.loads.values():
            units.update(load.unit.flat())
        for unit in units.values():
            unit.recode(codes)
        for _, left, right in codes:
            if left in self._program.units:
                self._program.units[right] = self._program.units.pop(left)

    def _is_spliced(self, key: Any) -> bool:
        """Whether a script that does not hold differs only by an edit of one of its functions or
        its top level, which may be run by itself."""
        unit, (kind, path) = self._program.units[key], key if isinstance(key, tuple) else ("", "")
        new = self._workspace.source(path) if kind == "script" else None
        if new is None or unit.source is None:
            return False
        aside = unfinished.is_all(unit.source, new, self._files_around(path))
        pair = patching.spliced(unit.source.chunks, new.chunks)
        inner = None if pair is None else patching.definitions(pair[0].body, pair[1].body)
        top = self._program.tops.get(path)
        if top is not None and (top.splice is None or top.before is not unit.source):
            top = None
        if not aside and top is None and (pair is None or inner is None or _is_at_top(pair[1])):
            return False
        before, unit.files[path] = unit.files[path], self._workspace.stamp(path)
        if not unit.holds(self._workspace):
            unit.files[path] = before
            return False
        unit.source = new
        if unit.namespace is not None:
            unit.namespace.file = new
        if top is not None:
            return bool(self._edits.put_off(at_top(top, aside), (unit,)))
        if aside:
            return True
        if pair is None or inner is None:
            return True
        codes = [(pair[1], left, right) for left, right in inner]
        if self._says_the_same(*pair, codes):
            unit.recode(codes)
            return True
        lefts = {left for _, left, _ in codes}
        if unit.read(lefts, ()) or unit.told(codes) or _names_gradients(*pair):
            return bool(self._edits.put_off(in_function(pair[1], codes), (unit,)))
        self._edits.touched = True
        unit.recode(codes)
        return True

    def _files_around(self, path: str) -> Iterator[Any]:
        """The other files that may see what a module binds."""
        for importer in self._program.importers([path]) - {path}:
            yield self._program.loads[importer].namespace.file
        for key, unit in self._program.units.items():
            if key != ("script", path) and unit.source and path in unit.imports:
                yield unit.source

    def _run_edited(self) -> None:
        """Lets those units stand in which edited statements do what they did before: none of them
        if that is cancelled."""
        before, self._program.stretch = self._program.stretch, None
        gone: Collection[int] = self._edits.open_units(self._program.all_units())
        nodes: Mapping[Any, Any] = {}
        try:
            self._program.stretch, gone, nodes = self._edits.settle(
                self._program.machine, before, self._depth
            )
        finally:
            self._renew(gone, nodes)
            self._let_follow()

    def _let_follow(self) -> None:
        """Drops modules that stand only with their scripts, where these do not hold."""
        for path in self._followed:
            if path not in self._program.loads:
                continue
            unit, top = self._program.units.get(("script", path)), self._program.tops.get(path)
            self._program.loads[path].follows = True
            if unit is None:
                self._program.drop([path])
            elif unit.visits is not None and top is not None and top.splice is not None:
                self._program.loads[path].lacks |= unit.visits.names

    def _renew(self, gone: Collection[int], nodes: Mapping[Any, Any]) -> None:
        """Forgets some units, and keeps those of functions under their new nodes."""
        program = self._program
        for key in [key for key, unit in program.units.items() if id(unit) in gone]:
            program.forget_unit(key)
            if isinstance(key, tuple):
                program.overtaken.add(key)
        for cls in [c for c, made in program.instances.items() if made and id(made.unit) in gone]:
            program.forget_instance(cls)
        for left in [left for left in nodes if left in program.units]:
            program.units[nodes[left]] = program.units.pop(left)

    def _depth(self, unit: Unit, codes: Codes) -> int | None:
        """How deep a unit follows calls now, where that hangs on the edited function itself."""
        for _, left, right in codes:
            function = self._program.defined.get(right)
            if (
                self._program.units.get(left) is unit
                and function is not None
                and unit.symbolic_depth
            ):
                return standalone.depth_of(self._program.machine, function)
        return None

    def _recode(self, chunk: Any, old: Any, new: Any) -> None:
        self._program.relevance.forget(old)
        function = self._program.defined.pop(old, None)
        if function is not None:
            function.node, function.chunk = new, chunk
            self._program.defined[new] = function
        cls = self._program.classes.pop(old, None)
        if cls is not None:
            cls.node = cls.site = new
            cls.chunk = chunk
            self._program.classes[new] = cls

    def _rehouse(self, chunk: Any) -> None:
        """Lets code that stayed know the text in which it stands now."""
        for node in patching.defined_in(chunk.body):
            for table in (self._program.defined, self._program.classes):
                if node in table:
                    table[node].chunk = chunk


def _is_at_top(chunk: Chunk) -> bool:
    """Whether an edit changed statements of the top level that have no chunk of their own."""
    splice = chunk.splice
    return splice is not None and not splice.is_in_function and bool(splice.added or splice.removed)


def _names_gradients(before: Chunk, after: Chunk) -> bool:
    """Whether an edit may change what the text of a file tells of gradients."""
    changed = set(before.text.split("\n")) ^ set(after.text.split("\n"))
    return any("grad" in line or "optim" in line.lower() for line in changed)
