"""Operators: arithmetic, comparisons, boolean logic."""

from __future__ import annotations

import ast
import operator
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from device_lens.domain import optional_items
from device_lens.domain.by_number import forget_places
from device_lens.domain.condition import negation
from device_lens.domain.device import UNKNOWN_DEVICE, DeviceTree, is_unknown
from device_lens.domain.guard import Guarded, combine, leaves
from device_lens.domain.heap import (
    HELD_ALL,
    HELD_ANY,
    DictObject,
    Instance,
    ListObject,
    ModuleObject,
    Parameter,
)
from device_lens.domain.kinds import gather
from device_lens.domain.lengths import grown
from device_lens.domain.presence import copied_dict
from device_lens.domain.torch_keys import put_together
from device_lens.domain.values import NONE, Const, HostArray, Tensor, TupleValue, Unknown
from device_lens.interpreter import beside_arrays, bitwise, calls, reports
from device_lens.interpreter.conditions import forget_narrowed, narrow, truth
from device_lens.interpreter.dispatch import EVALUATORS
from device_lens.interpreter.expressions import merge_mapping, text_of
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.sequences import CONTAINERS
from device_lens.models.call import constant, tensor_of, treated_as_tensor
from device_lens.models.libraries import numpy_shapes
from device_lens.models.methods import find_method
from device_lens.models.numbers import (
    is_number,
    is_text,
    number,
    rest_of_count,
    start_of,
    text_begun,
)
from device_lens.models.python import sets
from device_lens.models.python.picked import keep_put_together
from device_lens.models.python.text_cases import by_cases

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_BINARY: dict[type, tuple[str, Any]] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("sub", operator.sub),
    ast.Mult: ("mul", operator.mul),
    ast.Div: ("truediv", operator.truediv),
    ast.FloorDiv: ("floordiv", operator.floordiv),
    ast.Mod: ("mod", operator.mod),
    ast.Pow: ("pow", operator.pow),
    ast.MatMult: ("matmul", None),
    ast.BitAnd: ("and", operator.and_),
    ast.BitOr: ("or", operator.or_),
    ast.BitXor: ("xor", operator.xor),
    ast.LShift: ("lshift", operator.lshift),
    ast.RShift: ("rshift", operator.rshift),
}
_UNARY: dict[type, tuple[str, Any]] = {
    ast.USub: ("neg", operator.neg),
    ast.UAdd: ("pos", operator.pos),
    ast.Invert: ("invert", operator.invert),
}
_TENSORS = (Tensor, Parameter, Guarded)
MAX_TEXT = 4096
"""Characters of a constant string that is computed."""
MAX_ITEMS = 512
"""Items of a sequence that is computed and known one by one."""
_WIDTH = re.compile(r"[0-9]{4}|\*")
"""A conversion of `%` that may make a long string of a short one."""


def _binary(machine: Machine, node: ast.BinOp, frame: Frame) -> Any:
    left = machine.evaluate(node.left, frame)
    right = machine.evaluate(node.right, frame)
    return operate(machine, node, type(node.op), left, right, frame)


def operate(
    machine: Machine,
    node: Any,
    op: type,
    left: Any,
    right: Any,
    frame: Frame,
    in_place: bool = False,
) -> Any:
    """`left op right`, as an expression or (`in_place`) as an augmented assignment."""
    name, fold = _BINARY[op]
    kinds = (type(left), type(right))
    if kinds == (Const, Const):
        return _fold(fold, left.value, right.value)
    if type(left) is Const and isinstance(left.value, str):
        if op is ast.Mod:
            reports.percent_formatted(machine, node, right, frame)
            return _put_in(left.value, right)
        if op is ast.Add and (is_text(right) or type(right) is Unknown):
            return put_together(text_begun(left.value), (left, right))
        if op is ast.Add and type(right) is Guarded:
            return by_cases(partial(_folded, fold, left), (right,), text_begun(left.value))
    if op is ast.Add and type(left) is Guarded and _are_words(left, right):
        return by_cases(partial(_put_together, fold), (left, right), Unknown())
    if op is ast.Add and start_of(left):
        return put_together(text_begun(start_of(left)), (left, right))
    if isinstance(left, Instance) or isinstance(right, Instance):
        found = _own_operator(machine, node, name, left, right, frame, in_place)
        if found is not None:
            return found
    if is_tensor(left) or is_tensor(right):
        method = f"__{'i' if in_place and is_tensor(left) else ''}{name}__"
        if HostArray in kinds:
            beside_arrays.read_tensor(machine, node, method, left, right, frame)
        return calls.call_operator(machine, node, method, left, right, frame)
    if HostArray in kinds and beside_arrays.reads_items(
        machine, node, f"__{'i' if in_place else ''}{name}__", left, right, frame
    ):
        value = numpy_shapes.operated(name, left, right, in_place)
        return reports.array_operator(machine, (left, right), value)
    if op is ast.Add and _is_sequence(left) and _is_sequence(right):
        return _concatenate(machine, node, left, right, in_place)
    if op in (ast.Add, ast.BitOr) and Guarded in kinds and _are_containers(left, right):
        tree = left if type(left) is Guarded else right

        def case(side: Any) -> Any:
            one, other = (side, right) if tree is left else (left, side)
            return operate(machine, node, op, one, other, frame, in_place)

        sides = partial(case, tree.yes), partial(case, tree.no)
        return machine.choose(Guarded(tree.atom, True, False), frame, *sides)
    if op is ast.Mult and _is_sequence(left):
        return _repeat(machine, node, left, right)
    if op is ast.Mult and _is_sequence(right) and is_number(left):
        return _repeat(machine, node, right, left)
    if op is ast.BitOr and kinds == (DictObject, DictObject):
        merged = left if in_place else copied_dict(left, node)
        merge_mapping(machine, merged, right)
        return merged
    if (found := sets.operated(machine, name, left, right, node)) is not None:
        if not in_place or type(left) is not ListObject or left.kind != "set":
            return found
        sets.become(machine.journal, left, found)
        return left
    if op in bitwise.OPERATORS and (found := bitwise.of(op, left, right)) is not None:
        return found
    if HostArray in kinds:
        if Unknown in kinds and not _is_number(left, right):
            return Unknown()
        value = numpy_shapes.operated(name, left, right, in_place)
        return reports.array_operator(machine, (left, right), value)
    if op is ast.Mod and (rest := rest_of_count(left, right)) is not None:
        return rest
    if is_number(left) and is_number(right):
        return number()
    if op is ast.Div and kinds == (Unknown, Const) and isinstance(right.value, str):
        place = "/", right.value  # `folder / "name"` is the same path each time
        known = left.parts().get(place)
        return left.derive(place, Unknown()) if known is None else known
    return _unknown_operand(left, right)


