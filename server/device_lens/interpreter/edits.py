"""Which units hold on after the edit of a function: those in which the edited statements, run again
by themselves, do to the rest what they did before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from device_lens.interpreter.replay import again, begun
from device_lens.interpreter.stretch import Stretch

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.unit import Unit
    from device_lens.syntax.chunk import Chunk

Codes = list[tuple[Any, Any, Any]]
"""Functions and classes that are other nodes now: the chunk, the old node, the new one."""


class Edits:
    """The edits since the last look, and the units about which they leave a question."""

    def __init__(self) -> None:
        self._chunks: dict[int, Chunk] = {}
        self._open: dict[int, tuple[Unit, Chunk, Codes]] = {}
        self.touched = False
        """Whether any file says something else than before."""

    def put_off(self, chunk: Chunk, codes: Codes, units: Iterable[Unit]) -> set[int]:
        """Takes those out of some units that read edited code and may hold on. The answer is known
        once all files are: by their identities, they are kept until then."""
        self.touched = True
        self._chunks[id(chunk)] = chunk
        lefts = {left for _, left, _ in codes}
        found: set[int] = set()
        for unit in units:
            if not unit.read(lefts, ()) or unit.told(codes):
                continue
            known = self._open.get(id(unit))
            if known is None or known[1] is chunk:
                self._open[id(unit)] = unit, chunk, codes
                found.add(id(unit))
        return found

    def open_units(self, standing: Iterable[Unit]) -> set[int]:
        """Those of the units that still stand about which a question is left, by their identities.
        The others are let go."""
        left = {id(unit) for unit in standing}
        self._open = {key: each for key, each in self._open.items() if key in left}
        return set(self._open)

    def settle(
        self,
        machine: Machine,
        before: Stretch | None,
        depth: Callable[[Unit, Codes], int | None],
    ) -> tuple[Stretch | None, set[int], Mapping[Any, Any]]:
        """Runs the edited statements again in the units that ran them. Gives the stretch to
        look at from now on, the units that do not hold, and the new nodes by the old ones. `depth`
        is how deep a unit follows calls now."""
        opened = self._open
        chunk = next(iter(self._chunks.values()), None)
        if chunk is None or chunk.splice is None or len(self._chunks) > 1:
            return None if self.touched else before, set(opened), {}
        splice = chunk.splice
        grown = None if before is None else before.grown(splice)
        found = Stretch(splice.block, splice.start, splice.start + splice.added)
        around = (grown or found).names_around(chunk, splice.function)
        gone: set[int] = set()
        nodes: dict[Any, Any] = {}
        for unit, _, codes in opened.values():
            deep = depth(unit, codes)
            unit.recode(codes)
            nodes.update((left, right) for _, left, right in codes)
            if deep is not None and deep != unit.symbolic_depth:
                gone.add(id(unit))
            elif unit.entered.isdisjoint(right for _, _, right in codes):
                continue
            elif grown is None:
                if not begun(machine, unit, found, around, splice):
                    gone.add(id(unit))
            elif (
                unit.visits is not None
                and unit.visits.stretch is before
                and again(machine, unit, grown, around, splice)
            ):
                found = grown
            else:
                gone.add(id(unit))
        for unit, _, _ in opened.values():
            parts = [
                part for key, part in unit.flat().items() if key in opened and part is not unit
            ]
            if any(id(part) in gone for part in parts):
                gone.add(id(unit))
            for part in parts:
                unit.learn(part)
        return found, gone, nodes
