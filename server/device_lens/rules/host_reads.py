"""What the rules about reads of host memory share: what is read, and the fix that copies it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from device_lens.domain.device import is_accelerator
from device_lens.domain.guard import leaves
from device_lens.fixes.array_to_tensor import array_to_tensor, is_name
from device_lens.fixes.edit import Fix
from device_lens.fixes.host_copy import copy_items, host_copy
from device_lens.interpreter.facts import Kind
from device_lens.interpreter.rarer_facts import HostRead
from device_lens.rules.context import Context


def container_of(fact: HostRead, context: Context) -> str | None:
    """What the subject is where it is known to hold tensors rather than to be one."""
    if fact.container is not None:
        return fact.container
    known = context.expression(fact.subject)
    return "list" if known is not None and known.kind is Kind.CONTAINER else None


def copied(fact: HostRead, detach: bool, move: bool, context: Context) -> Fix | None:
    """The tensors brought to where NumPy can read them, where the text names them alone, or as
    items of what is written out."""
    if fact.mixed or fact.subject.node is fact.site.node:
        return None
    place = context.place(fact.subject)
    of_items = fact.nested or container_of(fact, context) is not None
    if isinstance(fact.site.node, ast.BinOp | ast.AugAssign) and not of_items:
        named = place.at(_term(place.node, context))
        known = context.facts.expression_at(named.node)
        dtype = None if known is None else known.dtype
        return array_to_tensor(context.place(fact.site), place, named, dtype)
    if fact.nested:
        items = [place.at(node) for node in _items(place.node) if _is_read(node, move, context)]
        return copy_items(items, detach, move)
    as_array = fact.what.removeprefix("np.") in _TAKING_ARRAYS
    return host_copy(place, container_of(fact, context), detach, move, as_array)


_TAKING_ARRAYS = frozenset(
    "sum mean std var max min amax amin prod any all abs absolute argmax argmin argsort ceil clip "
    "cos cumprod cumsum exp expm1 floor log log10 log1p log2 negative ptp rint round sign sin sqrt "
    "square squeeze tan tanh transpose".split()
)
"""Functions of NumPy that call the method of what they are given, which in PyTorch takes other
arguments, or that make a tensor of their answer, which the code behind them takes for an array."""


def _term(node: ast.AST, context: Context) -> ast.AST:
    """The first tensor with a name among what an expression adds, multiplies and so on; else the
    expression itself."""
    pending, found = [node], node
    while pending:
        found = pending.pop()
        if isinstance(found, ast.BinOp):
            pending += [found.right, found.left]
        elif is_name(found) and _is_tensor(found, context):
            return found
    return node


def _is_tensor(node: ast.AST, context: Context) -> bool:
    known = context.facts.expression_at(node)
    return known is not None and known.kind is Kind.TENSOR


def _items(node: ast.AST) -> Iterator[ast.expr]:
    """What a list, tuple or dict is written with, that of lists in it included."""
    held = node.values if isinstance(node, ast.Dict) else getattr(node, "elts", ())
    for item in held:
        if isinstance(item, ast.List | ast.Tuple):
            yield from _items(item)
        else:
            yield item


def _is_read(node: ast.expr, move: bool, context: Context) -> bool:
    """Whether an item is a tensor that host code cannot read as it is."""
    known = context.facts.expression_at(node)
    if known is None or known.kind is not Kind.TENSOR:
        return False
    elsewhere = any(is_accelerator(leaf) for leaf in leaves(known.device))
    return elsewhere if move else known.requires_grad is True