def _is_number(left: Any, right: Any) -> bool:
    """Whether one of two operands surely is a number: with one that is not known, an array may
    make a tensor."""
    return is_number(left) or is_number(right)


def _own_operator(
    machine: Machine, node: Any, name: str, left: Any, right: Any, frame: Frame, in_place: bool
) -> Any:
    """What an operator of the program's own class gives; None where there is none."""
    ways = [(left, f"__{name}__", right), (right, f"__r{name}__", left)]
    if in_place:
        ways.insert(0, (left, f"__i{name}__", right))
    for value, method, other in ways:
        if type(value) is Instance or type(value) is ModuleObject:
            found = calls.call_special(machine, value, method, (other,), node, frame)
            if found is not None:
                return found
    of_library = find_method(left, f"__i{name}__") if in_place else None
    if of_library is None and type(left) is ModuleObject:
        of_library = find_method(left, f"__{name}__")
    return None if of_library is None else machine.invoke(of_library, (right,), {})


def _unknown_operand(left: Any, right: Any) -> Any:
    """Arithmetic on an unknown: wherever it is if it is a tensor."""
    for value, other in ((left, right), (right, left)):
        device = _device_if_tensor(value)
        if is_unknown(device):
            continue
        if type(other) is Unknown or tensor_of(other) is not None:
            return Unknown("", device) if _device_if_tensor(other) == device else Unknown()
        return Unknown("", device)
    return Unknown()


def _device_if_tensor(value: Any) -> DeviceTree:
    tensor = tensor_of(value)
    return UNKNOWN_DEVICE if tensor is None else tensor.device


def is_tensor(value: Any) -> bool:
    """Whether an operator on a value is a tensor's: an unknown may as well be a number."""
    return treated_as_tensor(value)


def _is_sequence(value: Any) -> bool:
    return type(value) in (ListObject, TupleValue)


def _put_in(form: str, right: Any) -> Any:
    """`form % right`, in each case that is known."""
    given = right.items if type(right) is TupleValue else (right,)

    def filled(*values: Any) -> Any:
        parts = tuple(value.value for value in values if type(value) is Const)
        letters = sum(len(part) for part in parts if isinstance(part, str | bytes))
        if len(parts) == len(values) and letters <= MAX_TEXT:
            return _fold(operator.mod, form, parts if type(right) is TupleValue else parts[0])
        return unknown

    unknown = text_begun(form.partition("%")[0])
    return by_cases(filled, given, unknown)


def _folded(fold: Any, left: Const, right: Any) -> Any:
    """A text and another value, which has to be a text too."""
    if type(right) is Const:
        return _fold(fold, left.value, right.value)
    return put_together(text_begun(left.value), (left, right))


def _put_together(fold: Any, left: Any, right: Any) -> Any:
    """One text after another, as far as they are known."""
    if type(left) is not Const:
        return put_together(Unknown(), (left, right))
    return _folded(fold, left, right)


def _are_words(left: Any, right: Any) -> bool:
    """Whether both are texts as far as they are known, and the first is in some case."""
    found = [*leaves(left), *leaves(right)]
    words = {id(leaf) for leaf in found if isinstance(constant(leaf), str)}
    known = any(id(leaf) in words for leaf in leaves(left))
    return known and all(type(leaf) is Unknown or id(leaf) in words for leaf in found)


def _fold(fold: Any, left: Any, right: Any) -> Any:
    if fold is None or _too_big(fold, left, right):
        return Unknown()
    try:
        return Const(fold(left, right))
    except Exception:
        return Unknown()


