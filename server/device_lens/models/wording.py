"""How models speak of devices and operations to a reader."""

from __future__ import annotations

from device_lens.domain.device import CPU, DeviceTree, is_unknown
from device_lens.domain.guard import leaves

_OPERATORS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "matmul": "@",
    "truediv": "/",
    "div": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "lshift": "<<",
    "rshift": ">>",
    "and": "&",
    "or": "|",
    "xor": "^",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}
_SPECIAL = {"neg": "-", "pos": "+", "invert": "~", "getitem": "[]", "setitem": "[] =", "abs": "abs"}


def place(device: DeviceTree) -> str:
    """Where a tensor is: "on the CPU", "on `cuda:0`"; empty where that is not known."""
    names = list(dict.fromkeys(_name(leaf) for leaf in leaves(device)))
    if "" in names:
        return ""
    return "on " + " or ".join(names)


def _name(leaf: DeviceTree) -> str:
    if leaf is CPU:
        return "the CPU"
    if is_unknown(leaf):
        return ""
    text = str(leaf)
    return text if " " in text else f"`{text}`"


def operation(name: str) -> str:
    """A callable as a reader knows it: `+` for `torch.Tensor.__add__`, `.add_()` for a method."""
    method = name.removeprefix("torch.Tensor.")
    if method == name:
        return name
    if not method.startswith("__"):
        return f".{method}()"
    bare = method.strip("_")
    if bare in _SPECIAL:
        return _SPECIAL[bare]
    if bare in _OPERATORS:
        return _OPERATORS[bare]
    plain = _OPERATORS.get(bare[1:])
    if plain is None:
        return f"{bare}()"
    return f"{plain}=" if bare.startswith("i") else plain


def created(name: str, device: DeviceTree) -> str:
    """The sentence about a tensor's creation: "is created on the CPU by `torch.ones`"."""
    return " ".join(part for part in ("is created", place(device), f"by `{name}`") if part)


def computed(name: str, device: DeviceTree) -> str:
    """The sentence about a result: "is computed on the CPU by `torch.histogram`"."""
    return " ".join(part for part in ("is computed", place(device), f"by `{name}`") if part)


def moved(device: DeviceTree) -> str:
    """The sentence about a move: "is moved to `cuda:0`"."""
    where = place(device)
    return f"is moved to {where[3:]}" if where else "is moved"


def loaded(device: DeviceTree) -> str:
    """The sentence about a checkpoint's tensor: "is loaded to the CPU by `torch.load`"."""
    where = place(device)
    return f"is loaded to {where[3:]} by `torch.load`" if where else "is loaded by `torch.load`"
