"""Objects that stand for many, as the one that a comprehension over a range makes: what is done to
one of them by its number is not done to the others."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.bound_code import CODE, bound_to
from device_lens.domain.code import Function
from device_lens.domain.guard import leaves
from device_lens.domain.heap import (
    MISSING,
    DictObject,
    HeapObject,
    Instance,
    ListObject,
    ModuleObject,
    Parameter,
    contents,
    is_made_since,
)
from device_lens.domain.join import join_blind
from device_lens.domain.journal import Change
from device_lens.domain.values import WHOLE, Tensor, TupleValue, Unknown
from device_lens.interpreter.frames import Frame, LoopRecord
from device_lens.interpreter.scan import names_bound
from device_lens.models.torch.many import DEEPEST, birth, held_by, stand_for
from device_lens.models.torch.optimizer_state import TAKEN_FOR
from device_lens.models.torch.parts import REST, STANDS_FOR
from device_lens.syntax.names import last_name
from device_lens.syntax.walking import walk as walk_tree

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_WALKS = frozenset(("modules", "named_modules", "children", "named_children"))
"""Methods that give the modules of one."""


def mark(machine: Machine, node: Any, made: Any, count: int | None, since: int) -> None:
    """What a comprehension has made for many turns stands for as many modules."""
    if count is not None and type(made) is ModuleObject and is_made_since(made.own, since):
        machine.journal.write(made.own, STANDS_FOR, count)
    stand_for(made, (_number(node.generators[0].iter), count), since)


def mark_gathered(machine: Machine, record: LoopRecord, changes: list[Change], since: int) -> None:
    """So does what a pass of a loop has made, where it is now any number of items."""
    for table, key, _ in changes:
        if key in ("items", "rest", REST):
            made = table.get("rest" if key == "items" else key)
            if made is not None:
                mark_made(record, made, since)


def mark_made(record: LoopRecord, made: Any, since: int) -> None:
    """So does what stands for what each pass of a loop has made since a moment."""
    stand_for(made, (_number(record.node), record.trip_count), since)


def is_new(value: Any, since: int) -> bool:
    """Whether this is an object no older than a moment."""
    return isinstance(value, HeapObject) and is_made_since(birth(value), since)


def is_all_new(value: Any, since: int, deepest: int = DEEPEST) -> bool:
    """Whether this is such an object, and what is in it that may be moved is as new: a wrapper is
    made around what others have too."""
    if not is_new(value, since):
        return False
    return not any(_is_older(part, since, deepest) for part in held_by(value))


def _is_older(part: Any, since: int, deepest: int) -> bool:
    for leaf in leaves(part):
        if isinstance(leaf, ModuleObject | Parameter):
            if not is_all_new(leaf, since, deepest - 1):
                return True
        elif type(leaf) in (Instance, ListObject, DictObject, TupleValue) and deepest:
            held = held_by(leaf) if isinstance(leaf, HeapObject) else contents(leaf)
            if any(_is_older(each, since, deepest - 1) for each in held):
                return True
            if type(leaf) is Instance and not is_new(leaf, since):
                return any(type(each) is Tensor for each in leaf.fields.values())
        elif isinstance(leaf, CODE):
            return any(not is_new(each, since) for each in bound_to(leaf))
        elif type(leaf) is Unknown and leaf.fields is not None and WHOLE in leaf.fields:
            return True
    return False


def _number(iterated: Any) -> str | None:
    """The name of what tells how many numbers the range has that a loop goes through."""
    iterated = getattr(iterated, "iter", iterated)
    if not isinstance(iterated, ast.Call) or getattr(iterated.func, "id", "") != "range":
        return None
    return (last_name(iterated.args[0]) or None) if len(iterated.args) == 1 else None


def does_to_each(many: HeapObject, node: Any, frame: Frame) -> bool:
    """Whether a call or an assignment does to every one of many what it does to the one that
    stands for them: its receiver is what a loop over all of them is at, by itself or by its
    number. What is one is each of itself."""
    return many.many is None or _is_each(many, _receiver(node), frame)


def is_taken_for_each(state: DictObject, frame: Frame | None) -> bool:
    """Whether what an optimizer keeps for any of several parameters is what it keeps for the one
    that a loop over these is at."""
    parameter = state.fields.get(TAKEN_FOR)
    while frame is not None and parameter is not None:
        for record in frame.loops:
            target = getattr(record.node, "target", None)
            names = () if target is None else names_bound(target)
            if any(frame.scope.names.get(name) is parameter for name in names):
                return not _takes_some(state, record.node.iter, frame)
        frame = frame.parent
    return False


def is_called_of_one(function: Function, args: tuple[Any, ...], node: Any, frame: Any) -> bool:
    """Whether a method is called of one of many, and not of each."""
    if function.owner is None or not args or frame is None or not _is_method_call(node):
        return False
    many = args[0]
    return isinstance(many, HeapObject) and not does_to_each(many, node, frame)


def _receiver(node: Any) -> Any:
    """What a method is called on, or an attribute or item is assigned to."""
    if isinstance(node, ast.Attribute | ast.Subscript):
        return node.value
    if _is_method_call(node):
        return node.func.value
    return node.args[0] if isinstance(node, ast.Call) and node.args else None


def attribute(many: Instance, name: str, value: Any, node: Any, frame: Frame) -> Any:
    """What an attribute of all that an object stands for may be once one of them has got a value,
    or all of them."""
    if does_to_each(many, node, frame):
        return value
    tables = [many.fields]
    if isinstance(many, ModuleObject):
        if isinstance(value, ModuleObject) and _walks_modules(frame):
            return value
        tables += [many.parameters, many.buffers, many.modules]
    return next((join_blind(each[name], value) for each in tables if name in each), value)


def item(many: DictObject | ListObject, key: Any, value: Any, node: Any, frame: Frame) -> Any:
    """The same of what a dict or list has under a key or index that is known."""
    if does_to_each(many, node, frame):
        return value
    if isinstance(many, DictObject):
        old = many.entries.get(key, MISSING)
    else:
        inside = isinstance(key, int) and -len(many.items) <= key < len(many.items)
        old = many.items[key] if inside else MISSING
    return value if old is MISSING else join_blind(old, value)


def _walks_modules(frame: Frame | None) -> bool:
    """Whether a loop goes through the modules of one: what it puts in the place of one of them it
    puts in the place of all that are alike, by whatever name it finds them."""
    while frame is not None:
        for record in frame.loops:
            iterated = getattr(record.node, "iter", None)
            if iterated is not None and any(
                isinstance(each, ast.Attribute) and each.attr in _WALKS
                for each in walk_tree(iterated)
            ):
                return True
        frame = frame.parent
    return False


def _is_each(many: HeapObject, receiver: Any, frame: Frame) -> bool:
    while _is_part(receiver) or _is_method_call(receiver):
        if isinstance(receiver, ast.Subscript) and _is_held_as_any(many, receiver.value, frame):
            return False
        called = isinstance(receiver, ast.Call)
        receiver = receiver.func.value if called else receiver.value
    if isinstance(receiver, ast.Name):
        if frame.is_of_one and frame.scope.names.get(receiver.id) is frame.self_value:
            return True
        loop = _loop_of(receiver.id, frame)
        if loop is None:
            given = _given(receiver.id, frame)
            return frame.parent is not None and _is_each(many, given, frame.parent)
        return not _takes_some(many, loop.node.iter, frame)
    if not isinstance(receiver, ast.Subscript) or not isinstance(receiver.slice, ast.Name):
        return False
    loop = _loop_of(receiver.slice.id, frame)
    return loop is not None and _counts_all(loop, receiver.value, many)


def _is_held_as_any(many: HeapObject, container: ast.expr, frame: Frame) -> bool:
    """Whether a list has many as any of its items, by itself or in a row: an index picks one, even
    where a loop is at the list."""
    held = frame.scope.names.get(container.id) if isinstance(container, ast.Name) else None
    rows = leaves(held.rest) if type(held) is ListObject and held.rest is not None else ()
    return any(row is many or (type(row) is TupleValue and many in row.items) for row in rows)


def _is_part(node: Any) -> bool:
    """Whether an expression is a part of something that its text names: a loop over many is at one
    of them with all its parts."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant)
    return isinstance(node, ast.Attribute)


