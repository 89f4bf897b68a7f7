"""`total += loss` → `total += loss.detach()`; `total += loss.item()` → `… .detach()`."""

from __future__ import annotations

import ast

from device_lens.fixes.bindings import parameters_of
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.move_operand import appended
from device_lens.fixes.place import Place, grouped


def drop_graph(subject: Place) -> Fix | None:
    """Keeps the value without its graph, on the device. Where it is what a function is given,
    another caller may give it a number, which has no graph to drop."""
    edit = appended(subject, ".detach()")
    if edit is None:
        return None
    safety = Safety.UNSAFE if _is_given(subject) else Safety.SAFE
    return Fix(f"Keep the value only: {grouped(subject)}.detach()", safety, (edit,))


def _is_given(subject: Place) -> bool:
    """Whether a value is made of nothing but parameters, their attributes, and constants."""
    given = parameters_of(subject.function)
    pending = [subject.node]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.BinOp):
            pending += [node.left, node.right]
        elif isinstance(node, ast.UnaryOp):
            pending.append(node.operand)
        elif isinstance(node, ast.Attribute | ast.Subscript):
            pending.append(node.value)
        elif isinstance(node, ast.Name):
            if node.id not in given:
                return False
        elif not isinstance(node, ast.Constant):
            return False
    return True


def as_number(subject: Place) -> Fix | None:
    """Keeps a Python number, which waits for the device."""
    edit = appended(subject, ".item()")
    if edit is None:
        return None
    title = f"Keep a Python number: {grouped(subject)}.item()"
    return Fix(title, Safety.UNSAFE, (edit,), preferred=False)


def accumulate_on_device(read: Place) -> Fix | None:
    """`total += loss.item()` → `total += loss.detach()`: one read after the loop in place of one
    in each iteration. What the total is afterwards, a number or a tensor, changes."""
    node, statement = read.node, read.statement.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if node.func.attr != "item" or not isinstance(statement, ast.AugAssign):
        return None
    if not isinstance(statement.op, ast.Add):
        return None
    edit = read.replace(f"{grouped(read.at(node.func.value))}.detach()")
    title = "Accumulate on the device and read the total after the loop"
    return Fix(title, Safety.UNSAFE, (edit,))
