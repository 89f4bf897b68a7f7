"""Moves a tensor that is to be trained so that it stays a leaf."""

from __future__ import annotations

import ast

from device_lens.fixes.comprehension import name_at
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.place import Place, grouped
from device_lens.fixes.transfer_call import read_transfer
from device_lens.syntax.pairing import target_of


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
    target = target_of(statement, call.node) if isinstance(statement, ast.Assign) else None
    rebinds = target is not None and ast.unparse(target) == ast.unparse(transfer.receiver.node)
    safety = Safety.SAFE if rebinds else Safety.UNSAFE
    return Fix(f"Make it a leaf there: {new_text}", safety, (call.replace(new_text),))


def parameter_again(call: Place) -> Fix | None:
    """`self.gain = self.gain.to(d)` → `self.gain = nn.Parameter(self.gain.to(d))`."""
    nn = name_at(call, "torch.nn")
    if nn is None:
        return None
    new_text = f"{nn}.Parameter({call.text})"
    return Fix(f"Make it a parameter again: {new_text}", Safety.UNSAFE, (call.replace(new_text),))