def _given(name: str, frame: Frame) -> ast.expr | None:
    """What the caller of a function gave for one of its parameters by position."""
    call, function = frame.call_site, frame.function
    if function is None or not isinstance(call, ast.Call):
        return None
    names = [each.arg for each in function.node.args.args]
    if name not in names:
        return None
    position = names.index(name)
    if frame.self_value is not None and function.owner is not None:
        if not position:
            return call.func.value if _is_method_call(call) else call.func  # type: ignore[attr-defined]
        position -= 1
    return call.args[position] if position < len(call.args) else None


def _is_method_call(node: Any) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)


def _loop_of(name: str, frame: Frame) -> Any:
    """The innermost loop that binds a name."""
    for record in reversed(frame.loops):
        target = getattr(record.node, "target", None)
        if target is not None and name in names_bound(target):
            return record
    return None


def _takes_some(many: HeapObject, iterated: ast.expr, frame: Frame) -> bool:
    """Whether a loop may leave some out."""
    return any(
        isinstance(each, ast.Slice)
        or (isinstance(each, ast.expr) and last_name(each) in ("islice", "filter"))
        or (isinstance(each, ast.Subscript) and _picks(many, each, frame))
        for each in walk_tree(iterated)
    )


def _picks(many: HeapObject, node: ast.Subscript, frame: Frame) -> bool:
    """Whether an item is one of many: no text tells which, nor a loop over all of them."""
    if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        return False
    return not _is_each(many, node, frame)


def _counts_all(loop: Any, container: ast.expr, many: HeapObject) -> bool:
    """Whether the numbers of a loop are those of all of many."""
    iterated = loop.node.iter
    text = ast.unparse(container)
    called = getattr(iterated.func, "id", "") if isinstance(iterated, ast.Call) else ""
    if called in ("enumerate", "zip"):
        return any(ast.unparse(each) == text for each in iterated.args)
    if called != "range" or len(iterated.args) != 1:
        return False
    if ast.unparse(iterated.args[0]) == f"len({text})":
        return True
    name, count = many.many or (None, None)
    if count is not None and loop.trip_count is not None:
        return bool(count == loop.trip_count)
    return name is not None and _number(iterated) == name
