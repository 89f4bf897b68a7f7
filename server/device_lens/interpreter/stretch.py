"""The statements that were edited last, run again by themselves where a unit has run them.

While a unit runs, each visit of these statements is set apart: what they find is a part of its
own, and the state before them is kept. After the next edit of the same place only they run again,
from each of these states. Where they do to the rest of the program what they did before, the
unit would find elsewhere what it has found, and need not run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from device_lens.domain.heap import MISSING, Dated
from device_lens.domain.journal import Delta
from device_lens.domain.path import Path
from device_lens.domain.values import Remembered, newly_treated
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.told import Text
from device_lens.interpreter.visits import MOST_VISITS, Outcome, Visit, part_of, state_of
from device_lens.syntax.gathering import gather
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine
    from device_lens.syntax.chunk import Chunk, Splice

_BEYOND = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.Import,
    ast.ImportFrom,
    ast.Global,
    ast.Nonlocal,
    ast.Return,
    ast.Yield,
    ast.YieldFrom,
    ast.Await,
    ast.Break,
    ast.Continue,
    ast.Delete,
    ast.Raise,
)
"""What reaches beyond the statements that it is among."""
_NAME = re.compile(r"[^\W\d]\w*")
_ANY = "*"
"""Stands for all names where some are looked up by their texts."""
_BY_TEXT = frozenset({"locals", "eval", "exec"})
"""Builtins that look local names up by their texts."""


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Some statements of a block."""

    block: list[ast.stmt]
    start: int
    stop: int

    @property
    def body(self) -> list[ast.stmt]:
        return self.block[self.start : self.stop]

    @property
    def is_plain(self) -> bool:
        """Whether nothing in it reaches beyond it."""
        return not any(
            isinstance(node, _BEYOND) for statement in self.body for node in walk(statement)
        )

    def grown(self, splice: Splice) -> Stretch | None:
        """The stretch after an edit of it, or right behind it; None for an edit elsewhere."""
        if self._holding(splice.block) is not None:
            return self
        if splice.block is not self.block or splice.start < self.start:
            return None
        if splice.start + splice.removed > self.stop:
            return None
        return Stretch(self.block, self.start, self.stop + splice.added - splice.removed)

    def unchanged(self, splice: Splice) -> int:
        """How many statements of a grown stretch come before an edit of it."""
        if splice.block is self.block:
            return splice.start - self.start
        return self._holding(splice.block) or 0

    def _holding(self, block: list[ast.stmt]) -> int | None:
        """The number of the statement that has a block in it."""
        for number, statement in enumerate(self.body):
            if any(_has_block(node, block) for node in walk(statement)):
                return number
        return None

    def names_around(self, chunk: Chunk, function: ast.stmt) -> set[str] | None:
        """What the rest of a function, or of another statement of a chunk, mentions; None where it
        shares a line with the stretch, or where that is not plain."""
        if not self.is_plain:
            return None
        lines = chunk.text.split("\n")
        first = function.lineno - chunk.first_line
        last = (function.end_lineno or function.lineno) - chunk.first_line
        if self.start == self.stop:
            return set(_words("\n".join(lines[first : last + 1])))
        start = self.block[self.start].lineno - chunk.first_line
        stop = _end(self.block[self.stop - 1]) - chunk.first_line
        if self.start and _end(self.block[self.start - 1]) - chunk.first_line >= start:
            return None
        behind = self.block[self.stop : self.stop + 1]
        if behind and behind[0].lineno - chunk.first_line <= stop:
            return None
        around = lines[first:start], lines[stop + 1 : last + 1]
        return {word for part in around for word in _words("\n".join(part))}

    def really(self, function: ast.stmt, names: set[str]) -> set[str]:
        """Those of some names that the rest of a function mentions otherwise than in texts or as
        attributes; all where it may look names up by their texts."""
        if not names:
            return names
        used = _used(function)
        own = [name for each in self.body for name in _used(each)]
        if used.count(_ANY) > own.count(_ANY):
            return names
        return {each for each in names if used.count(each) > own.count(each)}


class Around(Protocol):
    """What is around a stretch."""

    def fits(self, stretch: Stretch) -> bool:
        """Whether a stretch is plain, and shares no line with what is around it."""

    def is_whole(self, block: list[ast.stmt]) -> bool:
        """Whether a block runs as often as what it is a part of."""

    def is_in_branch(self, block: list[ast.stmt]) -> bool:
        """Whether a block is a part of branches alone, which may be dead."""

    def mentioned(self, stretch: Stretch, names: frozenset[str]) -> frozenset[str]:
        """Those of some names that anything else may read."""


