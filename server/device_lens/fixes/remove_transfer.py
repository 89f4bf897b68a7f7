"""Takes a transfer out that moves nothing."""

from __future__ import annotations

import ast

from device_lens.fixes.blocks import remove_statement
from device_lens.fixes.edit import Edit, Fix, Safety
from device_lens.fixes.names import class_lacks
from device_lens.fixes.parentheses import without_suffix
from device_lens.fixes.place import Place, shown_below_cell
from device_lens.fixes.transfer_call import method_suffix, read_transfer
from device_lens.syntax.position import Range

_PLAIN = (ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.Constant)
"""What means the same without the parentheses around it."""


def remove_transfer(call: Place, sets_by_method: bool = False) -> Fix | None:
    """`x.to(d)` → `x`; a statement that would only be `x = x` or `x` goes altogether, and of
    `x, y = x.to(d), y.to(e)` the half that would be. None where a function or comprehension would
    be left that gives back what it is given. `sets_by_method`: an assignment to what is moved runs
    a method, which still has to run."""
    transfer = read_transfer(call)
    if transfer is None or transfer.rest or _is_all_of(call, transfer.receiver.node):
        return None
    edits = _without(call, transfer.receiver, transfer.suffix, sets_by_method)
    return Fix("Remove the transfer", Safety.SAFE, edits) if edits else None


def remove_pinning(call: Place) -> Fix | None:
    """The same for `x.pin_memory()`."""
    suffix, node = method_suffix(call), call.node
    if suffix is None or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    edits = _without(call, call.at(node.func.value), suffix)
    return Fix("Remove pin_memory()", Safety.UNSAFE, edits) if edits else None


def _without(
    call: Place, receiver: Place, suffix: Range, sets_by_method: bool = False
) -> tuple[Edit, ...]:
    statement = call.statement
    edits: tuple[Edit, ...] = ()
    if _may_go(statement, call, receiver, sets_by_method):
        if _does_nothing_else(statement.node, call.node, receiver):
            edits = (remove_statement(statement),)
        else:
            edits = _without_pair(statement, call.node, receiver.node)
    return edits or without_suffix(call, receiver, suffix)


def _may_go(statement: Place, call: Place, receiver: Place, sets_by_method: bool) -> bool:
    """Whether nothing is missed where the receiver is neither read nor, where the statement assigns
    it to itself, set: a value that a call makes is made by it, what a cell ends with is shown, and
    a class gets what its body sets."""
    if any(isinstance(each, _DOING) for each in ast.walk(receiver.node)):
        return False
    if isinstance(statement.node, ast.Expr):
        return not shown_below_cell(call)
    node = receiver.node
    return not sets_by_method and not (isinstance(node, ast.Name) and class_lacks(call, node.id))


_DOING = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


def _is_all_of(call: Place, receiver: ast.AST) -> bool:
    """Whether the transfer of its variable is all that a lambda or a comprehension does."""
    if not isinstance(receiver, ast.Name):
        return False
    match call.parent:
        case ast.Lambda(args=ast.arguments(args=[ast.arg(arg=name)])):
            return name == receiver.id
        case (
            ast.ListComp(generators=[ast.comprehension(target=target, ifs=[])])
            | ast.SetComp(generators=[ast.comprehension(target=target, ifs=[])])
            | ast.GeneratorExp(generators=[ast.comprehension(target=target, ifs=[])])
            | ast.DictComp(generators=[ast.comprehension(target=target, ifs=[])])
        ):
            bound = target.elts[-1:] if isinstance(target, ast.Tuple) else [target]
            return any(isinstance(each, ast.Name) and each.id == receiver.id for each in bound)
    return False


def _does_nothing_else(statement: ast.AST, call: ast.AST, receiver: Place) -> bool:
    if isinstance(statement, ast.Expr):
        return statement.value is call
    if isinstance(statement, ast.Assign) and statement.value is call:
        target = statement.targets[0]
        return len(statement.targets) == 1 and _is_same(target, receiver.node)
    return False


def _without_pair(statement: Place, call: ast.AST, receiver: ast.AST) -> tuple[Edit, ...]:
    """`x, y = x.to(d), y.to(e)` → `y = y.to(e)`; nothing where this is none such on one line."""
    match statement.node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            pairs = list(zip(targets, values, strict=False))
        case _:
            return ()
    names = {ast.unparse(target) for target in targets}
    where = statement.range
    known = len(names) == len(targets) == len(values) and where.start.line == where.end.line
    kept = [pair for pair in pairs if pair[1] is not call or not _is_same(pair[0], receiver)]
    if not known or len(kept) != len(pairs) - 1 or not kept:
        return ()
    if not all(isinstance(each, _PLAIN) for pair in kept for each in pair):
        return ()
    left, right = (", ".join(statement.at(pair[side]).text for pair in kept) for side in (0, 1))
    return (statement.replace(f"{left} = {right}"),)


def _is_same(one: ast.AST, other: ast.AST) -> bool:
    return ast.unparse(one) == ast.unparse(other)
