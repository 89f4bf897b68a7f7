"""Comparisons: of numbers, of devices, of identity, of membership."""

from __future__ import annotations

import ast
import operator
from functools import partial
from typing import TYPE_CHECKING, Any

from device_lens.domain.atom import WHICH_ITEM
from device_lens.domain.condition import disjunction, negation
from device_lens.domain.device import CPU
from device_lens.domain.guard import Guarded, choose, combine, undecided
from device_lens.domain.heap import (
    MISSING,
    DictObject,
    HeapObject,
    ListObject,
    Parameter,
)
from device_lens.domain.lengths import at_least
from device_lens.domain.presence import presence
from device_lens.domain.torch_keys import told_apart
from device_lens.domain.values import (
    NONE,
    Const,
    External,
    HostArray,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.interpreter import beside_arrays, calls, equality, reports, shape_tests
from device_lens.interpreter.class_tests import asks_class_of_symbol
from device_lens.interpreter.conditions import (
    either_way,
    is_none_condition,
    opaque,
    told_by_count,
    truth,
)
from device_lens.interpreter.dispatch import EVALUATORS
from device_lens.interpreter.enumerations import is_member
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.keys import key_of
from device_lens.interpreter.operators import is_tensor, parts
from device_lens.interpreter.services import with_active
from device_lens.models.libraries import numpy_shapes
from device_lens.models.methods import find_method
from device_lens.models.numbers import (
    COUNTED,
    DRAWN,
    beginning,
    told_by_bound,
)
from device_lens.models.python import dict_classes, sought
from device_lens.models.python.sets import is_among
from device_lens.models.torch.attributes import is_on
from device_lens.models.torch.type_names import names_kind

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_COMPARE: dict[type, tuple[str, Any]] = {
    ast.Eq: ("eq", operator.eq),
    ast.NotEq: ("ne", operator.ne),
    ast.Lt: ("lt", operator.lt),
    ast.LtE: ("le", operator.le),
    ast.Gt: ("gt", operator.gt),
    ast.GtE: ("ge", operator.ge),
}


_OF_CLASSES = (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)


def _compare(machine: Machine, node: ast.Compare, frame: Frame) -> Any:
    left = machine.evaluate(node.left, frame)
    result: Any = None
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        right = machine.evaluate(right_node, frame)
        found = compare(machine, node, op, left, right, frame)
        if result is None:
            result = found
        else:
            result = _both(truth(result), found)
        left = right
    return result


def _both(condition: Any, value: Any) -> Any:
    return choose(condition, value, Const(False))


def compare(machine: Machine, node: Any, op: ast.cmpop, left: Any, right: Any, frame: Frame) -> Any:
    """One comparison as a value: a tensor, or a tree of boolean constants."""
    kind = type(op)
    if kind in _OF_CLASSES and asks_class_of_symbol(machine, node, frame):
        return combine(Const, undecided())
    if kind in (ast.Is, ast.IsNot):
        condition = _identity(left, right)
        return combine(Const, negation(condition) if kind is ast.IsNot else condition)
    if kind in (ast.In, ast.NotIn):
        if type(left) in (Tensor, Parameter) and len(node.ops) == 1:
            found = partial(sought.compare, machine, "in", (left, -1), (right, 0))
            with_active(machine, node, frame, found)
        condition = _contains(machine, node, left, right)
        return combine(Const, negation(condition) if kind is ast.NotIn else condition)
    name, fold = _COMPARE[kind]
    types = (type(left), type(right))
    if kind in (ast.Eq, ast.NotEq) and NONE in (left, right) and HostArray not in types:
        equal = equality.none_condition(right if left == NONE else left)
        return combine(Const, negation(equal) if kind is ast.NotEq else equal)
    never = _is_no_operand(left) or _is_no_operand(right)
    if not never and (is_tensor(left) or is_tensor(right)):
        if kind is ast.Eq:
            left, right = _as_tensor(left), _as_tensor(right)
        return calls.call_operator(machine, node, f"__{name}__", left, right, frame)
    if HostArray in types:
        beside_arrays.reads_items(machine, node, f"__{name}__", left, right, frame)
        value = numpy_shapes.array(numpy_shapes.together(left, right), "bool")
        return reports.array_operator(machine, (left, right), value)
    text = shape_tests.text_of(node, frame) if kind in (ast.Eq, ast.NotEq) else ""
    condition = combine(lambda a, b: _compare_leaves(kind, fold, a, b, text), left, right)
    return combine(Const, condition)


def _as_tensor(value: Any) -> Any:
    """An array that is asked whether it equals a tensor is made one, on the CPU."""
    if type(value) is not HostArray or value.dtype is None:
        return value
    return Tensor(CPU, value.dtype, value.shape, value.trail, zero_dim=value.zero_dim)


def _is_no_operand(value: Any) -> bool:
    """Whether a tensor is never equal to a value: it compares itself with tensors and numbers."""
    if type(value) is Const:
        return isinstance(value.value, str)
    return type(value) in (ListObject, TupleValue, DictObject)


def _compare_leaves(kind: type, fold: Any, left: Any, right: Any, text: str) -> Any:
    if is_tensor(left) or is_tensor(right):
        return kind is ast.NotEq  # the other one is no operand of it
    if type(left) is Const and type(right) is Const:
        if equality.is_open(left) or equality.is_open(right):
            return undecided()
        try:
            return bool(fold(left.value, right.value))
        except Exception:
            return undecided()
    told = told_by_bound(left, kind, right)
    if told is None:
        told = told_by_bound(right, _TURNED.get(kind, kind), left)
    if told is not None:
        return told
    turned = _TURNED.get(kind, kind)
    sides = ((left, right, kind), (right, left, turned))
    for value, other, asked in sides:
        if type(value) is Unknown and value.label == COUNTED and type(other) is Const:
            return told_by_count(value, asked, other)
    if kind in (ast.Eq, ast.NotEq):
        equal = equality.equal(left, right)
        if equal is not None:
            return negation(equal) if kind is ast.NotEq else equal
    for value, other, asked in sides:
        if type(value) is Unknown:
            test = asked.__name__, key_of(other) if type(other) is Const else id(other)
            return either_way(value, test) if _is_toss(value, other) else opaque(value, test)
    return negation(undecided(text)) if kind is ast.NotEq else undecided(text)


def _is_toss(value: Unknown, other: Any) -> bool:
    """Whether a random number is compared with a share of one, or with what is computed: a chance
    of 0 or 1, as a default may be, is none."""
    if value.label != DRAWN:
        return False
    return type(other) is not Const or (type(other.value) is float and 0 < other.value < 1)


_TURNED: dict[type, type] = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
"""How the right side of a comparison compares with the left one."""


def _identity(left: Any, right: Any) -> Any:
    for value, other in ((left, right), (right, left)):
        if type(other) is Const and other.value is None:
            return is_none_condition(value)
    if type(left) is Const and type(right) is Const:
        return left == right
    if left is right and type(left) not in (Tensor, Guarded):
        if isinstance(left, HeapObject) and left.many is not None:
            return undecided(WHICH_ITEM)
        return undecided() if type(left) is Parameter and left.among else True
    if is_member(left) and is_member(right):
        return False
    if type(left) is External and type(right) is External:
        same = equality.same_name(left, right)
        return undecided() if same is None else same
    same = equality.same_class(left, right)
    if same is not None:
        return same
    for value, other in ((left, right), (right, left)):
        if type(value) is Unknown:
            key = other.value if type(other) is Const else id(other)
            return opaque(value, ("is", key))
    objects = isinstance(left, HeapObject) and isinstance(right, HeapObject)
    return undecided(WHICH_ITEM if objects else "")


def _contains(machine: Machine, node: Any, left: Any, right: Any) -> Any:
    left = told_apart(left)
    if type(left) is Guarded or type(right) is Guarded:
        return combine(lambda a, b: _contains(machine, node, a, b), left, right)
    key = key_of(left)
    if find_method(right, "__contains__") is None:
        right = dict_classes.mapping(right)
    if type(right) is Const and isinstance(right.value, str) and type(left) is Const:
        held = str(left.value) in right.value
        return (
            undecided()
            if equality.is_open(left) or (equality.is_open(right) and not held)
            else held
        )
    begun = beginning(right)
    sought = left.value if begun is not None and type(left) is Const else None
    if isinstance(sought, str) and (sought in str(begun) or sought.isalpha()):
        return sought in str(begun)
    if key is not MISSING:
        if type(right) is DictObject:
            present = presence(right.entries, key)
            if right.rest is None or present is True:
                return present
        if type(right) in (TupleValue, ListObject) and type(left) is not Unknown:
            items, rest = parts(right)
            keys = [key_of(item) for item in items]
            if key in keys:
                least = at_least(right) if type(right) is ListObject else len(keys)
                return True if key in keys[:least] else undecided()
            if (
                rest is None
                and MISSING not in keys
                and not any(map(equality.is_open, (left, *items)))
            ):
                return False
    asked = names_kind(left, right)
    if asked is not None:
        return truth(is_on(*asked))
    if type(left) is Unknown:
        among = _is_one_of(left, right)
        return opaque(left, ("in", ast.dump(node))) if among is None else among
    if not isinstance(left, HeapObject):
        return undecided()
    passes = (loop for each in machine.stack for loop in each.loops)
    known = None if any(loop.repeats for loop in passes) else is_among(machine, left, right)
    return undecided(WHICH_ITEM) if known is None else known


_MOST_ASKED = 4
"""How many constants are asked for one by one: each is a test of its own in the path."""


def _is_one_of(left: Unknown, right: Any) -> Any:
    """Whether an unknown equals one of a few constants, decided as `==` decides it elsewhere; None
    where that is not known of all that the sequence holds."""
    if type(right) not in (TupleValue, ListObject):
        return None
    items, rest = parts(right)
    if rest is not None or not 0 < len(items) <= _MOST_ASKED:
        return None
    if any(type(item) is not Const or equality.is_open(item) for item in items):
        return None
    found: Any = False
    for item in items:
        found = disjunction(found, equality.equal(left, item))
    return found


EVALUATORS[ast.Compare] = _compare
