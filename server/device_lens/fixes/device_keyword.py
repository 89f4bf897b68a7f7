"""A factory call without `device=` → with it, after a device at hand."""

from __future__ import annotations

import ast

from device_lens.fixes.arguments import add_keyword
from device_lens.fixes.edit import Edit, Fix, Safety
from device_lens.fixes.factories import is_random, takes_device
from device_lens.fixes.move_operand import appended
from device_lens.fixes.place import Place


def create_there(factory: Place, name: str, device: str) -> Fix | None:
    """`torch.zeros(n)` → `torch.zeros(n, device=x.device)`; where the factory has no such
    argument, `.to(x.device)` behind it."""
    edit = device_edit(factory, name, device)
    if edit is None:
        return None
    if edit.new_text.endswith(f".to({device})"):
        return Fix(f"Move it: .to({device})", Safety.SAFE, (edit,))
    safety = Safety.UNSAFE if is_random(name) else Safety.SAFE
    return Fix(f"Create it there: device={device}", safety, (edit,))


def device_edit(factory: Place, name: str, device: str) -> Edit | None:
    """The edit that makes a factory's tensor on `device`."""
    if isinstance(factory.node, ast.Call) and takes_device(name):
        edit = add_keyword(factory, "device", device)
        if edit is not None:
            return edit
    return appended(factory, f".to({device})")


def move_part(part: Place, device: str) -> Fix | None:
    """`nn.Linear(3, 5)` → `nn.Linear(3, 5).to(device)`; a parameter stays one:
    `nn.Parameter(t)` → `nn.Parameter(t.to(device))`."""
    node = part.node
    inner = part
    if isinstance(node, ast.Call) and _name(node.func) == "Parameter" and node.args:
        inner = part.at(node.args[0])
    edit = appended(inner, f".to({device})")
    return None if edit is None else Fix(f"Move it: .to({device})", Safety.SAFE, (edit,))


def _name(func: ast.expr) -> str:
    if isinstance(func, ast.Attribute):
        return func.attr
    return func.id if isinstance(func, ast.Name) else ""
