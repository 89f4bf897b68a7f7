"""Takes a transfer out that moves nothing."""

from __future__ import annotations

import ast

from device_lens.fixes.blocks import remove_statement
from device_lens.fixes.edit import Edit, Fix, Safety
from device_lens.fixes.parentheses import without_suffix
from device_lens.fixes.place import Place
from device_lens.fixes.transfer_call import read_transfer


def remove_transfer(call: Place) -> Fix | None:
    """`x.to(d)` → `x`; a statement that would only be `x = x` or `x` goes altogether. None where
    a function or comprehension would be left that gives back what it is given."""
    transfer = read_transfer(call)
    if transfer is None or transfer.rest or _is_all_of(call, transfer.receiver.node):
        return None
    statement = call.statement
    if _does_nothing_else(statement.node, call.node, transfer.receiver):
        edits: tuple[Edit, ...] = (remove_statement(statement),)
    else:
        edits = without_suffix(call, transfer.receiver, transfer.suffix)
    return Fix("Remove the transfer", Safety.SAFE, edits) if edits else None


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
        return len(statement.targets) == 1 and ast.unparse(target) == ast.unparse(receiver.node)
    return False
