"""The state of an analysis, and how paths part and meet.

`Machine` holds the journal, the path condition and the observations. What to do with a node is
found in the tables of `dispatch`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from typing import TYPE_CHECKING, Any

from device_lens.domain import lengths, optional_items
from device_lens.domain.atom import Atom
from device_lens.domain.code import Namespace
from device_lens.domain.condition import negation
from device_lens.domain.guard import Guarded, atom_set, primary, undecided
from device_lens.domain.heap import BIRTHPLACE, BY_ITEM, MISSING, Presences, moment
from device_lens.domain.join import bounded, join
from device_lens.domain.journal import Delta, Journal
from device_lens.domain.path import ALWAYS, Path
from device_lens.domain.presence import bound_in, kept_in, presence_beside, settle
from device_lens.domain.trail import Site
from device_lens.domain.values import (
    BoundExternal,
    Const,
    External,
    HostArray,
    SliceValue,
    Tensor,
    Unknown,
)
from device_lens.interpreter import ambient, stretch
from device_lens.interpreter.budget import Cancelled, Exhausted, Options
from device_lens.interpreter.described import is_nowhere
from device_lens.interpreter.dispatch import DEAD, EVALUATORS, EXECUTORS, NEXT
from device_lens.interpreter.frames import Exit, Frame
from device_lens.interpreter.merging import (
    Ways,
    WhereMade,
    fold,
    fold_in,
    join_in,
    join_presence_in,
    join_presences,
)
from device_lens.interpreter.picks import Pick
from device_lens.interpreter.presently import Presently
from device_lens.interpreter.protocol import ForeignClass, Workspace
from device_lens.interpreter.services import ModelServices
from device_lens.interpreter.unit import Unit
from device_lens.models.numbers import is_plain

if TYPE_CHECKING:
    from device_lens.interpreter.program import Program

_NOT_SHOWN = frozenset({Const, External, BoundExternal, SliceValue, HostArray})
"""Values that are on no device."""


class Machine(Presently, ModelServices):
    """Runs one unit after the other over the modules of a program."""

    def __init__(self, program: Program, options: Options, workspace: Workspace) -> None:
        self.program = program
        self.options = options
        self.workspace = workspace
        self.journal = Journal()
        self.modules: dict[str, Namespace] = {}
        self.globals = ambient.initial()
        self.premises: set[Atom] = set()
        """The atoms of what the path has decided since the innermost call began."""
        self.pick = Pick()
        self.making: list[Any] = []
        """Classes that a metaclass of the program's is at work on, innermost last."""

    def adopt(self, unit: Unit) -> None:
        """Works for a unit from now on. `standalone`: no script calls what runs; `symbolic`: a
        function runs with symbols for its parameters."""
        self.unit = unit
        self.recorder = unit.recorder
        self.findings = unit.findings
        self.watched = unit.watched
        self.budget = unit.budget
        self.memory = unit.memory
        self.alikes = unit.alikes
        self.activations = unit.activations
        self.spent = unit.spent
        self.defined = unit.defined
        self.classes = unit.classes
        self.activated = unit.activated
        self.shared = unit.shared
        self.stack = unit.stack
        self.path = unit.path
        self.active = unit.active
        self.current_call = unit.current_call
        self.standalone = unit.standalone
        self.symbolic = unit.symbolic

    @property
    def path(self) -> Path:
        """What holds where the machine is."""
        return self._path

    @path.setter
    def path(self, path: Path) -> None:
        self._path = path
        BIRTHPLACE.path = path

    @contextmanager
    def apart(self, unit: Unit) -> Iterator[None]:
        """Works for another unit meanwhile."""
        before, path, active = self.unit, self.path, self.active
        current_call, symbolic = self.current_call, self.symbolic
        self.adopt(unit)
        try:
            yield
        finally:
            self.adopt(before)
            self.path, self.active = path, active
            self.current_call, self.symbolic = current_call, symbolic

    def foreign_class(self, name: str) -> ForeignClass | None:
        """What is known now of a class outside the workspace."""
        found = self.unit.asked["foreign_class", name] = self.workspace.foreign_class(name)
        return found

    def exports(self, path: str) -> tuple[str, ...]:
        """The names that a star takes from a module, which is not run for that."""
        found = self.unit.asked["exports", path] = self.workspace.exports(path)
        return found

    def most_activations(self) -> int:
        options = self.options
        return options.symbolic_activations if self.symbolic else options.max_activations

    def conclude(self) -> None:
        """What can be said only at the end of a run."""
        from device_lens.interpreter import reports

        reports.concluded(self)

    def evaluate(self, node: ast.expr, frame: Frame) -> Any:
        """The value of an expression; what devices it shows is recorded."""
        evaluator = EVALUATORS.get(type(node))
        if evaluator is None:
            return Unknown()
        value = evaluator(self, node, frame)
        kind = type(value)
        if kind in _NOT_SHOWN:
            return value
        if kind is Guarded:
            value = bounded(self._here(value))
        self.show(node, value, frame)
        return value

    def show(self, node: Any, value: Any, frame: Frame) -> None:
        """Records what a node is on the present path, if that comes to it. What nothing is known of
        counts where it was known in another pass of the same loop, or in another call."""
        if frame.stuck:
            return
        is_open = type(value) is Unknown and is_nowhere(value) and not is_plain(value)
        differs = bool(frame.loops) and frame.loops[0].differs(node, is_open)
        called = not frame.loops and frame.function is not None and not self.unit.standalone
        if (differs or (is_open and called)) and not self.recorder.omissions.short:
            self.recorder.see_unknown(node, self._path.named)
        if is_open:
            return
        device = value.device if type(value) is Tensor else None
        if type(device) is Guarded:
            device = self._here(device)
        self.recorder.see(node, value, frame, self._path.named, device)

    def _here(self, tree: Guarded) -> Any:
        """What is left of a tree on the present path."""
        left = self._path.left_of(tree)
        if left is not tree:
            self.premises |= atom_set(tree)
        return left

    def execute(self, body: list[ast.stmt], frame: Frame) -> int:
        """Runs statements until one ends the path."""
        edited = self.program.stretch
        if edited is not None and body is edited.block:
            return stretch.run(self, edited, frame)
        return self.execute_some(body, frame, body)

    def execute_some(
        self, statements: list[ast.stmt], frame: Frame, ends: list[ast.stmt] | None
    ) -> int:
        """Runs some statements, and the block that `ends` with them to its end."""
        marks = self.unit.landmarks
        is_known = frame.function is not None or frame.top is not None
        if marks is None or not is_known or frame.namespace.path not in marks.paths:
            return self.execute_each(statements, frame)
        return marks.run(self, statements, frame, ends)

    def execute_each(self, statements: list[ast.stmt], frame: Frame) -> int:
        """Runs some statements; those of a top level know the chunks that they are in."""
        if frame.top is None:
            return self.execute_all(statements, frame)
        chunks = frame.top.chunks
        for statement in statements:
            frame.chunk = chunks.get(statement, frame.chunk)
            if self.execute_all([statement], frame):
                return DEAD
        return NEXT

    def execute_all(self, body: list[ast.stmt], frame: Frame) -> int:
        """The same for statements that are not looked at apart."""
        spend = self.unit.spender(self.budget, frame)
        for statement in body:
            frame.statement = statement
            spend()
            executor = EXECUTORS.get(type(statement))
            if executor is None:
                continue
            try:
                if executor(self, statement, frame) or frame.has_ended():
                    return DEAD
            except (Cancelled, Exhausted):
                raise
            except Exception as error:
                self.fail(statement, frame, error)
        return NEXT

    def fail(self, statement: ast.stmt, frame: Frame, error: Exception) -> None:
        """A fault of ours at one statement loses that statement, not the file: it is said, and
        nothing is known any more of what the statement names."""
        from device_lens.interpreter import lost

        lost.forget(self, statement, frame)
        line = frame.namespace.file.range(frame.chunk, statement).start.line + 1
        self.budget.note(f"{type(error).__name__} at line {line}: not understood")

    def site(self, node: Any, frame: Frame) -> Site:
        return Site(frame.namespace.path, frame.chunk, node)

    def decide(self, condition: Any) -> Any:
        """A condition as the present path knows it: True, False or what remains open."""
        decided = self._path.decide(condition)
        if decided is not condition:
            self.premises |= atom_set(condition)
        return decided

    def fork(
        self,
        condition: Any,
        frame: Frame,
        yes: Callable[[], int],
        no: Callable[[], int],
    ) -> int:
        """Runs both sides of an undecided condition from the same state and merges them: first the
        one of the primary case, which is followed where steps do not last for both."""
        if primary(condition) is False:
            return self.fork(negation(condition), frame, no, yes)
        self.unit.spender(self.budget, frame)()
        base = self.path
        journal = self.journal
        mark = journal.mark()
        frame.branch_depth += 1
        start = moment()
        yes_start = self.path = base.assume(condition)
        yes_flow = yes()
        yes_end = self.path
        under = WhereMade(condition).of
        changed = journal.rollback(mark, start, lambda table: under(table) is True, yes_start.named)
        mark, start = journal.mark(), moment()
        no_start = self.path = base.assume(negation(condition))
        no_flow = no()
        no_end = self.path
        frame.branch_depth -= 1
        if yes_flow and no_flow:
            return DEAD
        if yes_flow:
            return NEXT
        if no_flow:
            journal.rollback(mark, start, under=no_start.named)
            self.apply(changed)
            self.path = yes_end
            return NEXT
        others = journal.rollback(mark, start, lambda table: under(table) is False, no_start.named)
        self._merge(condition, changed, others)
        whole = yes_end is yes_start and no_end is no_start
        self.path = base if whole else yes_end.meet(no_end)
        return NEXT

    def choose(
        self, condition: Any, frame: Frame, yes: Callable[[], Any], no: Callable[[], Any]
    ) -> Any:
        """Like `fork` for expressions: the value of one side or the other."""
        condition = self.decide(condition)
        if condition is True:
            return yes()
        if condition is False:
            return no()
        found: dict[int, Any] = {}
        stuck, frame.stuck = frame.stuck, False

        def run(index: int, side: Callable[[], Any]) -> int:
            value = side()
            if frame.has_ended():
                return DEAD
            found[index] = value
            return NEXT

        ended = self.fork(condition, frame, lambda: run(0, yes), lambda: run(1, no)) == DEAD
        frame.stuck = stuck or ended
        if len(found) == 2:
            return join(condition, found[0], found[1])
        return next(iter(found.values()), Unknown())

    def apply(self, changed: Delta) -> None:
        write, delete = self.journal.write, self.journal.delete
        for table, key, value in changed.values():
            if value is MISSING:
                delete(table, key)
            else:
                write(table, key, value)

    def _merge(self, condition: Any, yes: Delta, no: Delta, is_blind: bool = False) -> None:
        """Joins two sides of a condition; a blind one says nothing of how often they were run."""
        met = list(lengths.of_lists(yes, no))
        told = [] if is_blind else list(optional_items.met(condition, yes, no))
        under = WhereMade(condition).of
        kept = [
            *((*at, join_presence_in(*at, under(at[0]), yes, no)) for at in kept_in(yes, no)),
            *bound_in(condition, yes, no),
        ]
        for place, (table, key, value) in yes.items():
            other = no.get(place)
            right = other[2] if other is not None else table.get(key, MISSING)
            self._write_joined(table, key, join_in(table, under(table), value, right))
        for place, (table, key, value) in no.items():
            if place not in yes:
                left = table.get(key, MISSING)
                self._write_joined(table, key, join_in(table, under(table), left, value))
        for entries, key, present in kept:
            settle(self.journal, entries, key, present)
        lengths.settle(self.journal, met)
        optional_items.settle(self.journal, told)

    def doubt(self, mark: int, since: int, condition: Any = None) -> None:
        """What was written since a mark, made at the moment `since`, may not have happened yet, or
        has only where a condition holds."""
        changed = self.journal.rollback(mark, since)
        if changed:
            is_blind = condition is None
            self._merge(undecided() if is_blind else condition, changed, {}, is_blind)

    def _write_joined(self, table: dict[Any, Any], key: Any, value: Any) -> None:
        if type(table) is Presences:
            return  # what its dict has decides
        if value is MISSING or key in BY_ITEM:
            self.journal.delete(table, key)
        else:
            self.journal.write(table, key, value)

    def leave(self, frame: Frame, value: Any, exits: list[Exit], mark: int) -> int:
        """Ends the path with `value`, keeping what it changed since `mark`."""
        exits.append((self.path, value, self.journal.changes(mark)))
        return DEAD

    def in_coroutine(self) -> bool:
        own = (each.function.node for each in self.stack if each.function is not None)
        return any(isinstance(node, ast.AsyncFunctionDef) for node in own)

    def meet(self, exits: list[Exit], alive: bool, mark: int, blind: bool = False) -> None:
        """Merges paths that left since `mark` with the present one (if it is `alive`)."""
        if not exits:
            return
        paths = list(exits)
        if alive:
            paths.append((self.path, None, self.journal.changes(mark)))
        if len(paths) == 1:
            self.journal.undo(mark)
            self.apply(paths[0][2] or {})
            self.path = paths[0][0]
            return
        self.journal.undo(mark)
        places: Delta = {}
        for _, _, changed in paths:
            places.update(changed or {})
        ways = Ways([path[0] for path in paths], None if blind else ALWAYS)
        met = list(lengths.of_lists(*(changed or {} for _, _, changed in paths)))
        kept = []
        for entries, key in kept_in(places):
            found = [presence_beside(changed or {}, entries, key) for _, _, changed in paths]
            kept.append((entries, key, fold(found, ways, join_presences)))
        for place, (table, key, _) in places.items():
            old = table.get(key, MISSING)
            found = [(changed or {}).get(place, (0, 0, old))[2] for _, _, changed in paths]
            self._write_joined(table, key, fold_in(table, found, ways))
        for entries, key, present in kept:
            settle(self.journal, entries, key, present)
        lengths.settle(self.journal, met)
        self.path = reduce(Path.meet, ways.paths)
