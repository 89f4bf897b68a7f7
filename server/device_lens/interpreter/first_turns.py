"""The first turn of a loop that asks for its number, `if epoch == 0:`, `if step > 0:`, or that
hands it to what may ask.

What only the first turn finds, as a tensor that it moves, meets nothing of what is done in the
others; so that turn is run with its own number, and those after it with a larger one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from device_lens.domain.by_number import first_items
from device_lens.domain.heap import ListObject
from device_lens.domain.values import Const, TupleValue
from device_lens.interpreter.frames import Frame, LoopRecord
from device_lens.interpreter.now_and_then import told_of_turn
from device_lens.models.numbers import FIRST_NUMBER, NUMBERS, number_above
from device_lens.syntax.names import names_in
from device_lens.syntax.walking import walk

_ASKED = "_asks_for_its_turn"
"""The entry of a loop under which is kept whether something may ask for the number of its turn."""


def turns_apart(node: Any, iterable: Any, rest: Any) -> tuple[Any, Any] | None:
    """What the first turn of a loop has and what any other has, where its body asks for their
    numbers or hands them on; None where it does not, or where these are not known."""
    if type(iterable) is not ListObject or iterable.items or not isinstance(node.target, _TARGETS):
        return None
    first = _first_number(iterable)
    if first is None or not _asks(node):
        return None
    if iterable.kind == "range":
        return Const(first), number_above(first, "an index")
    if type(rest) is not TupleValue or len(rest.items) != 2:
        return None
    item = rest.items[1]
    return TupleValue((Const(first), item)), TupleValue((number_above(first, "an index"), item))


def of_first(record: LoopRecord, bind: Callable[[], None], is_first: bool) -> Callable[[], None]:
    """What binds the target of a loop, for the first turn or another one of those told apart."""

    def run() -> None:
        record.first = is_first
        bind()

    return run


def decides(node: ast.If, condition: bool, frame: Frame) -> bool:
    """Whether a test is known because the turn is the first: in another it may go the other
    way."""
    for record in frame.loops:
        if record.first and _counter(record.node) & names_in(node.test):
            if condition:
                record.held.add(node)
            return True
    return False


_TARGETS = (ast.Name, ast.Tuple, ast.List)


def _first_number(iterable: ListObject) -> int | None:
    if iterable.kind == "range":
        numbers = iterable.fields.get(NUMBERS)
        if isinstance(numbers, range):
            return numbers[0] if numbers.step > 0 else None
        first = next(iter(first_items(iterable)), None)
        return first.value if type(first) is Const and type(first.value) is int else None
    found = iterable.fields.get(FIRST_NUMBER)
    return found if type(found) is int else None


def _asks(loop: Any) -> bool:
    known: bool | None = loop.__dict__.get(_ASKED)
    if known is None:
        known = loop.__dict__[_ASKED] = _is_asked(loop)
    return known


def _is_asked(loop: Any) -> bool:
    counter = _counter(loop)
    nodes = (each for statement in loop.body for each in walk(statement))
    return any(counter & names_in(part) for each in nodes for part in told_of_turn(each))


def _counter(loop: Any) -> set[str]:
    """The name of the number of a turn: the target of a loop, or the first of several."""
    target = loop.target if isinstance(loop.target, ast.Name) else loop.target.elts[0]
    return {target.id} if isinstance(target, ast.Name) else set()
