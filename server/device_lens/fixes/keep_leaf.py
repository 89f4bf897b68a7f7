"""Moves a tensor that is to be trained so that it stays a leaf."""

from __future__ import annotations

import ast

from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.place import Place, grouped
from device_lens.fixes.transfer_call import read_transfer


def move_inside(call: Place) -> Fix | None:
    """`nn.Parameter(t).to(d)` → `nn.Parameter(t.to(d))`."""
    transfer = read_transfer(call)
    if transfer is None:
        return None
    maker = transfer.receiver.node
    if not isinstance(maker, ast.Call) or not maker.args or isinstance(maker.args[0], ast.Starred):
        return None
    data = call.at(maker.args[0])
    suffix = call.source.text_of(transfer.suffix)
    edits = (data.replace(f"{grouped(data)}{suffix}"), call.edit(transfer.suffix, ""))
    return Fix(f"Move the data instead: {grouped(data)}{suffix}", Safety.SAFE, edits)


def move_detached(call: Place) -> Fix | None:
    """`x = x.to(d)` → `x = x.detach().to(d).requires_grad_()`: a leaf on the device."""
    transfer = read_transfer(call)
    if transfer is None:
        return None
    suffix = call.source.text_of(transfer.suffix)
    new_text = f"{grouped(transfer.receiver)}.detach(){suffix}.requires_grad_()"
    statement = call.statement.node
    rebinds = (
        isinstance(statement, ast.Assign)
        and statement.value is call.node
        and len(statement.targets) == 1
        and ast.unparse(statement.targets[0]) == ast.unparse(transfer.receiver.node)
    )
    safety = Safety.SAFE if rebinds else Safety.UNSAFE
    return Fix(f"Make it a leaf there: {new_text}", safety, (call.replace(new_text),))
