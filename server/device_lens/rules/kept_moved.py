"""An attribute that a method moves to where it is needed and keeps there."""

from __future__ import annotations

import ast
from dataclasses import replace

from device_lens.domain.trail import Site
from device_lens.fixes.bindings import may_be_none
from device_lens.fixes.blocks import insert_above, insert_below
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.names import of_comprehension, stores
from device_lens.fixes.place import Place
from device_lens.fixes.transfer_call import read_transfer
from device_lens.interpreter.facts import Conflict, Kind
from device_lens.rules.causes import Cause
from device_lens.rules.conflict_words import followed, move_fix
from device_lens.rules.context import Context
from device_lens.rules.set_up_order import is_set_once, is_there
from device_lens.rules.wording import telling_step

_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr)


def keep_moved(cause: Cause, context: Context) -> Fix | None:
    """`self.limits = self.limits.to(x.device)` above the first statement of a method in which the
    attribute meets `x`; what strays under other names is moved where it does. None where the other
    operand has no name there, and where the class reads the attribute but once."""
    first = min(cause.conflicts, key=lambda each: _start(each, context), default=None)
    if first is None or not context.knows(first.site) or not context.knows(first.stray.site):
        return None
    stray = context.place(first.stray.site)
    attribute, statement = _attribute(stray.node), stray.statement
    if attribute is None or stray.owner is None or not isinstance(statement.node, _SIMPLE):
        return None
    if _reads(stray.owner, attribute) < 2:
        return None
    other = context.place(first.other.site) if context.knows(first.other.site) else None
    if other is None or other.statement.node is not statement.node:
        return None
    name = other.node
    if not isinstance(name, ast.Name) or first.other.is_parameter:
        return None
    if of_comprehension(other, name.id) or stores(statement.node, name.id):
        return None
    known = context.all_facts[other.path].expression_at(name)
    device = followed(first.other, context)
    if device is None or known is None or known.kind is not Kind.TENSOR:
        return None
    line = f"{attribute} = {attribute}.to({device})"
    kept = Fix(f"Keep it moved: {line}", Safety.UNSAFE, (insert_above(statement, line),))
    others = [each for each in cause.conflicts if not _is_of(each, attribute, stray, context)]
    moved = move_fix(others, context) if others else kept
    if moved is None or moved is kept:
        return moved
    return replace(kept, edits=(*kept.edits, *moved.edits))


def _is_of(conflict: Conflict, attribute: str, stray: Place, context: Context) -> bool:
    """Whether what strays is read off the attribute of the same object, as far as that is seen."""
    site = conflict.stray.site
    if not context.knows(site):
        return True
    place = context.place(site)
    names = (_attribute(node) for node in ast.walk(place.node))
    return place.owner is stray.owner and attribute in names


def move_beside(cause: Cause, context: Context) -> Fix | None:
    """`self.masks = self.masks.to(device)` below `self.rewards = self.rewards.to(device)`, where a
    method moves what the attribute meets and leaves the attribute, which nothing but what sets up
    the object binds, where it was made."""
    met = {_met(each, context) for each in cause.conflicts}
    (attribute, beside) = met.pop() if len(met) == 1 else (None, None)
    if attribute is None or beside is None or not context.knows(beside):
        return None
    moved = context.place(beside)
    statement, transfer = moved.statement, read_transfer(moved)
    if transfer is None or moved.owner is None or moved.function is None:
        return None
    match statement.node:
        case ast.Assign(targets=[ast.Attribute() as target], value=value) if value is moved.node:
            name = _attribute(target)
        case _:
            return None
    if name is None or name == attribute or transfer.receiver.text != name:
        return None
    bound = attribute.partition(".")[2]
    if not is_set_once(bound, moved.owner) or not is_there(bound, moved.function, moved.owner):
        return None
    if may_be_none(moved, attribute):
        return None
    line = f"{attribute} = {attribute}{moved.source.text_of(transfer.suffix)}"
    return Fix(f"Move it as well: {line}", Safety.UNSAFE, (insert_below(statement, line),))


def _met(conflict: Conflict, context: Context) -> tuple[str | None, Site | None]:
    """The attribute of `self` that strays, or holds what does, and the move of what it meets, which
    is of the same class."""
    stray, step = conflict.stray, telling_step(conflict.other.trail)
    if conflict.wants_cpu or step is None or step.kind != "moved":
        return None, None
    if not (context.knows(stray.site) and context.knows(step.site)):
        return None, None
    place, node = context.place(stray.site), stray.site.node
    while isinstance(node, ast.Subscript):
        node = node.value
    if place.owner is None or place.owner is not context.place(step.site).owner:
        return None, None
    return _attribute(node), step.site


def _attribute(node: ast.AST) -> str | None:
    """The text of `self.name`."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return ast.unparse(node) if node.value.id == "self" else None
    return None


def _reads(owner: ast.ClassDef, attribute: str) -> int:
    loads = (node for node in ast.walk(owner) if isinstance(getattr(node, "ctx", None), ast.Load))
    return sum(_attribute(node) == attribute for node in loads)


def _start(conflict: Conflict, context: Context) -> tuple[str, int, int]:
    if not context.knows(conflict.site):
        return conflict.site.path, 0, 0
    start = context.place(conflict.site).range.start
    return conflict.site.path, start.line, start.column
