"""`v.to(d)` for each item of a batch → `v.to(d) if torch.is_tensor(v) else v`."""

from __future__ import annotations

import ast

from device_lens.fixes.comprehension import name_at
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.place import Place
from device_lens.syntax.names import names_in


def move_tensors_alone(call: Place) -> Fix | None:
    """For an item that a loop or comprehension binds or reads by its key, where the result is
    kept as it is."""
    node, torch = call.node, name_at(call, "torch")
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or torch is None:
        return None
    item = node.func.value
    if not _goes_through(call, item) or not _is_kept(call):
        return None
    text = call.at(item).text
    new_text = f"{call.text} if {torch}.is_tensor({text}) else {text}"
    return Fix(f"Move the tensors alone: {new_text}", Safety.UNSAFE, (call.replace(new_text),))


def _goes_through(call: Place, item: ast.expr) -> bool:
    """Whether an item is another one each time."""
    if isinstance(item, ast.Subscript) and isinstance(item.value, ast.Name):
        name = item.slice
    else:
        name = item
    if not isinstance(name, ast.Name):
        return False
    return any(name.id in names_in(target) for target in _targets(call))


def _targets(call: Place) -> list[ast.expr]:
    found: list[ast.expr] = []
    for node in call.ancestors():
        if isinstance(node, ast.For):
            found.append(node.target)
        found += [each.target for each in getattr(node, "generators", ())]
    return found


def _is_kept(call: Place) -> bool:
    """Whether the call is the element of a comprehension, or the value of an assignment."""
    match call.parent:
        case ast.DictComp(value=value) | ast.Assign(value=value):
            return value is call.node
        case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element):
            return element is call.node
    return False
