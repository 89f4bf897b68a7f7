"""Where a tensor that is moved was made, if the same expression makes it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from device_lens.domain.values import Tensor
from device_lens.interpreter.facts import Transfer
from device_lens.interpreter.full_names import is_torch

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame

_RESHAPING = frozenset(
    "view reshape expand expand_as repeat unsqueeze squeeze triu tril flip roll permute transpose "
    "t flatten contiguous triu_ tril_ fill_diagonal_ view_as swapaxes movedim".split()
)
"""Methods and functions whose further arguments are numbers, or tensors of which only the shape
counts."""
_ELEMENTWISE = frozenset(
    "bool float half long int double bfloat16 type add sub mul div neg abs exp log sqrt pow "
    "logical_not bitwise_not eq ne lt le gt ge masked_fill fill_ mul_ add_ sub_ div_ neg_ "
    "clamp cumsum softmax".split()
)
"""Those whose further arguments have to be constants."""


IsTorch = Callable[[str], bool]
"""Tells whether a name stands for PyTorch."""


def note(fact: Transfer, receiver: ast.expr, tensor: Tensor | None, frame: Frame) -> None:
    """Notes a receiver that is a factory call written right here, or what reshaping and constants
    make of one."""
    if tensor is None or tensor.trail is None or tensor.trail.kind != "created":
        return
    made = tensor.trail.site.node
    if not isinstance(made, ast.Call):
        return
    if made is receiver:
        fact.created_here = True
    elif follows_from(receiver, made, lambda name: is_torch(name, frame)):
        fact.made_at = tensor.trail.site
    elif isinstance(receiver, ast.Name):
        fact.made_before = tensor.trail.site
    else:
        return
    fact.factory = ast.unparse(made.func)


def follows_from(expression: ast.expr, made: ast.Call, names_torch: IsTorch) -> bool:
    """Whether the expression needs no other tensor than the one that the call makes."""
    if expression is made:
        return True
    if isinstance(expression, ast.Call):
        return _call_follows(expression, made, names_torch)
    if isinstance(expression, ast.BinOp):
        sides = (expression.left, expression.right)
        return _one_follows(sides, made, names_torch)
    if isinstance(expression, ast.Compare) and len(expression.comparators) == 1:
        return _one_follows((expression.left, expression.comparators[0]), made, names_torch)
    if isinstance(expression, ast.UnaryOp):
        return follows_from(expression.operand, made, names_torch)
    if isinstance(expression, ast.Subscript):
        return _is_plain(expression.slice, names_torch) and follows_from(
            expression.value, made, names_torch
        )
    if isinstance(expression, ast.Attribute):
        return expression.attr in ("T", "mT", "H") and follows_from(
            expression.value, made, names_torch
        )
    return False


def _call_follows(call: ast.Call, made: ast.Call, names_torch: IsTorch) -> bool:
    """`made.triu(1)`, `torch.triu(made, diagonal=1)`."""
    if not isinstance(call.func, ast.Attribute):
        return False
    receiver, given = call.func.value, list(call.args)
    if isinstance(receiver, ast.Name) and names_torch(receiver.id) and given:
        receiver = given.pop(0)
    if not follows_from(receiver, made, names_torch):
        return False
    if call.func.attr in _RESHAPING:
        return True
    rest = [*given, *(each.value for each in call.keywords)]
    return call.func.attr in _ELEMENTWISE and all(_is_plain(each, names_torch) for each in rest)


def _one_follows(sides: tuple[ast.expr, ast.expr], made: ast.Call, names_torch: IsTorch) -> bool:
    left, right = sides
    return any(
        _is_plain(other, names_torch) and follows_from(one, made, names_torch)
        for one, other in ((left, right), (right, left))
    )


def _is_plain(node: ast.expr, names_torch: IsTorch) -> bool:
    """A constant, a slice or tuple of constants, a dtype: surely no tensor."""
    return all(
        isinstance(each, ast.Constant | ast.Slice | ast.Tuple | ast.UnaryOp | ast.Load | ast.USub)
        or (isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name))
        or (isinstance(each, ast.Name) and names_torch(each.id))
        for each in ast.walk(node)
    ) and not any(
        isinstance(each, ast.Attribute) and not names_torch(getattr(each.value, "id", ""))
        for each in ast.walk(node)
    )
