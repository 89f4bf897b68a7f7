"""Tensors that join or leave the graph in place, by the expression that stands for them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.heap import DictObject, ListObject
from device_lens.domain.values import Tensor
from device_lens.interpreter import aliases, assignment
from device_lens.interpreter.graph_flow import arguments
from device_lens.interpreter.keys import key_of
from device_lens.models.call import constant
from device_lens.models.torch.indexing import take_apart
from device_lens.syntax.names import last_name
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine

_MAKING = ("detach", "clone")
"""Methods that give a tensor of its own each time."""
_VIEWING = frozenset("view select narrow unsqueeze squeeze transpose t permute diagonal".split())
"""Methods that give a view of the same data."""


def change_graph(machine: Machine, node: ast.AST, old: Tensor, new: Tensor, frame: Frame) -> None:
    """`x.requires_grad_()`, `x.detach_()`, `x[i] = y` at a node: what it is called on is `new` from
    here on."""
    target = _taken_from(node)
    _change_whole(machine, target, old, new, frame)
    name = target.id if isinstance(target, ast.Name) else None
    is_local = name is not None and frame.scope.names.get(name) is old
    if not _is_made_by(target, old):
        aliases.lose_gradient(machine, old, new)
    if is_local:
        machine.journal.write(frame.scope.names, name, new)
    elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        if target.attr in ("data", "grad"):
            return  # they are read anew each time
        assignment.assign(machine, target, new, frame, None)


def _taken_from(node: ast.AST | None) -> ast.expr | None:
    """What a method is called on, or an item is taken of."""
    called = node.func if isinstance(node, ast.Call) else node
    return called.value if isinstance(called, ast.Attribute | ast.Subscript) else None


def _change_whole(
    machine: Machine, part: ast.expr | None, old: Tensor, new: Tensor, frame: Frame
) -> None:
    """What holds the part that an expression stands for: the tensor of which that is a view, a
    dict or a list."""
    held = _taken_from(part)
    if part is None or held is None or not _is_place(part):
        return
    whole = machine.evaluate(held, frame)
    index = machine.evaluate(part.slice, frame) if isinstance(part, ast.Subscript) else None
    if type(whole) is Tensor:
        joins = new.requires_grad is True and new.leaf is False and not whole.requires_grad
        if joins and (index is None or _gives_view(index)):
            joined = whole.with_(requires_grad=True, leaf=False)
            change_graph(machine, part, whole, joined, frame)
    elif type(whole) is DictObject and index is not None:
        key = key_of(index)
        if whole.entries.get(key) is old:
            machine.journal.write(whole.entries, key, new)
    elif type(whole) is ListObject and whole.rest is None:
        place = constant(index)
        if isinstance(place, int) and -len(whole.items) <= place < len(whole.items):
            items = list(whole.items)
            items[place] = new if items[place] is old else items[place]
            machine.journal.write(whole.fields, "items", tuple(items))


def _is_place(part: ast.expr | None) -> bool:
    """Whether an expression is an item of a name or an attribute, or a view of it, of another one
    perhaps: it can be looked at once more."""
    inner = part
    while isinstance(inner, ast.Subscript | ast.Call):
        given = [inner.slice] if isinstance(inner, ast.Subscript) else arguments(inner)
        if any(_runs(node) for each in given for node in walk(each)):
            return False
        if isinstance(inner, ast.Call) and last_name(inner.func) not in _VIEWING:
            return False
        inner = _taken_from(inner)
    is_held = isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name)
    return inner is not part and (is_held or isinstance(inner, ast.Name))


def _gives_view(index: Any) -> bool:
    """Whether an index selects without a copy."""
    found = take_apart(index, 0)
    return found.clear and not found.advanced


def _runs(node: ast.AST) -> bool:
    return isinstance(node, ast.Call | ast.NamedExpr | ast.Await)


def _is_made_by(node: ast.AST | None, value: Tensor) -> bool:
    """Whether an expression is the call that makes a tensor, so that nothing else holds it."""
    if not isinstance(node, ast.Call):
        return False
    trail = value.trail
    is_created = trail is not None and trail.kind == "created" and trail.site.node is node
    return is_created or (isinstance(node.func, ast.Attribute) and node.func.attr in _MAKING)
