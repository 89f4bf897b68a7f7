"""Modules that stand for many, as the one that a comprehension over a range makes: what is done to
one of them by its number is not done to the others."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from device_lens.domain.guard import leaves
from device_lens.domain.heap import Instance, ModuleObject, Parameter, is_made_since
from device_lens.domain.join import join_blind
from device_lens.domain.journal import Change
from device_lens.interpreter.frames import Frame, LoopRecord
from device_lens.interpreter.machine import Machine
from device_lens.interpreter.scan import names_bound
from device_lens.models.torch.parts import ANY_OF_MANY, REST, STANDS_FOR, walk
from device_lens.syntax.names import last_name
from device_lens.syntax.walking import walk as walk_tree

DEEPEST = 3
"""Objects within objects that are looked at for modules."""
_WALKS = frozenset(("modules", "named_modules", "children", "named_children"))


def mark(machine: Machine, node: Any, made: Any, count: int | None, since: int) -> None:
    """What a comprehension has made for many turns stands for as many modules."""
    if count is not None and type(made) is ModuleObject and is_made_since(made.own, since):
        machine.journal.write(made.own, STANDS_FOR, count)
    _mark(machine, made, (_number(node.generators[0].iter), count), since)


def mark_gathered(machine: Machine, record: LoopRecord, changes: list[Change], since: int) -> None:
    """So does what a pass of a loop has made, where it is now any number of items."""
    for table, key, _ in changes:
        if key in ("items", "rest", REST):
            made = table.get("rest" if key == "items" else key)
            if made is not None:
                _mark(machine, made, (_number(record.node), record.trip_count), since)


def _mark(machine: Machine, made: Any, number: tuple[str | None, int | None], since: int) -> None:
    for leaf in leaves(made):
        for module in _modules_of(leaf, DEEPEST):
            if is_made_since(module.own, since):
                for _, part in walk(module):
                    machine.journal.write(part.own, ANY_OF_MANY, number)
                    _mark_parameters(machine, tuple(part.parameters.values()), number, since)
        if type(leaf) is Parameter:
            _mark_parameters(machine, (leaf,), number, since)


def _mark_parameters(machine: Machine, found: tuple[Any, ...], number: Any, since: int) -> None:
    for value in found:
        for each in leaves(value):
            if type(each) is Parameter and is_made_since(each.fields, since):
                machine.journal.write(each.fields, ANY_OF_MANY, number)


def _modules_of(value: Any, deepest: int) -> Iterator[ModuleObject]:
    """The modules that an object is or has."""
    if isinstance(value, ModuleObject):
        yield value
    elif type(value) is Instance and deepest:
        for field in list(value.fields.values()):
            yield from _modules_of(field, deepest - 1)


def _number(iterated: Any) -> str | None:
    """The name of what tells how many numbers the range has that a loop goes through."""
    iterated = getattr(iterated, "iter", iterated)
    if not isinstance(iterated, ast.Call) or getattr(iterated.func, "id", "") != "range":
        return None
    return (last_name(iterated.args[0]) or None) if len(iterated.args) == 1 else None


def does_to_each(many: ModuleObject | Parameter, node: Any, frame: Frame) -> bool:
    """Whether a call or an assignment does to every one of many what it does to the one that
    stands for them: its receiver is what a loop over all of them is at, by itself or by its
    number."""
    return _is_each(many, _receiver(node), frame)


def _receiver(node: Any) -> Any:
    """What a method is called on, or an attribute is assigned to."""
    if isinstance(node, ast.Attribute):
        return node.value
    if _is_method_call(node):
        return node.func.value
    return node.args[0] if isinstance(node, ast.Call) and node.args else None


def instead(machine: Machine, many: Any, name: str, value: Any, node: Any, frame: Frame) -> Any:
    """What an attribute of all that a module stands for may be once one of them has got a value,
    or all of them."""
    if ANY_OF_MANY not in many.own or does_to_each(many, node, frame):
        return value
    if isinstance(value, ModuleObject) and _walks_modules(frame):
        return value
    for table in (many.parameters, many.buffers, many.modules, many.fields):
        if name in table:
            return join_blind(table[name], value)
    return value


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


def _is_each(module: ModuleObject | Parameter, receiver: Any, frame: Frame) -> bool:
    while isinstance(receiver, ast.Attribute) or _is_method_call(receiver):
        receiver = receiver.value if isinstance(receiver, ast.Attribute) else receiver.func.value
    if isinstance(receiver, ast.Name):
        loop = _loop_of(receiver.id, frame)
        if loop is None:
            given = _given(receiver.id, frame)
            return frame.parent is not None and _is_each(module, given, frame.parent)
        return not _takes_some(module, loop.node.iter, frame)
    if not isinstance(receiver, ast.Subscript) or not isinstance(receiver.slice, ast.Name):
        return False
    loop = _loop_of(receiver.slice.id, frame)
    return loop is not None and _counts_all(loop, receiver.value, module)


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


def _takes_some(module: ModuleObject | Parameter, iterated: ast.expr, frame: Frame) -> bool:
    """Whether a loop may leave some out."""
    return any(
        isinstance(each, ast.Slice)
        or (isinstance(each, ast.expr) and last_name(each) in ("islice", "filter"))
        or (isinstance(each, ast.Subscript) and _picks(module, each, frame))
        for each in walk_tree(iterated)
    )


def _picks(module: ModuleObject | Parameter, node: ast.Subscript, frame: Frame) -> bool:
    """Whether an item is one of many: no text tells which, nor a loop over all of them."""
    if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        return False
    return not _is_each(module, node, frame)


def _counts_all(loop: Any, many: ast.expr, module: ModuleObject | Parameter) -> bool:
    """Whether the numbers of a loop are those of all of many."""
    iterated = loop.node.iter
    text = ast.unparse(many)
    called = getattr(iterated.func, "id", "") if isinstance(iterated, ast.Call) else ""
    if called in ("enumerate", "zip"):
        return any(ast.unparse(each) == text for each in iterated.args)
    if called != "range" or len(iterated.args) != 1:
        return False
    if ast.unparse(iterated.args[0]) == f"len({text})":
        return True
    table = module.fields if type(module) is Parameter else module.own  # type: ignore[union-attr]
    name, count = table[ANY_OF_MANY]
    if count is not None and loop.trip_count is not None:
        return bool(count == loop.trip_count)
    return name is not None and _number(iterated) == name
