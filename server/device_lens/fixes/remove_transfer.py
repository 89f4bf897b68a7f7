"""Takes a transfer out that moves nothing."""

from __future__ import annotations

import ast

from device_lens.fixes.blocks import remove_statement
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.place import Place
from device_lens.fixes.transfer_call import read_transfer


def remove_transfer(call: Place) -> Fix | None:
    """`x.to(d)` → `x`; a statement that would only be `x = x` or `x` goes altogether."""
    transfer = read_transfer(call)
    if transfer is None or transfer.rest:
        return None
    statement = call.statement
    if _does_nothing_else(statement.node, call.node, transfer.receiver):
        edit = remove_statement(statement)
    else:
        edit = call.edit(transfer.suffix, "")
    return Fix("Remove the transfer", Safety.SAFE, (edit,))


def _does_nothing_else(statement: ast.AST, call: ast.AST, receiver: Place) -> bool:
    if isinstance(statement, ast.Expr):
        return statement.value is call
    if isinstance(statement, ast.Assign) and statement.value is call:
        target = statement.targets[0]
        return len(statement.targets) == 1 and ast.unparse(target) == ast.unparse(receiver.node)
    return False
