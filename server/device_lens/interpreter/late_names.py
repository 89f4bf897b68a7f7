"""Names that what an assignment makes reads later than the assignment: those in the element of a
generator expression, or in a function that `map` applies, if a statement further down binds them
anew. Whoever reads the iterator may come before that statement or after it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from device_lens.domain.device import UNKNOWN_DEVICE
from device_lens.domain.values import DeviceValue, Unknown
from device_lens.interpreter import scan
from device_lens.models.call import device_of

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine

_LAZY = frozenset({"map", "filter", "enumerate", "zip", "iter", "chain", "islice", "tqdm"})
"""Functions whose answer reads what they are given item by item."""
_APPLYING = frozenset({"map", "filter"})


def evaluate(machine: Machine, node: ast.expr, frame: Frame) -> Any:
    """The value of an expression of which the answer is kept: nothing is known of the names that
    it reads later."""
    late = _late(node, frame) if isinstance(node, ast.GeneratorExp | ast.Call) else ()
    if not late:
        return machine.evaluate(node, frame)
    names = frame.scope.names
    before = {name: names[name] for name in late if name in names}
    for name in before:
        machine.journal.write(names, name, _another(before[name]))
    try:
        return machine.evaluate(node, frame)
    finally:
        for name, value in before.items():
            machine.journal.write(names, name, value)


def _another(value: Any) -> Any:
    """What a name may stand for later: any device, where it is one."""
    is_device = type(value) is not Unknown and device_of(value) is not None
    return DeviceValue(UNKNOWN_DEVICE) if is_device else Unknown()


def _late(node: ast.expr, frame: Frame) -> set[str]:
    read = {name for part in _read_later(node) for name in scan.names_read(part)}
    return read and read.intersection(_bound_below(frame, read))


def _read_later(node: ast.expr) -> Iterator[ast.AST]:
    """The parts of an expression that run when somebody reads the iterator that it makes."""
    if isinstance(node, ast.GeneratorExp):
        first, *further = node.generators
        yield from (node.elt, *first.ifs, *further)
    elif isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name not in _LAZY:
            return
        for argument in node.args:
            if isinstance(argument, ast.Lambda) and name in _APPLYING:
                yield argument.body
            yield from _read_later(argument)


def _bound_below(frame: Frame, names: set[str]) -> Iterator[str]:
    """What statements below the present one bind in the same function or file; `names` are those
    that matter."""
    statement: Any = frame.statement
    end = statement.end_lineno, statement.end_col_offset
    if frame.function is not None:
        yield from _bound_from(end, frame.function.node.body)
        return
    chunks = frame.namespace.file.chunks
    here = next((number for number, each in enumerate(chunks) if each is frame.chunk), len(chunks))
    yield from _bound_from(end, [part for each in chunks[here : here + 1] for part in each.body])
    for each in chunks[here + 1 :]:
        if any(name in each.text for name in names):
            yield from _bound_from((0, 0), each.body)


def _bound_from(place: tuple[int, int], body: Sequence[ast.stmt]) -> Iterator[str]:
    for each in scan.own_nodes(body):
        is_bound = isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
        if is_bound and (each.lineno, each.col_offset) >= place:
            yield each.id
