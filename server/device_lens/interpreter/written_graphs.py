"""Tensors that join or leave the graph in place, or get another shape, by the expression that
stands for them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.heap import DictObject, ListObject
from device_lens.domain.values import Tensor
from device_lens.interpreter import aliases, assignment
from device_lens.interpreter.keys import key_of
from device_lens.interpreter.named_views import may_view, part_at, taken_from
from device_lens.models.call import constant
from device_lens.models.torch.indexing import take_apart

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine

_MAKING = ("detach", "clone")
"""Methods that give a tensor of its own each time."""


def change_graph(machine: Machine, node: ast.AST, old: Tensor, new: Tensor, frame: Frame) -> None:
    """`x.requires_grad_()`, `x.detach_()`, `x.squeeze_()`, `x[i] = y`, `x += y` at a node: what it
    is called on is `new` from here on."""
    match node:
        case ast.AugAssign(target=ast.Name() as name):
            _change(machine, name, old, new, frame)
        case _:
            _change(machine, taken_from(node), old, new, frame)


def _change(
    machine: Machine, target: ast.expr | None, old: Tensor, new: Tensor, frame: Frame
) -> None:
    """The same for what an expression stands for."""
    _change_whole(machine, target, old, new, frame)
    name = target.id if isinstance(target, ast.Name) else None
    is_local = name is not None and frame.scope.names.get(name) is old
    if not _is_made_by(target, old):
        aliases.lose_gradient(machine, old, new)
        aliases.lose_shape(machine, old, new)
    if is_local:
        machine.journal.write(frame.scope.names, name, new)
    elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        if target.attr in ("data", "grad"):
            return  # they are read anew each time
        assignment.assign(machine, target, new, frame, None)


def _change_whole(
    machine: Machine, target: ast.expr | None, old: Tensor, new: Tensor, frame: Frame
) -> None:
    """What holds the part that an expression stands for: the tensor of which that is a view, a
    dict or a list."""
    if isinstance(target, ast.Name) and frame.scope.names.get(target.id) is not old:
        return
    part = part_at(target, frame)
    if part is None:
        return
    whole = machine.evaluate(part.whole, frame)
    index = None if part.item is None else machine.evaluate(part.item, frame)
    if type(whole) is Tensor:
        joins = new.requires_grad is True and new.leaf is False and not whole.requires_grad
        if joins and (index is None or _gives_view(index)) and may_view(old, whole):
            joined = whole.with_(requires_grad=True, leaf=False)
            _change(machine, part.whole, whole, joined, frame)
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


def _gives_view(index: Any) -> bool:
    """Whether an index selects without a copy."""
    found = take_apart(index, 0)
    return found.clear and not found.advanced


def _is_made_by(node: ast.AST | None, value: Tensor) -> bool:
    """Whether an expression is the call that makes a tensor, so that nothing else holds it."""
    if not isinstance(node, ast.Call):
        return False
    trail = value.trail
    is_created = trail is not None and trail.kind == "created" and trail.site.node is node
    return is_created or (isinstance(node.func, ast.Attribute) and node.func.attr in _MAKING)
