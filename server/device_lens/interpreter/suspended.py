"""Generators that are run to their ends at once, though others run where they yield. As context
managers: what they do after that comes when the block ends, and what they had changed by then is
kept apart. In a loop: what they change between two items may be done or not while its body runs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import Function
from device_lens.domain.device import UNKNOWN_DEVICE
from device_lens.domain.heap import BY_ITEM, MISSING, ListObject, Presences, Table
from device_lens.domain.journal import Delta
from device_lens.interpreter import scan
from device_lens.interpreter.frames import Exit, Frame
from device_lens.interpreter.merging import Ways, fold, fold_in, join_values
from device_lens.syntax.names import last_name
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

MANAGING = frozenset({"contextlib.contextmanager", "contextlib.asynccontextmanager"})
FIELD = "<suspended>"
"""The field of a generator that has been run with what waits at its `yield`."""

Place = tuple[Table, Any, Any, Any]
"""A place, its value while the generator waits, and the one that it leaves there."""


class Suspension:
    """The places in which the block's state is another one than that at the generator's end."""

    __slots__ = ("places",)

    def __init__(self, places: list[Place]) -> None:
        self.places = places


def keep(machine: Machine, frame: Frame) -> None:
    """Keeps what a generator has changed by a `yield` of it."""
    if frame.function is not None and (frame.function.manages or _is_gone_through(frame)):
        frame.waits.append((machine.path, None, machine.journal.changes(frame.entry_mark)))


def _is_gone_through(frame: Frame) -> bool:
    """Whether a loop goes through what the call gives, so that its body runs in between."""
    statement = frame.parent and frame.parent.statement
    if type(statement) is not ast.For and type(statement) is not ast.AsyncFor:
        return False
    return any(each is frame.call_site for each in walk(statement.iter))


def resumes_apart(function: Function, call: Any, caller: Frame) -> bool:
    """Whether a call makes a generator, or a coroutine, that is given a name within a block which
    decides where factories create, and resumed outside of it, or the other way round: its body runs
    where it is resumed. What other statements of a top level do is not looked at."""
    statement = caller.statement
    if type(statement) is not ast.Assign or not _is_kept(call, statement.value):
        return False
    if type(function.node) is ast.Lambda:
        return False
    generates = scan.function_info(function.node, function.chunk.text).generates
    if not generates and type(function.node) is not ast.AsyncFunctionDef:
        return False
    names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
    around = caller.chunk.body if caller.function is None else (caller.function.node,)
    every = [node for part in around for node in walk(part)]
    used = {id(node) for node in every if _reads(node, names)}
    for block in every:
        if isinstance(block, ast.With) and any(map(_names_device, block.items)):
            inside = {id(node) for node in walk(block)}
            if id(statement) not in inside:
                apart = bool(used & inside)
            else:
                apart = caller.function is None or bool(used - inside)
            if apart:
                return True
    return False


def _is_kept(call: Any, value: ast.expr) -> bool:
    """Whether a name gets what a call makes, or a task that runs that."""
    return value is call or (isinstance(value, ast.Call) and call in value.args)


@contextmanager
def default_open(machine: Machine) -> Iterator[None]:
    """Leaves open where factories create, for what runs in it."""
    default = machine.globals["default_device"]
    machine.journal.write(machine.globals, "default_device", UNKNOWN_DEVICE)
    try:
        yield
    finally:
        machine.journal.write(machine.globals, "default_device", default)


def _reads(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load)


def _names_device(item: ast.withitem) -> bool:
    called = item.context_expr
    name = last_name(called.func if isinstance(called, ast.Call) else called)
    return "device" in name.lower()


def suspend(machine: Machine, frame: Frame, generator: ListObject) -> None:
    """Keeps with a manager that has been run what its end changes. Where a loop goes through what
    one gives, its body finds what one of the items found, or the end."""
    ways = frame.waits
    if not ways:
        return
    manages = frame.function is not None and frame.function.manages
    last = machine.journal.changes(frame.entry_mark)
    began = machine.journal.value_at(frame.entry_mark)
    places: Delta = {}
    for _, _, changes in ways:
        places.update(changes or {})
    places.update(last)
    found: list[Place] = []
    for place, (table, key, _) in places.items():
        if table is frame.scope.names or type(table) is Presences or key in BY_ITEM:
            continue
        before = began[place][2] if place in began else table.get(key, MISSING)
        waiting = _at(ways, place, before)
        left = last[place][2] if place in last else before
        if waiting is not left:
            found.append((table, key, waiting, left))
    if manages:
        generator.fields[FIELD] = Suspension(found)
        return
    caller, ways_on = frame.parent, Ways([machine.path] * 2, None)
    for table, key, waiting, left in found:
        either = fold_in(table, [waiting, left], ways_on)
        _write(machine, table, key, either)
        if caller is not None:
            caller.between.append((table, key, either, left))


def gone_through(machine: Machine, places: list[Place]) -> None:
    """A loop has asked a generator for all that it gives: what the body left as it was is as the
    end leaves it."""
    for table, key, either, left in places:
        if table.get(key, MISSING) is either:
            _write(machine, table, key, left)


def _at(ways: list[Exit], place: tuple[int, Any], before: Any) -> Any:
    """The value of a place at whichever `yield` a generator waits."""
    values = [(changes or {}).get(place, (0, 0, before))[2] for _, _, changes in ways]
    return fold(values, Ways([path for path, _, _ in ways], None), join_values)


def enter(machine: Machine, generator: ListObject) -> Callable[[], None] | None:
    """Goes back to the state at the `yield`; gives what ends the block. None where the generator is
    no manager that has been run."""
    kept = generator.fields.get(FIELD)
    if not isinstance(kept, Suspension):
        return None
    for table, key, waiting, _ in kept.places:
        _write(machine, table, key, waiting)

    def leave() -> None:
        for table, key, _, left in kept.places:
            _write(machine, table, key, left)

    return leave


def _write(machine: Machine, table: Table, key: Any, value: Any) -> None:
    if value is MISSING:
        machine.journal.delete(table, key)
    else:
        machine.journal.write(table, key, value)
