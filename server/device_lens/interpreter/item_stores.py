"""Items that are stored and deleted: `xs[i] = x`, `del xs[i]`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain import objects, perhaps_none
from device_lens.domain.by_number import forget_places
from device_lens.domain.code import BoundMethod, ClassValue, Function
from device_lens.domain.guard import Guarded
from device_lens.domain.heap import (
    MISSING,
    DictObject,
    Instance,
    ListObject,
    ModuleObject,
    Parameter,
    contents,
)
from device_lens.domain.join import join_blind
from device_lens.domain.lengths import grown
from device_lens.domain.objects import holds_all, may_hold
from device_lens.domain.presence import without
from device_lens.domain.values import (
    NONE,
    BoundExternal,
    Const,
    HostArray,
    SliceValue,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.interpreter import (
    calls,
    every_item,
    of_many,
    strided_stores,
    unknown_containers,
)
from device_lens.interpreter.dispatch import NEXT
from device_lens.interpreter.every_item import EVERY, REPLACED
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.iteration import any_of
from device_lens.interpreter.keys import key_of, put
from device_lens.interpreter.subscripts import library_classes, replaces_part
from device_lens.models import registry
from device_lens.models.call import constant
from device_lens.models.numbers import is_number
from device_lens.models.python import dict_classes, list_classes
from device_lens.models.python.picked import hold
from device_lens.models.torch import module as torch_module

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


def store(machine: Machine, target: ast.Subscript, value: Any, frame: Frame) -> None:
    """`receiver[index] = value`."""
    receiver = machine.evaluate(target.value, frame)
    index = machine.evaluate(target.slice, frame)
    set_item(machine, receiver, index, value, target, frame)
    loop = frame.loops[-1] if frame.loops else None
    if loop is not None and loop.replaces is not None and loop.replaces.target is target:
        every_item.note(loop, receiver, index, value)


def set_item(
    machine: Machine, receiver: Any, index: Any, value: Any, node: Any, frame: Frame
) -> None:
    kind = type(receiver)
    if kind in (Tensor, Parameter) or (kind is Unknown and receiver.tensor_evidence):
        model = registry.function("torch.Tensor.__setitem__")
        if model is not None:
            name = "torch.Tensor.__setitem__"
            calls.run_model(machine, model, name, receiver, (index, value), {}, node, frame)
    elif kind is HostArray:
        _store_in_array(machine, receiver, index, value, node, frame)
    elif kind is DictObject:
        value = of_many.item(receiver, key_of(index), value, node, frame)
        put(machine, receiver, index, value)
        for each in objects.stands_for(receiver):
            put(machine, each, index, join_blind(each.entries.get(key_of(index), value), value))
    elif kind is ListObject:
        if strided_stores.put(machine, receiver, index, value):
            return
        forget_places(machine.journal, receiver)
        value = of_many.item(receiver, constant(index), value, node, frame)
        _store_in_list(machine, receiver, index, value)
    elif kind is Guarded:
        _store_in_tree(machine, receiver, index, value, node, frame)
    elif kind is Unknown:
        _store_in_unknown(machine, receiver, index, value)
    elif isinstance(receiver, Instance):
        _store_in_object(machine, receiver, index, value, node, frame)


def _store_in_unknown(machine: Machine, receiver: Unknown, index: Any, value: Any) -> None:
    key, parts = key_of(index), receiver.parts()
    unknown_containers.changed(machine, receiver)
    if key is not MISSING:
        if ("[]", key) not in parts:
            receiver.derive(("[]", key), Unknown())  # which it is wherever this is not stored
        machine.journal.write(parts, ("[]", key), value)
    elif type(value) is not Const:
        # Any of its items may be the new one, which may be anywhere.
        for place in [each for each in parts if isinstance(each, tuple) and each[0] == "[]"]:
            machine.journal.write(parts, place, Unknown())
        machine.journal.write(parts, REPLACED, True)
        machine.journal.write(parts, EVERY, None)
    torch_module.hold(machine, receiver, value)


def _store_in_tree(
    machine: Machine, tree: Guarded, index: Any, value: Any, node: Any, frame: Frame
) -> None:
    if NONE in (tree.yes, tree.no):
        kept = tree.no if tree.yes == NONE else tree.yes
        set_item(machine, kept, index, value, node, frame)
        return

    def side(leaf: Any) -> int:
        set_item(machine, leaf, index, value, node, frame)
        return NEXT

    condition = Guarded(tree.atom, True, False)
    machine.fork(condition, frame, lambda: side(tree.yes), lambda: side(tree.no))


def _store_in_list(machine: Machine, receiver: ListObject, index: Any, value: Any) -> None:
    write = machine.journal.write
    items, rest = receiver.items, receiver.rest
    position = constant(index)
    if (
        isinstance(position, int)
        and -len(items) <= position < len(items)
        and (position >= 0 or rest is None)
    ):
        changed = list(items)
        changed[position] = value
        write(receiver.fields, "items", tuple(changed))
        return
    if type(index) is SliceValue:
        _store_slice(machine, receiver, index, value)
        return
    if type(index) is Unknown and not is_number(index) and _lists(value):
        value = any_of((value, *contents(value)), None)  # the index may be a slice
    write(receiver.fields, "items", tuple(perhaps_none.either(old, value) for old in items))
    if rest is not None:
        write(receiver.fields, "rest", perhaps_none.either(rest, value))


def _lists(value: Any) -> bool:
    return type(value) in (ListObject, TupleValue)


def _store_slice(machine: Machine, receiver: ListObject, index: SliceValue, value: Any) -> None:
    """`items[1:3] = others`, of which there may be more or fewer."""
    write, before = machine.journal.write, receiver.items
    known, more = machine.iterate(value)
    bounds = [constant(part, MISSING) for part in (index.start, index.stop)]
    plain = index.step in (None, NONE) and all(b is None or isinstance(b, int) for b in bounds)
    if plain and receiver.rest is None and more is None:
        changed = list(before)
        changed[slice(*bounds)] = known
        write(receiver.fields, "items", tuple(changed))
        grown(machine.journal, receiver, before)
        return
    if bounds == [None, None] and index.step in (None, NONE):
        hold(machine.journal, receiver, may_hold(value, known, more), more, holds_all(value))
        write(receiver.fields, "items", known)
        return
    found = tuple(each for each in (receiver.rest, more, *before, *known) if each is not None)
    held = (*may_hold(receiver, before, receiver.rest), *may_hold(value, known, more))
    hold(machine.journal, receiver, held, any_of(found, None))


def _store_in_object(
    machine: Machine, receiver: Instance, index: Any, value: Any, node: Any, frame: Frame
) -> None:
    if _by_own(machine, receiver, "__setitem__", (index, value), node, frame):
        return
    items = dict_classes.held(receiver)
    if items is not None:
        put(machine, items, index, value)
        return
    if _by_library(machine, receiver, "__setitem__", (index, value), node, frame):
        return
    key = key_of(index)
    if type(receiver) is ModuleObject and replaces_part(receiver, key, value):
        machine.journal.write(receiver.modules, str(key), value)
    elif key is not MISSING:
        machine.journal.write(receiver.fields, ("[]", key), value)


def _by_own(
    machine: Machine,
    receiver: Instance,
    method: str,
    args: tuple[Any, ...],
    node: Any,
    frame: Frame,
) -> bool:
    """Calls the method of the program's own class, if it has one."""
    found = receiver.cls.lookup(method) if type(receiver.cls) is ClassValue else None
    if not isinstance(found, Function):
        return False
    calls.call(machine, BoundMethod(receiver, found), args, {}, node, frame)
    return True


