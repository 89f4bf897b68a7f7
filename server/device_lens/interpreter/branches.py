"""`if`, `try`, `with` and `match`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from device_lens.domain import lengths
from device_lens.domain.guard import Guarded, undecided
from device_lens.domain.heap import BY_ITEM, MISSING, Entries, ListObject, Presences
from device_lens.domain.journal import Lost
from device_lens.domain.path import Path
from device_lens.domain.presence import is_settled, settle
from device_lens.domain.values import Const, Unknown
from device_lens.interpreter import attempts, contexts, leaving, patterns, reports, trials
from device_lens.interpreter.assignment import assign
from device_lens.interpreter.conditions import forget_narrowed, narrow, truth
from device_lens.interpreter.dispatch import DEAD, EXECUTORS, NEXT
from device_lens.interpreter.existence import asks_what_is_there, has_no_words
from device_lens.interpreter.expressions import text_of
from device_lens.interpreter.first_turns import decides
from device_lens.interpreter.frames import Exit, Frame
from device_lens.interpreter.iteration import any_of
from device_lens.interpreter.merging import any_of_these
from device_lens.interpreter.now_and_then import in_some_turns

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


def _if(machine: Machine, node: ast.If, frame: Frame) -> int:
    value = machine.evaluate(node.test, frame)
    reports.tested(machine, node.test, value, frame)
    condition = machine.decide(truth(value, text_of(node.test)))
    condition = in_some_turns(machine, node, condition, frame)
    if _is_for_checkers(node.test):
        frame.deferring, deferring = True, frame.deferring
        try:
            return machine.execute(node.body, frame)
        finally:
            frame.deferring = deferring
    if type(condition) is bool:
        if condition:
            narrow(machine, node.test, frame, True)
        body = node.body if condition else node.orelse
        if frame.loops and decides(node, condition, frame):
            return _in_a_branch(machine, body, frame)
        return machine.execute(body, frame)

    treated: list[Unknown] = []
    alive: list[bool] = []

    def side(body: list[ast.stmt], positive: bool) -> Callable[[], int]:
        def run() -> int:
            found = narrow(machine, node.test, frame, positive)
            flow = machine.execute(body, frame)
            if flow != DEAD:
                alive.append(positive)
            forget_narrowed(found)
            treated.extend(found)
            return flow

        return run

    settled = bool(frame.loops) and is_settled(condition)
    before = frame.asked
    if before is None and asks_what_is_there(node.test) and has_no_words(condition):
        frame.asked = machine.path
    frame.settled += settled
    try:
        flow = machine.fork(condition, frame, side(node.body, True), side(node.orelse, False))
        if treated and len(alive) == 1:
            narrow(machine, node.test, frame, alive[0])  # there is no other way on from here
        return flow
    finally:
        frame.settled -= settled
        frame.asked = before


def _in_a_branch(machine: Machine, body: list[ast.stmt], frame: Frame) -> int:
    """Runs what another turn of the loop may leave out."""
    frame.branch_depth += 1
    try:
        return machine.execute(body, frame)
    finally:
        frame.branch_depth -= 1


def _is_for_checkers(test: ast.expr) -> bool:
    """Whether a test asks for `TYPE_CHECKING`, alone or as one way of several. Packages that load
    their parts when they are asked for have such a block in place of the imports."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return any(map(_is_for_checkers, test.values))
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", None)
    return name == "TYPE_CHECKING"


def _try(machine: Machine, node: ast.Try, frame: Frame) -> int:
    """The body may fail anywhere: a handler starts from the state before it joined with those
    in it and the one after it."""
    mark, lost, path = machine.journal.mark(), Lost(), machine.path
    known = leaving.ways_out(frame) if node.finalbody else []
    frame.try_depth += 1
    there = attempts.succeeds(machine, node, frame)
    if there is None:
        there = trials.needs_accelerator(machine, node, frame)
    if type(there) is Guarded:
        flow = _tried(machine, node, frame, there)
        frame.try_depth -= 1
        return _finally(machine, node, frame, known, mark, flow)
    flow = NEXT
    if there is not False:
        machine.journal.losses.append(lost)
        try:
            flow = machine.execute(node.body, frame)
        finally:
            machine.journal.losses.remove(lost)
        flow = flow or machine.execute(node.orelse, frame)
    if there is not True:
        for handler in node.handlers:
            before = DEAD if there is False else flow
            flow = _handler(machine, handler, frame, before, mark, lost, path)
    frame.try_depth -= 1
    return _finally(machine, node, frame, known, mark, flow)


def _tried(machine: Machine, node: ast.Try, frame: Frame, there: Guarded) -> int:
    """A body that gets through under a condition, and the handler under its negation."""
    handler = node.handlers[0]

    def through() -> int:
        return machine.execute(node.body, frame) or machine.execute(node.orelse, frame)

    def failed() -> int:
        return _handler(machine, handler, frame, DEAD, machine.journal.mark(), Lost())

    return machine.fork(there, frame, through, failed)


def _finally(
    machine: Machine, node: ast.Try, frame: Frame, known: Any, mark: int, flow: int
) -> int:
    last = partial(machine.execute, node.finalbody, frame)
    if known and leaving.finish(machine, frame, known, mark, last) and flow:
        return DEAD
    return DEAD if last() or flow else NEXT


