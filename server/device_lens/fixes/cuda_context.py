"""`torch.cuda.device(i)` → `torch.device(...)`, which is what a factory or `.to()` heeds."""

from __future__ import annotations

import ast

from device_lens.fixes.comprehension import name_at
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.place import Place


def use_torch_device(context: Place, names_a_device: bool) -> Fix | None:
    """`context` is the call. `names_a_device`: its argument is a device rather than a number."""
    node = context.node
    torch = name_at(context, "torch")
    if torch is None or not isinstance(node, ast.Call) or len(node.args) + len(node.keywords) != 1:
        return None
    value = node.args[0] if node.args else node.keywords[0].value
    if isinstance(value, ast.Starred):
        return None
    new_text = f"{torch}.device({_argument(context.at(value), names_a_device)})"
    if _selects_for_others(context):
        if isinstance(context.parent, ast.withitem) and context.parent.optional_vars is not None:
            return None  # the name is for one of them
        both = f"{context.text}, {new_text}"
        return Fix(f"Create there too: {new_text}", Safety.UNSAFE, (context.replace(both),))
    return Fix(f"Use {new_text}", Safety.UNSAFE, (context.replace(new_text),))


def _selects_for_others(context: Place) -> bool:
    """Whether the block also asks for the current CUDA device, which `torch.device` leaves."""
    item = context.parent
    block = next((node for node in context.ancestors() if isinstance(node, ast.With)), None)
    if not isinstance(item, ast.withitem) or block is None:
        return False
    return any(
        (isinstance(node, ast.Attribute) and node.attr == "cuda")
        or (isinstance(node, ast.Constant) and node.value == "cuda")
        for statement in block.body
        for node in ast.walk(statement)
    )


def select_device(context: Place) -> Fix | None:
    """`torch.cuda.device(1)` as a statement → `torch.cuda.set_device(1)`."""
    node = context.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if node.func.attr != "device":
        return None
    module = context.at(node.func.value)
    edit = context.at(node.func).replace(f"{module.text}.set_device")
    return Fix("Select it: set_device", Safety.UNSAFE, (edit,))


def _argument(value: Place, names_a_device: bool) -> str:
    node = value.node
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return f'"cuda:{node.value}"'
    if names_a_device or isinstance(node, ast.Constant):
        return value.text
    return f'"cuda", {value.text}'
