"""`self.mean = torch.tensor(...)` → `self.register_buffer("mean", torch.tensor(...))`."""

from __future__ import annotations

import ast

from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.place import Place


def register_buffer(assignment: Place, attribute: str, safety: Safety) -> tuple[Fix, ...]:
    """A buffer that moves with the module: one that stays out of the state dict, as the plain
    attribute did, and one that is saved. None where the module is not set up yet at that line or
    has the attribute already."""
    value = _value(assignment)
    if value is None or not ready(assignment) or assigned_elsewhere(assignment, attribute):
        return ()
    head = f'self.register_buffer("{attribute}", {value.text}'
    quiet = assignment.replace(f"{head}, persistent=False)")
    saved = assignment.replace(f"{head})")
    return (
        Fix(
            f'Register it: self.register_buffer("{attribute}", …, persistent=False)',
            safety,
            (quiet,),
        ),
        Fix(
            f'Register and save it: self.register_buffer("{attribute}", …)',
            Safety.UNSAFE,
            (saved,),
            preferred=False,
        ),
    )


def _value(assignment: Place) -> Place | None:
    """The value in `self.name = value`."""
    node = assignment.node
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target: ast.expr = node.targets[0]
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        target = node.target
    else:
        return None
    if not _is_own_attribute(target) or node.value is None:
        return None
    return assignment.at(node.value)


def _is_own_attribute(target: ast.expr) -> bool:
    return (
        isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Name)
        and target.value.id == "self"
    )


def ready(assignment: Place) -> bool:
    """Whether `super().__init__()` has run where the assignment stands: outside `__init__`, or
    below that call."""
    function = assignment.function
    if not isinstance(function, ast.FunctionDef) or function.name != "__init__":
        return function is not None
    start = assignment.range.start
    for node in ast.walk(function):
        func = node.func if isinstance(node, ast.Call) else None
        if isinstance(func, ast.Attribute) and func.attr == "__init__":
            return assignment.at(node).range.start < start
    return False


def assigned_elsewhere(assignment: Place, attribute: str) -> bool:
    """Whether another line of the class sets `self.<attribute>`."""
    owner = assignment.owner
    if owner is None:
        return True
    found = [
        node
        for node in ast.walk(owner)
        if isinstance(node, ast.Attribute)
        and node.attr == attribute
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    ]
    return len(found) > 1
