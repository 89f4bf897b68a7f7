"""`x * weights` with an array of NumPy → `x * torch.as_tensor(weights, device=x.device)`."""

from __future__ import annotations

import ast

from device_lens.fixes.comprehension import name_at
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.place import Place

_FLOATS = frozenset(("float16", "bfloat16", "float32", "float64"))


def array_to_tensor(operation: Place, tensor: Place, named: Place, dtype: str | None) -> Fix | None:
    """Makes a tensor of the array that an operator has beside `tensor`, where that is, as `named`
    tells: the result keeps its graph. It gets the tensor's `dtype` where that is a float's, since
    an array of float64 would make the result one, which float32 layers refuse. None where no mere
    name tells, since all else would be computed twice, or the array is what is assigned to."""
    torch = name_at(operation, "torch")
    node = operation.node
    if torch is None or not is_name(named.node):
        return None
    if isinstance(node, ast.BinOp):
        array = node.right if node.left is tensor.node else node.left
    elif isinstance(node, ast.AugAssign) and node.target is tensor.node:
        array = node.value
    else:
        return None
    place = operation.at(array)
    kept = f", dtype={named.text}.dtype" if dtype in _FLOATS else ""
    new_text = f"{torch}.as_tensor({place.text}{kept}, device={named.text}.device)"
    title = f"Make a tensor of the array: {new_text}"
    return Fix(title, Safety.UNSAFE, (place.replace(new_text),))


def is_name(node: ast.AST) -> bool:
    """Whether it is a name, or an attribute of one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)
