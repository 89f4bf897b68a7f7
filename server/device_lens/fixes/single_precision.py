"""Asks for float32 where the code asks for float64."""

from __future__ import annotations

import ast

from device_lens.fixes.arguments import add_keyword
from device_lens.fixes.comprehension import name_at
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.place import Place

_DOUBLE = ("float64", "double")


def single_precision(place: Place) -> Fix | None:
    """`dtype=torch.float64` → `torch.float32`, `.double()` → `.float()`, in the expression."""
    for node in ast.walk(place.node):
        if not isinstance(node, ast.Attribute) or node.attr not in _DOUBLE:
            continue
        attribute = place.at(node)
        called = isinstance(attribute.parent, ast.Call) and attribute.parent.func is node
        new = "float" if called else "float32"
        new_text = attribute.text[: -len(node.attr)] + new
        return Fix(f"Use float32: {new_text}", Safety.UNSAFE, (attribute.replace(new_text),))
    return _converted(place)


def _converted(call: Place) -> Fix | None:
    """`x.to(device)` → `x.to(device, dtype=torch.float32)`, where the dtype is not written."""
    node, torch = call.node, name_at(call, "torch")
    if torch is None or not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return None
    if not isinstance(node.func, ast.Attribute) or node.func.attr != "to":
        return None
    edit = add_keyword(call, "dtype", f"{torch}.float32")
    if edit is None:
        return None
    return Fix(f"Use float32: dtype={torch}.float32", Safety.UNSAFE, (edit,))