class AroundInFunction:
    """What is around a stretch of a function, whose names are its own."""

    def __init__(self, chunk: Chunk, owner: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._owner = owner
        self._chunk = chunk
        self._known: tuple[Stretch, set[str] | None] | None = None

    def fits(self, stretch: Stretch) -> bool:
        return self._names(stretch) is not None

    def is_whole(self, block: list[ast.stmt]) -> bool:
        return block is self._owner.body

    def is_in_branch(self, block: list[ast.stmt]) -> bool:
        return False  # its text tells what the function does where it is not followed

    def mentioned(self, stretch: Stretch, names: frozenset[str]) -> frozenset[str]:
        around = self._names(stretch)
        doubtful = set(names) if around is None else around & names
        return frozenset(stretch.really(self._owner, doubtful))

    def _names(self, stretch: Stretch) -> set[str] | None:
        """What the rest of the function mentions, which is asked for each visit."""
        known = self._known
        if known is None or known[0] is not stretch:
            around = stretch.names_around(self._chunk, self._owner)
            known = self._known = stretch, around
        return known[1]


@lru_cache(8)
def _words(text: str) -> frozenset[str]:
    """What a text mentions: around the statements that are typed it is always the same."""
    return frozenset(_NAME.findall(text))


def _used(node: ast.AST) -> Sequence[str]:
    """The names that a node and those in it have otherwise than as texts or attributes, as often as
    they have them."""
    return gather(node, "_used_names", _used_in)


def _used_in(node: ast.AST) -> Iterable[str]:
    if isinstance(node, ast.Name):
        return (node.id,)
    if looks_up_texts(node):
        return (_ANY,)
    without = isinstance(node, ast.Attribute | ast.Constant | ast.keyword)
    return () if without else identifiers(node)


def looks_up_texts(node: ast.AST) -> bool:
    """Whether a node is a call that may look names up by their texts."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    name = node.func.id
    return name in _BY_TEXT or (name in ("vars", "dir") and not node.args)


def identifiers(node: ast.AST) -> Iterator[str]:
    """The names, and the texts that may be names, that a node itself has."""
    for _, value in ast.iter_fields(node):
        if isinstance(value, str):
            yield value.partition(".")[0]
        elif isinstance(value, list):
            yield from (each for each in value if isinstance(each, str))


def _has_block(node: ast.AST, block: list[ast.stmt]) -> bool:
    return any(getattr(node, name, None) is block for name in ("body", "orelse", "finalbody"))


def _end(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


def run(machine: Machine, stretch: Stretch, frame: Frame) -> int:
    """Runs a block that has the stretch in it."""
    block = stretch.block
    return (
        machine.execute_some(block[: stretch.start], frame, None)
        or _visit(machine, stretch, frame)
        or machine.execute_some(block[stretch.stop :], frame, block)
    )


def _visit(machine: Machine, stretch: Stretch, frame: Frame) -> int:
    """Runs a stretch apart, and takes down what is needed to run it again."""
    unit = machine.unit
    visits, history = unit.visits, machine.program.history
    if visits is None or history is None or visits.stretch is not stretch:
        return machine.execute_each(stretch.body, frame)
    if len(visits.each) >= MOST_VISITS or not stretch.is_plain:
        visits.usable = False
    if not visits.usable:
        return machine.execute_each(stretch.body, frame)
    if unit.landmarks is not None:
        unit.landmarks.complete = False
    part = part_of(machine, unit)
    part.symbolic = machine.symbolic
    part.run_on(unit)
    part.watched = unit.watched.inside()
    visit = state_of(machine, frame, part, history.mark())
    visits.each.append(visit)
    visits.contexts.append(Text(stretch.body).context(frame))
    flow, machine.path, visit.outcome = observed(
        machine, visit, frame, stretch.body, visit.unknowns
    )
    unit.use(part)
    unit.entered |= part.entered
    unit.noted |= part.noted
    unit.watched.take_notes(part.watched)
    unit.watched.mask, unit.watched.started = part.watched.mask, part.watched.started
    if visit.outcome is None:
        # What others see of the same code comes before or after it, as in any other run.
        visits.usable = False
        del unit.parts[id(part)]
        unit.recorder.take(part.recorder)
        unit.findings.take(part.findings)
        unit.watched.take(part.watched)
    return flow


def observed(
    machine: Machine, visit: Visit, frame: Frame, body: list[ast.stmt], known: Remembered
) -> tuple[int, Path, Outcome | None]:
    """Runs a stretch in its part; `known` is what has been remembered of unknowns since the memory
    of them began. Gives no outcome where it did more than an outcome can tell."""
    part, mark = visit.part, machine.journal.mark()
    with machine.apart(part):
        before = _surroundings(machine, frame)
        flow = machine.execute_each(body, frame)
        path = machine.path
        calm = not flow and path is visit.path and _surroundings(machine, frame) == before
        steps = sum(visit.steps) - machine.budget.left
    if not calm or part.activated or part.imports or not part.watched.is_tame():
        return flow, path, None
    writes: Delta = {}
    names: set[str] = set()
    for place, (table, key, old) in machine.journal.value_at(mark).items():
        new = table.get(key, MISSING)
        if (isinstance(table, Dated) and table.born >= visit.born) or new is old:
            continue
        writes[place] = (table, key, new)
        if table is frame.scope.names and isinstance(key, str):
            names.add(key)
    starts = part.watched.started is not visit.watched.started
    treated = newly_treated(known)
    return flow, path, Outcome(writes, frozenset(names), treated, steps, starts)


def _surroundings(machine: Machine, frame: Frame) -> list[Any]:
    """What a stretch must leave as it is."""
    watched = machine.watched
    ways = [(len(loop.breaks), len(loop.continues)) for loop in frame.loops]
    return [
        list(map(id, machine.globals.values())),
        (len(frame.exits), frame.yields and len(frame.yields), frame.deferring),
        (frame.raised, frame.thrown, frame.open_ended),
        (frame.branch_depth, frame.try_depth, ways, len(machine.stack)),
        (id(watched.mask), list(map(id, watched.contexts))),
        (len(watched.steps) if watched.open_calls else 0, len(machine.budget.limits)),
        set(machine.shared),
    ]
