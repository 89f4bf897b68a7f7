"""`self.layers = [...]` → `self.layers = nn.ModuleList([...])`, and its relatives."""

from __future__ import annotations

import ast

from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.names import name_for
from device_lens.fixes.place import Place
from device_lens.fixes.register_buffer import assigned_elsewhere, ready

CONTAINERS = {
    "modules": "ModuleList",
    "parameters": "ParameterList",
    "dict-of-modules": "ModuleDict",
    "dict-of-parameters": "ParameterDict",
}
"""By what the plain container holds."""


def module_container(assignment: Place, attribute: str, holds: str) -> Fix | None:
    """Wraps the plain list or dict that an attribute is set to."""
    nn = name_for(assignment.source, "torch.nn")
    node = assignment.node
    if nn is None or not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return None
    if not ready(assignment):
        return None
    value = assignment.at(node.value)
    name = f"{nn}.{CONTAINERS[holds]}"
    edit = value.replace(f"{name}()" if _is_empty(node.value) else f"{name}({value.text})")
    plain = isinstance(node.value, ast.List | ast.Tuple | ast.ListComp) or _is_empty(node.value)
    equivalent = plain and not assigned_elsewhere(assignment, attribute)
    return Fix(f"Use {name}", Safety.SAFE if equivalent else Safety.UNSAFE, (edit,))


def _is_empty(value: ast.expr) -> bool:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in ("list", "dict") and not value.args and not value.keywords
    if isinstance(value, ast.List | ast.Tuple):
        return not value.elts
    return isinstance(value, ast.Dict) and not value.keys
