"""Modules that stand for many, as the one that a comprehension over a range makes: what is done to
one of them by its number is not done to the others."""

from __future__ import annotations

import ast
from typing import Any

from device_lens.domain.guard import leaves
from device_lens.domain.heap import ModuleObject, is_made_since
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.machine import Machine
from device_lens.interpreter.scan import names_bound
from device_lens.models.torch.parts import ANY_OF_MANY, STANDS_FOR, walk
from device_lens.syntax.walking import walk as walk_tree


def mark(machine: Machine, node: Any, made: Any, count: int | None, since: int) -> None:
    """What a comprehension has made for many turns stands for as many modules."""
    for leaf in leaves(made):
        if not isinstance(leaf, ModuleObject) or not is_made_since(leaf, since):
            continue
        if count is not None and leaf is made:
            machine.journal.write(leaf.own, STANDS_FOR, count)
        for _, part in walk(leaf):
            machine.journal.write(part.own, ANY_OF_MANY, _number(node.generators[0].iter) or True)


def _number(iterated: ast.expr) -> str | None:
    """The name of what tells how many numbers a range has."""
    if not isinstance(iterated, ast.Call) or getattr(iterated.func, "id", "") != "range":
        return None
    last = iterated.args[0] if len(iterated.args) == 1 else None
    return getattr(last, "attr", getattr(last, "id", None))


def does_to_each(module: ModuleObject, node: Any, frame: Frame) -> bool:
    """Whether a call does to every one of many what it does to the one that stands for them: its
    receiver is what a loop over all of them is at, by itself or by its number."""
    receiver: Any = node.func.value if _is_method_call(node) else None
    while isinstance(receiver, ast.Attribute) or _is_method_call(receiver):
        receiver = receiver.value if isinstance(receiver, ast.Attribute) else receiver.func.value
    if isinstance(receiver, ast.Name):
        loop = _loop_of(receiver.id, frame)
        return loop is not None and not _takes_some(loop.node.iter)
    if not isinstance(receiver, ast.Subscript) or not isinstance(receiver.slice, ast.Name):
        return False
    loop = _loop_of(receiver.slice.id, frame)
    return loop is not None and _counts_all(loop, receiver.value, module)


def _is_method_call(node: Any) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)


def _loop_of(name: str, frame: Frame) -> Any:
    """The innermost loop that binds a name."""
    for record in reversed(frame.loops):
        target = getattr(record.node, "target", None)
        if target is not None and name in names_bound(target):
            return record
    return None


def _takes_some(iterated: ast.expr) -> bool:
    """Whether a loop may leave some out."""
    return any(
        isinstance(each, ast.Slice)
        or getattr(each, "attr", getattr(each, "id", "")) in ("islice", "filter")
        for each in walk_tree(iterated)
    )


def _counts_all(loop: Any, many: ast.expr, module: ModuleObject) -> bool:
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
    count = module.own.get(STANDS_FOR)
    if type(count) is int and loop.trip_count is not None:
        return bool(count == loop.trip_count)
    name = _number(iterated)
    return name is not None and module.own.get(ANY_OF_MANY) == name
