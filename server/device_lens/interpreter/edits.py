"""Which units hold on after an edit of a function or of a script's top level: those in which the
edited statements, run again by themselves, do to the rest what they did before."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from device_lens.interpreter.replay import again, begun
from device_lens.interpreter.stretch import Around, AroundInFunction, Stretch
from device_lens.interpreter.told import Text
from device_lens.interpreter.top_level import AroundAtTop, TopLevel

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.unit import Unit
    from device_lens.syntax.chunk import Chunk, Splice

Codes = list[tuple[Any, Any, Any]]
"""Functions and classes that are other nodes now: the chunk, the old node, the new one."""


@dataclass(frozen=True, slots=True, eq=False)
class Edit:
    """What a new version of a file did to one block, what is around it, and what are other nodes
    now; without a `splice` it is not told. What `says_nothing` leaves everything as it is."""

    splice: Splice | None
    around: Around | None
    codes: Codes
    says_nothing: bool = False


def in_function(chunk: Chunk, codes: Codes) -> Edit:
    """The edit of a function in a chunk."""
    splice = chunk.splice
    owner = splice and splice.owner
    if not isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef):
        return Edit(None, None, codes)
    return Edit(splice, AroundInFunction(chunk, owner), codes)


def at_top(top: TopLevel, says_nothing: bool) -> Edit:
    """The edit of a top level."""
    around = None if top.splice is None else AroundAtTop(top, top.splice)
    return Edit(top.splice, around, [], says_nothing)


class Edits:
    """The edits since the last look, and the units about which they leave a question."""

    def __init__(self) -> None:
        self._known: dict[int, Edit] = {}
        self._open: dict[int, tuple[Unit, Edit]] = {}
        self.touched = False
        """Whether any file says something else than before."""

    def put_off(self, edit: Edit, units: Iterable[Unit]) -> set[int]:
        """Takes those out of some units that read edited code and may hold on. The answer is known
        once all files are: by their identities, they are kept until then."""
        self.touched = True
        self._known[id(edit.splice)] = edit
        lefts = {left for _, left, _ in edit.codes}
        found: set[int] = set()
        for unit in units:
            if edit.codes and (not unit.read(lefts, ()) or unit.told(edit.codes)):
                continue
            known = self._open.get(id(unit))
            if known is None or known[1].splice is edit.splice:
                self._open[id(unit)] = unit, edit
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
        edit = next(iter(self._known.values()), None)
        if edit is None or edit.splice is None or edit.around is None or len(self._known) > 1:
            return None if self.touched else before, set(opened), {}
        splice, around = edit.splice, edit.around
        grown = None if before is None else before.grown(splice)
        put_in = Stretch(splice.block, splice.start, splice.start + splice.added)
        # What cannot run by itself would hold each later edit in it, and each would run all.
        found = put_in if around.fits(put_in) else None
        text = Text((grown or put_in).body)
        gone: set[int] = set()
        nodes: dict[Any, Any] = {}
        for unit, each in opened.values():
            codes = each.codes
            deep = depth(unit, codes)
            unit.recode(codes)
            nodes.update((left, right) for _, left, right in codes)
            if deep is not None and deep != unit.symbolic_depth:
                gone.add(id(unit))
            elif (codes and unit.entered.isdisjoint(right for _, _, right in codes)) or (
                grown is None and begun(machine, unit, put_in, text, around, splice)
            ):
                continue
            elif (
                grown is not None
                and unit.visits is not None
                and unit.visits.stretch is before
                and again(machine, unit, grown, text, around, splice)
            ):
                found = grown
            elif edit.says_nothing:
                found = None
            else:
                gone.add(id(unit))
        for unit, _ in opened.values():
            parts = [
                part for key, part in unit.flat().items() if key in opened and part is not unit
            ]
            if any(id(part) in gone for part in parts):
                gone.add(id(unit))
            for part in parts:
                unit.learn(part)
        return found, gone, nodes