def _handler(
    machine: Machine,
    handler: ast.ExceptHandler,
    frame: Frame,
    flow: int,
    mark: int,
    lost: Lost,
    path: Path | None = None,
) -> int:
    """Runs a handler beside what came so far; both ways meet after it. It may come from any way
    into the body, on which `path` holds (None: the present one)."""

    def failed() -> int:
        machine.path = path or machine.path
        met = []
        for table, key, earlier in machine.journal.values_since(mark, lost).values():
            now = table.get(key, MISSING)
            if now is MISSING or type(table) is Presences:
                continue
            if key in BY_ITEM:
                machine.journal.delete(table, key)
                continue
            if key == "items" and isinstance(now, tuple):
                rest = table.get("rest")
                values = [*(value for value, _ in earlier), now]
                known = [each for each in values if isinstance(each, tuple)]
                met.append((table, [(each, rest, len(each)) for each in known]))
            found = any_of_these(earlier, now)
            if found is not now:
                machine.journal.write(table, key, found)
            if type(table) is Entries and any(each is MISSING for each, _ in earlier):
                settle(machine.journal, table, key, undecided())
        lengths.settle(machine.journal, met)
        if handler.name:
            machine.journal.write(frame.scope.names, handler.name, Unknown("the exception"))
        recorder = machine.recorder
        before_it = recorder.handling, recorder.telling_apart
        recorder.handling = True
        if _tells_apart(handler.type):
            recorder.telling_apart = frame
        try:
            ended = machine.execute(handler.body, frame)
        finally:
            recorder.handling, recorder.telling_apart = before_it
        if handler.name:
            machine.journal.delete(frame.scope.names, handler.name)
        return ended

    if flow:
        return failed()
    condition = undecided()
    return machine.fork(condition, frame, lambda: flow, failed)


_OF_KIND = frozenset({"AttributeError", "TypeError", "Exception", "BaseException"})


def _tells_apart(caught: ast.expr | None) -> bool:
    """Whether a handler may be there for values of another kind, on which a method that the body
    of the `try` calls is missing."""
    if caught is None:
        return True
    parts = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(isinstance(part, ast.Name) and part.id in _OF_KIND for part in parts)


def _with(machine: Machine, node: ast.With | ast.AsyncWith, frame: Frame) -> int:
    leaves: list[Callable[[], None]] = []
    before = dict(machine.globals)
    known = leaving.ways_out(frame)
    catches = False
    suppressed = None
    for item in node.items:
        manager = machine.evaluate(item.context_expr, frame)
        suppressed = suppressed or attempts.as_try(node, item, manager)
        catches = catches or contexts.may_catch(manager)
        value, leave = contexts.enter(machine, manager, item.context_expr, frame)
        leaves.append(leave)
        if item.optional_vars is not None:
            assign(machine, item.optional_vars, value, frame, item.context_expr)
    entered = dict(machine.globals)
    mark = machine.journal.mark()
    thrown, frame.thrown = frame.thrown, False
    if suppressed is not None:
        flow = _try(machine, suppressed, frame)
    else:
        flow = machine.execute(node.body, frame)
    if flow and frame.thrown and catches:
        flow = NEXT
    frame.thrown = (frame.thrown and not catches) or thrown
    own = [leave for leave in reversed(leaves) if isinstance(leave, contexts.OwnLeave)]
    if own:

        def end() -> int:
            for leave in own:
                leave()
            return NEXT

        leaving.finish(machine, frame, known, mark, end)
    for leave in reversed(leaves):
        leave()
    for exits, _, count in known:
        _put_back(machine, before, entered, exits[count:])
    return flow


def _put_back(
    machine: Machine, before: dict[str, Any], entered: dict[str, Any], exits: list[Exit]
) -> None:
    """Whoever leaves a block by `return`, `break` or `continue` leaves what was set for it."""
    for name, value in before.items():
        if entered.get(name) is value:
            continue
        for _, _, changes in exits:
            if changes is not None and (id(machine.globals), name) in changes:
                changes[id(machine.globals), name] = (machine.globals, name, value)


def _match(machine: Machine, node: ast.Match, frame: Frame) -> int:
    subject = machine.evaluate(node.subject, frame)
    return _cases(machine, node.cases, subject, frame)


def _cases(machine: Machine, cases: list[ast.match_case], subject: Any, frame: Frame) -> int:
    if not cases:
        return NEXT
    case = cases[0]
    condition = machine.decide(patterns.matches(machine, case.pattern, subject, frame))

    def taken() -> int:
        patterns.bind(machine, case.pattern, subject, frame)
        if case.guard is None:
            return machine.execute(case.body, frame)
        guard = machine.decide(truth(machine.evaluate(case.guard, frame)))
        if guard is True:
            return machine.execute(case.body, frame)
        if guard is False:
            return _cases(machine, cases[1:], subject, frame)
        return machine.fork(
            guard,
            frame,
            lambda: machine.execute(case.body, frame),
            lambda: _cases(machine, cases[1:], subject, frame),
        )

    if condition is True:
        return taken()
    if condition is False:
        return _cases(machine, cases[1:], subject, frame)
    return machine.fork(condition, frame, taken, lambda: _cases(machine, cases[1:], subject, frame))


def yielded(value: Any) -> Any:
    """What a `with` over a generator-made context manager binds."""
    if type(value) is ListObject:
        found = any_of(value.items[:1], None if value.items else value.rest)
        return found if found is not None else Const(None)
    return Unknown()


EXECUTORS.update(
    {
        ast.If: _if,
        ast.Try: _try,
        ast.With: _with,
        ast.AsyncWith: _with,
        ast.Match: _match,
    }
)
if hasattr(ast, "TryStar"):
    EXECUTORS[ast.TryStar] = _try