def _by_library(
    machine: Machine,
    receiver: Instance,
    method: str,
    args: tuple[Any, ...],
    node: Any,
    frame: Frame,
) -> bool:
    """Calls the method of a library's class that the object is of, if that has a model."""
    for prefix in library_classes(receiver):
        name = f"{prefix}.{method}"
        if registry.function(name) is not None:
            calls.call(machine, BoundExternal(receiver, name), args, {}, node, frame)
            return True
    return False


def _store_in_array(
    machine: Machine, receiver: HostArray, index: Any, value: Any, node: Any, frame: Frame
) -> None:
    """`array[index] = value`: a row that is read from host memory."""
    name = "numpy.ndarray.__setitem__"
    model = registry.function(name)
    if model is not None:
        calls.run_model(machine, model, name, receiver, (index, value), {}, node, frame)


def remove(machine: Machine, target: ast.Subscript, frame: Frame) -> None:
    """`del receiver[index]`."""
    receiver = machine.evaluate(target.value, frame)
    delete_item(machine, receiver, machine.evaluate(target.slice, frame), target, frame)


def delete_item(machine: Machine, receiver: Any, index: Any, node: Any, frame: Frame) -> None:
    if type(receiver) is Guarded:

        def side(leaf: Any) -> int:
            delete_item(machine, leaf, index, node, frame)
            return NEXT

        condition = Guarded(receiver.atom, True, False)
        machine.fork(condition, frame, lambda: side(receiver.yes), lambda: side(receiver.no))
        return
    given = "__delitem__", (index,), node, frame
    if isinstance(receiver, Instance) and _by_own(machine, receiver, *given):
        return
    if type(receiver) is ModuleObject and _by_library(machine, receiver, *given):
        return
    _remove(machine, list_classes.sequence(dict_classes.mapping(receiver)), index)


def _remove(machine: Machine, receiver: Any, index: Any) -> None:
    key = key_of(index)
    forget_places(machine.journal, receiver)
    unknown_containers.changed(machine, receiver)
    if type(receiver) is DictObject:
        without(machine.journal, receiver, key)
    elif type(receiver) is ListObject and type(index) is SliceValue:
        _store_slice(machine, receiver, index, TupleValue(()))
    elif type(receiver) is ListObject:
        _remove_from_list(machine, receiver, constant(index))


def by_method(
    machine: Machine, receiver: Any, method: str, args: tuple[Any, ...], node: Any, frame: Frame
) -> bool:
    """`xs.__setitem__(i, x)` and others that have no model; whether it is one of them. What the
    last of them leave is not known."""
    if type(receiver) not in (ListObject, DictObject):
        return False
    if method == "__setitem__" and len(args) == 2:
        set_item(machine, receiver, *args, node, frame)
    elif method == "__delitem__" and len(args) == 1:
        _remove(machine, receiver, *args)
    elif method in unknown_containers.CHANGING:
        unknown_containers.lose_items(machine, receiver)
    else:
        return False
    return True


def _remove_from_list(machine: Machine, receiver: ListObject, position: Any) -> None:
    items, rest = receiver.items, receiver.rest
    if rest is None and isinstance(position, int) and -len(items) <= position < len(items):
        left = list(items)
        left.pop(position)
        machine.journal.write(receiver.fields, "items", tuple(left))
        grown(machine.journal, receiver, items)
        return
    hold(machine.journal, receiver, may_hold(receiver, items, rest), any_of(items, rest))
