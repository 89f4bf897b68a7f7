"""Moves the operand that stands on the wrong device to where the other one is."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from device_lens.fixes.edit import Edit, Fix, Safety
from device_lens.fixes.parentheses import parentheses_of
from device_lens.fixes.place import PRIMARY, Place, grouped
from device_lens.fixes.transfer_call import read_transfer
from device_lens.syntax.position import Range


def move_operand(operands: Iterable[Place], device: str) -> Fix | None:
    """`mask` → `mask.to(x.device)`, at every place given; `mask.cpu()` alike."""
    places = innermost(list(operands))
    transfer = read_transfer(places[0]) if len(places) == 1 else None
    if transfer is None or not transfer.says_device or transfer.rest:
        return _append(places, f".to({device})")
    new_text = f".to({device})"
    title = f"Move it there: {transfer.receiver.text}{new_text}"
    return Fix(title, Safety.UNSAFE, (places[0].edit(transfer.suffix, new_text),))


def move_items(items: Place, device: str) -> Fix | None:
    """`parts` → `[each.to(parts[0].device) for each in parts]`, of a list that has a name."""
    if not isinstance(items.node, ast.Name | ast.Attribute):
        return None
    new_text = f"[each.to({device}) for each in {items.text}]"
    return Fix(f"Move them: {new_text}", Safety.UNSAFE, (items.replace(new_text),))


def move_to_host(operands: Iterable[Place]) -> Fix | None:
    """`lengths` → `lengths.cpu()`."""
    return _append(operands, ".cpu()")


def appended(place: Place, suffix: str) -> Edit | None:
    """The expression with a method call behind it; None where it is assigned to or unpacked."""
    node = place.node
    if not isinstance(node, ast.expr) or isinstance(node, ast.Starred):
        return None
    context = getattr(node, "ctx", None)
    if context is not None and not isinstance(context, ast.Load):
        return None
    own = None if isinstance(node, PRIMARY) else parentheses_of(place)
    if own is not None:
        return place.edit(Range(own.end, own.end), suffix)
    return place.replace(f"{grouped(place)}{suffix}")


def whole_value(creation: Place, moves: Callable[[ast.Call], bool] | None = None) -> Place:
    """What a creation is part of in an assignment or in what is returned: of the layer in
    `net = nn.Sequential(nn.Linear(3, 3))`, the call of `Sequential`. A layer that is called where
    it is made is a whole by itself: what that call gives is no layer. `moves` tells whether what a
    call makes can be moved."""
    statement = creation.statement.node
    if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.Return):
        return creation
    whole = child = creation.node
    for node in creation.ancestors():
        if isinstance(node, ast.Call):
            if node.func is child:
                break
            if moves is None or moves(node):
                whole = node
        child = node
    return creation.at(whole)


def move_alike(operand: Place, moved: Place) -> Fix | None:
    """Moves the operand as the expression `moved` is moved: `net` → `net.cuda()` beside
    `x.cuda()`."""
    transfer = read_transfer(moved)
    if transfer is None or transfer.rest or not transfer.says_device:
        return None
    return _append([operand], moved.source.text_of(transfer.suffix))


def is_changed(operation: Place, operand: ast.AST) -> bool:
    """Whether an operation changes the operand in place, so that a moved copy would be lost:
    `operand += x`, `operand[i] = x`, `operand.add_(x)`."""
    node = operation.node
    if isinstance(node, ast.Assign):
        targets = (each.value for each in node.targets if isinstance(each, ast.Subscript))
        return any(each is operand for each in (*targets, *node.targets))
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Store) and node.value is operand
    return _changed_by(node) is operand


def is_kept(operation: Place, operand: ast.AST) -> bool:
    """Whether the statement around an operation changes in place what the operand reads: of
    `total += x - total` and `total.add_(x - total)` the sum stays where `total` is."""
    statement = operation.statement.node
    kept = _changed_by(statement.value if isinstance(statement, ast.Expr) else statement)
    return kept is not None and kept is not operand and ast.unparse(kept) == ast.unparse(operand)


def _changed_by(node: ast.AST) -> ast.expr | None:
    """`x` of `x += y` and of `x.add_(y)`."""
    match node:
        case ast.AugAssign(target=changed):
            return changed
        case ast.Call(func=ast.Attribute(value=changed, attr=method)) if method.endswith("_"):
            return changed
    return None


def innermost(places: list[Place]) -> list[Place]:
    """Those of some operands that no other one stands in: what is made of a moved value is where
    that is."""
    return [
        place
        for place in places
        if not any(place.node is above for each in places for above in each.ancestors())
    ]


def _append(operands: Iterable[Place], suffix: str) -> Fix | None:
    places = innermost(list(operands))
    edits = [edit for edit in (appended(place, suffix) for place in places) if edit is not None]
    if not edits or len(edits) != len(places):
        return None
    title = f"Move it: {grouped(places[0])}{suffix}"
    return Fix(title, Safety.UNSAFE, tuple(edits))
