"""`torch.zeros(n).to(d)` → `torch.zeros(n, device=d)`."""

from __future__ import annotations

import ast

from device_lens.fixes.arguments import add_keyword, is_true, keyword, remove_keyword
from device_lens.fixes.edit import Edit, Fix, Safety
from device_lens.fixes.factories import is_random, takes_device
from device_lens.fixes.parentheses import without_suffix
from device_lens.fixes.place import Place
from device_lens.fixes.transfer_call import TransferCall, read_transfer


def create_on_device(call: Place, factory: str, made: Place | None = None) -> Fix | None:
    """Makes the tensor where it is moved to. A conversion that the transfer also does stays. `made`
    is the factory's call where it is not the very thing that is moved."""
    transfer = read_transfer(call)
    if transfer is None or transfer.device is None or not takes_device(factory):
        return None
    made = transfer.receiver if made is None else made
    if not isinstance(made.node, ast.Call) or keyword(made.node, "pin_memory") is not None:
        return None
    added = add_keyword(made, "device", transfer.device)
    if added is None:
        return None
    safety = Safety.UNSAFE if is_random(factory) else Safety.SAFE
    title = f"Create it on the device: device={transfer.device}"
    remaining = _remaining(call, transfer)
    return Fix(title, safety, (added, *remaining)) if remaining else None


def leaf_on_device(call: Place, factory: str) -> Fix | None:
    """`torch.ones(2, requires_grad=True).to(d)` → a leaf on `d`; a random factory keeps its
    numbers: `torch.rand(2).to(d).requires_grad_()`."""
    if not is_random(factory):
        return create_on_device(call, factory)
    transfer = read_transfer(call)
    if transfer is None:
        return None
    made = transfer.receiver.node
    asked = keyword(made, "requires_grad") if isinstance(made, ast.Call) else None
    removed = remove_keyword(transfer.receiver, "requires_grad")
    if asked is None or removed is None:
        return None
    flag = "" if is_true(asked.value) else call.at(asked.value).text
    edits = (removed, call.insert_behind(f".requires_grad_({flag})"))
    return Fix(f"Ask for the gradient after the move: .requires_grad_({flag})", Safety.SAFE, edits)


def _remaining(call: Place, transfer: TransferCall) -> tuple[Edit, ...]:
    """What stays of the transfer."""
    if not transfer.rest:
        return without_suffix(call, transfer.receiver, transfer.suffix)
    return (call.edit(transfer.suffix, f".to({', '.join(transfer.rest)})"),)
