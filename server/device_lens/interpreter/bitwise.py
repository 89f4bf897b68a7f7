"""What `&`, `|` and `^` give of truth values and of classes."""

from __future__ import annotations

import ast
import operator
from typing import Any

from device_lens.domain.code import ClassValue
from device_lens.domain.guard import combine, leaves
from device_lens.domain.values import NONE, Const, External, TupleValue

OPERATORS: dict[type, Any] = {
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}


def of(op: type, left: Any, right: Any) -> Any:
    """A truth value in each case, or the classes of a union; Python's None of anything else."""
    if _is_truth(left) and _is_truth(right):
        fold = OPERATORS[op]
        return combine(lambda one, other: Const(fold(one.value, other.value)), left, right)
    classes = _union(left, right) if op is ast.BitOr else ()
    return TupleValue(classes) if classes else None


def _is_truth(value: Any) -> bool:
    return all(type(leaf) is Const and type(leaf.value) is bool for leaf in leaves(value))


def _union(left: Any, right: Any) -> tuple[Any, ...]:
    """The classes of `left | right`, as in `isinstance(x, list | None)`; none where it is something
    else."""
    first, second = _classes(left), _classes(right)
    return first + second if first and second else ()


def _classes(value: Any) -> tuple[Any, ...]:
    """The classes that an operand of a union names; none where it may be something else."""
    if type(value) is TupleValue:
        parts = tuple(map(_classes, value.items))
        return sum(parts, ()) if all(parts) else ()
    if value == NONE:
        return (External("builtins.NoneType"),)
    if type(value) is External:
        module, _, name = value.name.rpartition(".")
        named = module == "builtins" or (name[:1].isupper() and not name.isupper())
        return (value,) if named else ()
    return (value,) if type(value) is ClassValue else ()
