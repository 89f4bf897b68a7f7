"""A tensor with a name of its own that is moved below the assignment that binds it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from device_lens.fixes.blocks import insert_below
from device_lens.fixes.bound_value import binders
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.names import own_nodes
from device_lens.fixes.place import Place
from device_lens.interpreter.facts import Conflict, Kind
from device_lens.rules.causes import Cause
from device_lens.rules.conflict_words import followed, root_of
from device_lens.rules.context import Context

_PLAIN = frozenset("device dim dtype ndim numel shape size".split())
"""What is asked of a tensor wherever it is."""

_MOVES = frozenset("numpy cpu cuda to xpu mps type type_as".split())


def bind_moved(cause: Cause, context: Context) -> Fix | None:
    """`weights = weights.to(x.device)` below the assignment that binds a name, where its function
    computes with it at more places than those at which it is seen to stray. None where one of them
    may have something else under that name."""
    conflicts = cause.conflicts
    if not all(context.knows(each.stray.site) and not each.wants_cpu for each in conflicts):
        return None
    strays = [context.place(each.stray.site) for each in conflicts]
    name = _name(strays, context)
    binder = None if name is None else _binder(strays[0], name)
    if name is None or binder is None:
        return None
    reads = list(_reads(binder, name))
    if not all(map(_computes, reads)) or len(reads) <= len(conflicts):
        return None
    devices = (_device(each, binder, context) for each in conflicts if _is_plain(each))
    device = next(filter(None, devices), None)
    if device is None or len({each.other.device for each in conflicts}) > 1:
        return None
    line = f"{name} = {name}.to({device})"
    return Fix(f"Move it: {line}", Safety.UNSAFE, (insert_below(binder, line),))


def _name(strays: list[Place], context: Context) -> str | None:
    """The name of the tensor that all are made from, and from no other."""
    found: set[str | None] = set()
    for place in strays:
        source = _source(place.node)
        known = None if source is None else context.all_facts[place.path].expression_at(source)
        is_tensor = known is not None and known.kind is Kind.TENSOR
        found.add(source.id if source is not None and is_tensor else None)
    functions = {place.function for place in strays}
    return found.pop() if len(found) == 1 and len(functions) == 1 else None


def _source(node: ast.AST) -> ast.Name | None:
    """`y` of `y.abs()[0]`, by methods that leave it where it is, and of `1 - y.abs()`."""
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        others = [each for each in sides if not isinstance(each, ast.Constant)]
        return _source(others[0]) if len(others) == 1 else None
    root = root_of(node)
    return root if isinstance(root, ast.Name) else None


def _binder(stray: Place, name: str) -> Place | None:
    """The one assignment that binds the name, or unpacks it."""
    source = _source(stray.node)
    if stray.function is None or source is None:
        return None
    found = list(binders(stray.at(source), name))
    statement = found[0].statement if len(found) == 1 else None
    if statement is None or not isinstance(statement.node, ast.Assign):
        return None
    if found[0].function is not stray.function or len(statement.node.targets) != 1:
        return None
    target = statement.node.targets[0]
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return statement if any(part is found[0].node for part in parts) else None


def _reads(binder: Place, name: str) -> Iterator[Place]:
    """Where the function reads the name for more than what holds of it wherever it is."""
    function = binder.function
    for node in () if function is None else own_nodes(function):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            place = binder.at(node)
            above = place.parent
            if not (isinstance(above, ast.Attribute) and above.attr in _PLAIN):
                yield place


def _computes(read: Place) -> bool:
    """Whether a read goes into a computation that leaves the tensor as it is, and that no copy to
    the host begins."""
    child = read.node
    for above in read.ancestors():
        if isinstance(above, ast.BinOp):
            return True
        if isinstance(above, ast.Attribute):
            if above.attr in _MOVES or above.attr.endswith("_"):
                return False
        elif isinstance(above, ast.Subscript):
            if above.value is not child or not isinstance(above.ctx, ast.Load):
                return False
        elif not isinstance(above, ast.Call) or above.func is not child:
            return isinstance(child, ast.Call | ast.Subscript)
        child = above
    return False


def _is_plain(conflict: Conflict) -> bool:
    return not conflict.other.is_parameter and isinstance(conflict.other.site.node, ast.Name)


def _device(conflict: Conflict, binder: Place, context: Context) -> str | None:
    """`x.device` of the other operand, where it is bound as it is there before the name is."""
    if not context.knows(conflict.other.site):
        return None
    text = followed(conflict.other, context)
    there = context.place(conflict.other.site)
    if text is None or there.path != binder.path:
        return None
    return text if context.at_hand.visible(text, there, binder) else None