def _too_big(fold: Any, left: Any, right: Any) -> bool:
    if fold in (operator.pow, operator.lshift):
        numbers = isinstance(left, int | float) and isinstance(right, int | float)
        return not numbers or abs(left) > 1e6 or abs(right) > 64
    if fold is operator.mod and isinstance(left, str | bytes):
        text = left if isinstance(left, str) else left.decode("latin-1")
        return len(text) > MAX_TEXT or _WIDTH.search(text) is not None
    for value, other in ((left, right), (right, left)):
        if isinstance(value, str | bytes):
            size = len(value) * other if isinstance(other, int) else len(value)
            if size > MAX_TEXT:
                return True
    return isinstance(left, int) and isinstance(right, int) and max(abs(left), abs(right)) > 1e30


def _are_containers(left: Any, right: Any) -> bool:
    """Whether two values are sequences, dicts or sets in each case."""
    return all(type(leaf) in CONTAINERS for leaf in (*leaves(left), *leaves(right)))


def parts(value: Any) -> tuple[tuple[Any, ...], Any]:
    if type(value) is TupleValue:
        return value.items, None
    return value.items, value.rest


def _concatenate(machine: Machine, node: Any, left: Any, right: Any, in_place: bool) -> Any:
    (items, rest), (more, more_rest) = parts(left), parts(right)
    short = len(items) + len(more) <= MAX_ITEMS
    if type(left) is TupleValue and type(right) is TupleValue and short:
        return TupleValue(items + more)
    if rest is None and short:
        items, rest = items + more, more_rest
    else:
        for value in (*more, more_rest):
            rest = rest if value is None else gather(rest, value)
    told = optional_items.put_together(left, right)
    together = keep_put_together(ListObject(items, rest, "list", node), [left, right])
    if in_place and type(left) is ListObject:
        before = left.items
        forget_places(machine.journal, left)
        for name in together.fields.keys() & {HELD_ANY, HELD_ALL}:
            machine.journal.write(left.fields, name, together.fields[name])
        machine.journal.write(left.fields, "items", items)
        machine.journal.write(left.fields, "rest", rest)
        grown(machine.journal, left, before)
        optional_items.keep_all(machine.journal, left.fields, told)
        return left
    if type(left) is TupleValue and type(right) is TupleValue:
        together.kind = "tuple"
    optional_items.keep_all(machine.journal, together.fields, told)
    return together


def _repeat(machine: Machine, node: Any, left: Any, right: Any) -> Any:
    items, rest = parts(left)
    times = constant(right)
    if isinstance(times, int) and rest is None and len(items) * times <= 64:
        if type(left) is TupleValue:
            return TupleValue(items * times)
        return ListObject(items * times, None, "list", node)
    for value in items:
        rest = value if rest is None else gather(rest, value)
    return ListObject((), rest, "list", node)


def _boolean(machine: Machine, node: ast.BoolOp, frame: Frame) -> Any:
    """`a and b`: the value of b where a holds, else a."""
    return _boolean_rest(machine, node, node.values, frame)


def _boolean_rest(machine: Machine, node: ast.BoolOp, values: list[ast.expr], frame: Frame) -> Any:
    first = machine.evaluate(values[0], frame)
    if len(values) == 1:
        return first
    reports.tested(machine, values[0], first, frame)
    condition = truth(first, text_of(values[0]))
    positive = isinstance(node.op, ast.And)

    def rest() -> Any:
        treated = narrow(machine, values[0], frame, positive)
        found = _boolean_rest(machine, node, values[1:], frame)
        forget_narrowed(treated)
        return found

    def short() -> Any:
        if type(first) in (Unknown, Tensor, HostArray) and positive:
            return Const(False)
        return first

    if positive:
        return machine.choose(condition, frame, rest, short)
    return machine.choose(condition, frame, lambda: _true_of(first), rest)


def _true_of(value: Any) -> Any:
    """What `value or …` gives where value is true: None and False leaves are gone."""
    if type(value) is Guarded:
        return combine(lambda leaf: NONE if truth(leaf) is False else leaf, value)
    return value


def _unary(machine: Machine, node: ast.UnaryOp, frame: Frame) -> Any:
    value = machine.evaluate(node.operand, frame)
    if isinstance(node.op, ast.Not):
        reports.tested(machine, node.operand, value, frame)
        condition = negation(truth(value, text_of(node.operand)))
        return combine(Const, condition)
    name, fold = _UNARY[type(node.op)]
    if type(value) is Const:
        try:
            return Const(fold(value.value))
        except Exception:
            return Unknown()
    if is_tensor(value):
        return calls.call_operator(machine, node, f"__{name}__", value, None, frame)
    if is_number(value):
        return number()
    if type(value) is Unknown:
        return Unknown("", value.device)
    if type(value) is HostArray:
        made = HostArray(value.dtype, value.shape, None, value.zero_dim)
        return reports.array_operator(machine, (value,), made)
    return Unknown()


EVALUATORS.update(
    {
        ast.BinOp: _binary,
        ast.BoolOp: _boolean,
        ast.UnaryOp: _unary,
    }
)
