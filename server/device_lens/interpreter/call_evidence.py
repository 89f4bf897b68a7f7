"""What the text of a call shows: where it places what it makes, or that it only converts."""

from __future__ import annotations

import ast
import re

CASTS = frozenset("float half double bfloat16 long int short bool char byte".split())
"""Methods that convert a tensor to another dtype."""
_DTYPES = re.compile(r"(?:.*\.)?(?:\w*dtype\w*|u?int\d*|b?float\d*|half|long|double|bool|short)\Z")


def is_placed(call: ast.Call, name: str) -> bool:
    """Whether a tensor is made on a device that the program says."""
    if name in ("as_tensor", "asarray", "load", "from_numpy"):
        return False
    for keyword in call.keywords:
        if keyword.arg is None:
            return True
        if keyword.arg == "device":
            return not (isinstance(keyword.value, ast.Constant) and keyword.value.value is None)
    return False


def is_conversion(call: ast.Call, name: str) -> bool:
    """Whether a move is one to another dtype only."""
    if name in ("to", "type"):
        named = all(each.arg in ("dtype", "copy", "memory_format") for each in call.keywords)
        given = [ast.unparse(each) for each in call.args]
        return named and (bool(given) or bool(call.keywords)) and all(map(_DTYPES.match, given))
    return False


def is_cast(call: ast.Call) -> bool:
    """Whether a statement is nothing but `x.half()` or `x.to(dtype)`."""
    function = call.func
    return isinstance(function, ast.Attribute) and function.attr in (*CASTS, "to", "type")


def is_none(call: ast.Call) -> bool:
    value = call.args[1] if len(call.args) > 1 else None
    return isinstance(value, ast.Constant) and value.value is None


def reads_range(comprehension: ast.ListComp) -> bool:
    """Whether numbers are read out of a range that is made for it: `[x.item() for x in
    torch.linspace(0, 1, n)]`."""
    made, read = comprehension.generators[0].iter, comprehension.elt
    return (
        isinstance(made, ast.Call)
        and isinstance(made.func, ast.Attribute)
        and made.func.attr in ("linspace", "arange", "logspace")
        and isinstance(read, ast.Call)
        and isinstance(read.func, ast.Attribute)
        and read.func.attr in ("item", "tolist")
        and isinstance(read.func.value, ast.Name)
    )
