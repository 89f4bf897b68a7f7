"""What the program shows of tensors of which nobody knows whether they have dimensions.

A tensor without any meets tensors on other devices. What is unpacked by its sizes, indexed or asked
for its second dimension has some, from there on: the line raises otherwise. A name is told so, for
a value may stand for several tensors, and others of them need not be like this one.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from device_lens.domain.device import CPU
from device_lens.domain.guard import Guarded, combine, leaves
from device_lens.domain.values import Tensor

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine


def told(machine: Machine, node: Any, frame: Frame) -> None:
    """The tensor that a name stands for has dimensions from here on."""
    value = _held(node, frame)
    if (type(value) is Tensor or type(value) is Guarded) and any(map(_may_lack, leaves(value))):
        found = combine(lambda leaf: _with_dimensions(machine, leaf), value)
        machine.journal.write(frame.scope.names, node.id, found)


def unpacked(machine: Machine, source: Any, frame: Frame) -> None:
    """`b, c, t = x.shape`."""
    told(machine, _of_sizes(source), frame)


def compared(machine: Machine, test: ast.Compare, frame: Frame, holds: bool) -> None:
    """What holds, or does not: `x.dim() == 3`, `x.shape == y.shape`, `x.ndim in (3, 4)`."""
    compare = _COMPARE.get(type(test.ops[0])) if len(test.ops) == 1 else None
    if compare is None:
        return
    left, right = test.left, test.comparators[0]
    sides = ((left, right, compare), (right, left, lambda a, b: compare(b, a)))
    for subject, other, holds_for in sides:
        counted, number = _counted(subject), _number(other)
        if counted is not None and number is not None:
            if holds_for(0, number) is not holds:
                told(machine, counted, frame)
        elif compare is (operator.eq if holds else operator.ne) and _has_some(other, frame):
            told(machine, _of_sizes(subject, whole=type(other) is not ast.Tuple), frame)


_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def _counted(node: ast.expr) -> Any:
    """The expression of which another one counts the dimensions: `x.dim()`, `x.ndim`,
    `len(x.shape)`."""
    if type(node) is ast.Attribute and node.attr == "ndim":
        return node.value
    if type(node) is not ast.Call or node.keywords:
        return None
    function = node.func
    if type(function) is ast.Attribute and function.attr in ("dim", "ndimension"):
        return None if node.args else function.value
    if type(function) is ast.Name and function.id == "len" and len(node.args) == 1:
        return _of_sizes(node.args[0], whole=True)
    return None


def _number(node: ast.expr) -> int | None:
    return node.value if type(node) is ast.Constant and type(node.value) is int else None


def _has_some(node: ast.expr, frame: Frame) -> bool:
    """Whether an expression gives the sizes of what surely has dimensions."""
    if type(node) is ast.Tuple:
        return any(type(each) is not ast.Starred for each in node.elts)
    value = _held(_of_sizes(node, whole=True), frame)
    return type(value) is Tensor and value.zero_dim is False


def _held(node: Any, frame: Frame) -> Any:
    """What a local name stands for; Python's None for other expressions."""
    if type(node) is not ast.Name or node.id in frame.scope.outer:
        return None
    return frame.scope.names.get(node.id)


def _may_lack(value: Any) -> bool:
    """Whether a host tensor may have none. What is elsewhere meets no other device, however many
    it has."""
    if type(value) is not Tensor or value.zero_dim is not None:
        return False
    return any(leaf is CPU for leaf in leaves(value.device))


def _with_dimensions(machine: Machine, value: Any) -> Any:
    if not _may_lack(value):
        return value
    found = value.with_(zero_dim=False)
    machine.watched.is_also(value, found)
    return found


def _of_sizes(node: Any, whole: bool = False) -> Any:
    """The expression of which another one gives the sizes, all of them or, unless it has to be
    the `whole`, those of a slice: `x.shape`, `x.size()[1:]`."""
    if not whole and type(node) is ast.Subscript and type(node.slice) is ast.Slice:
        node = node.value
    if type(node) is ast.Attribute and node.attr == "shape":
        return node.value
    if type(node) is ast.Call and not node.args and not node.keywords:
        method = node.func
        if type(method) is ast.Attribute and method.attr == "size":
            return method.value
    return None
