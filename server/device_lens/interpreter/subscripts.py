"""Subscripts: reading, storing and deleting items."""

from __future__ import annotations

import ast
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

from device_lens.domain import optional_items
from device_lens.domain.by_number import item_at
from device_lens.domain.code import METACLASS, BoundMethod, ClassValue, Function
from device_lens.domain.device import CONTESTED, UNKNOWN_DEVICE
from device_lens.domain.guard import Guarded, undecided
from device_lens.domain.heap import (
    MISSING,
    OF_MODULE,
    DictObject,
    Instance,
    ListObject,
    ModuleObject,
    Parameter,
)
from device_lens.domain.join import join
from device_lens.domain.kinds import opened
from device_lens.domain.lengths import at_least, from_the_end, is_unplaced
from device_lens.domain.objects import any_of_these, may_hold
from device_lens.domain.presence import presence
from device_lens.domain.torch_keys import told_apart
from device_lens.domain.unknowns import device_of_items
from device_lens.domain.values import (
    ARRAY,
    NONE,
    Const,
    External,
    HostArray,
    SliceValue,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.interpreter import (
    attributes,
    calls,
    choices,
    dimensions,
    enumerations,
    imports,
    item_choices,
    library_modules,
    one_of_many,
)
from device_lens.interpreter.dispatch import EVALUATORS
from device_lens.interpreter.every_item import EVERY, REPLACED
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.iteration import any_of
from device_lens.interpreter.keys import key_of
from device_lens.interpreter.on_demand import made_on_demand, or_made, or_new
from device_lens.interpreter.sequences import CONTAINERS, of_constant, of_sequence
from device_lens.models import registry
from device_lens.models.call import constant
from device_lens.models.numbers import fitting, is_one_of_few, number
from device_lens.models.python import dict_classes
from device_lens.models.python.all_gpus import are_those
from device_lens.models.torch import optimizer_state, replaced
from device_lens.models.torch.parts import REST, is_opaque, opaque_part

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


def _subscript(machine: Machine, node: ast.Subscript, frame: Frame) -> Any:
    receiver = machine.evaluate(node.value, frame)
    index = machine.evaluate(node.slice, frame)
    if type(receiver) is ListObject and type(index) is Const:
        dimensions.unpacked(machine, node.value, frame)  # one is there
    return item(machine, receiver, index, node, frame)


def item(machine: Machine, receiver: Any, index: Any, node: Any, frame: Frame) -> Any:
    """`receiver[index]`."""
    name = choices.unknown_name(index) if type(receiver) is DictObject else None
    if name is None:
        return _item(machine, receiver, index, node, frame)
    if OF_MODULE not in receiver.fields:
        return _of_dict(machine, receiver, name, node, frame)
    found = choices.called(machine, receiver.entries, name, node, frame)
    if found is not None:
        return found
    found = _of_dict(machine, receiver, name, node, frame)
    return choices.kept_apart(found, receiver.entries, name)


def _item(machine: Machine, receiver: Any, index: Any, node: Any, frame: Frame) -> Any:
    kind = type(receiver)
    if kind is Tensor or kind is Parameter:
        return _library(machine, "torch.Tensor", receiver, index, node, frame)
    if kind is DictObject:
        index = told_apart(index)
    if type(index) is Guarded and (kind in CONTAINERS or _is_table_of_names(receiver)):
        return _of_any_index(machine, receiver, index, node, frame)
    if kind is DictObject:
        return _of_dict(machine, receiver, index, node, frame)
    if kind is TupleValue:
        if type(index) in _OPEN:
            found = item_choices.item_choice(machine, receiver.items, index, node, frame)
            if found is not None:
                return found
        return of_sequence(receiver.items, None, index, "tuple", node)
    if kind is ListObject:
        if not receiver.items and receiver.rest is None and type(index) is not SliceValue:
            return _of_nothing(frame)
        if is_unplaced(receiver):
            if type(index) is SliceValue:
                more = any_of(receiver.items, receiver.rest)
                return of_sequence((), more, index, receiver.kind, node)
            index = number("an index")
        position = constant(index)
        placed = item_at(receiver, position) if type(position) is int else None
        if placed is None and type(position) is int:
            placed = optional_items.at(receiver, position)
        if placed is not None:
            return placed
        if type(index) in _OPEN or _is_any(receiver, index):
            held = may_hold(receiver, receiver.items, receiver.rest)
            found = item_choices.item_choice(machine, held, index, node, frame)
            if found is not None:
                return found
        if at_least(receiver) < len(receiver.items):
            return _of_some(receiver, index, node)
        others = any_of_these(receiver)
        found = of_sequence(receiver.items, receiver.rest, index, receiver.kind, node, others)
        if type(found) is ListObject and type(index) is SliceValue:
            _keep_optional(machine, receiver, index, found)
        return found
    if kind is Guarded:
        if type(index) is Const and are_those(receiver):
            return item(machine, receiver.yes, index, node, frame)  # without any, the line raises
        return _of_tree(machine, receiver, index, node, frame)
    if isinstance(receiver, Instance):
        return _of_object(machine, receiver, index, node, frame)
    if kind is HostArray:
        return _of_array(machine, receiver, index, node, frame)
    if kind is Const:
        return of_constant(receiver.value, index)
    if kind is Unknown:
        return _of_unknown(machine, receiver, index, node, frame)
    if kind is External and receiver.name == "sys.modules" and isinstance(constant(index), str):
        return imports.named(machine, constant(index), frame)
    if _is_table_of_names(receiver) and type(index) is Const:
        module = External(receiver.name.removesuffix(".__dict__"))
        return attributes.read(machine, module, str(index.value), node, frame)
    if kind is ClassValue and enumerations.is_enumeration(receiver):
        return enumerations.member_named(receiver, index)
    if kind is ClassValue and (own := _own_item(receiver)) is not None:
        return calls.call(machine, own, (index,), {}, node, frame)
    if kind is ClassValue or (kind is External and registry.names_code(receiver.name)):
        return receiver
    return Unknown()


def _keep_optional(
    machine: Machine, receiver: ListObject, index: SliceValue, part: ListObject
) -> None:
    """Keeps of a list from some place on which items it has on some runs of the program only."""
    start, *others = (constant(each, MISSING) for each in (index.start, index.stop, index.step))
    start = 0 if start is None else start
    if type(start) is int and start >= 0 and others == [None, None]:
        optional_items.keep_after(machine.journal, receiver, start, part)


def _own_item(cls: ClassValue) -> BoundMethod | None:
    """What the items of a class are by its own text, or its metaclass's: `Class[index]`."""
    metaclass = cls.lookup(METACLASS)
    if type(metaclass) is ClassValue:
        found = metaclass.lookup("__getitem__")
        if type(found) is Function:
            return BoundMethod(cls, found)
    found = cls.lookup("__class_getitem__")
    return BoundMethod(cls, found) if type(found) is Function else None


def _of_some(receiver: ListObject, index: Any, node: Any) -> Any:
    """An item, or a part, of a list that need not have all of its items: what is counted from the
    end may be any of those that may stand there."""
    items, position = receiver.items, constant(index)
    if isinstance(position, int) and position < 0 and receiver.rest is None:
        found = from_the_end(receiver, -position)
        return reduce(partial(join, undecided()), found) if found else Unknown()
    if type(index) is SliceValue and any(map(_is_from_the_end, (index.start, index.stop))):
        return of_sequence((), any_of(items, receiver.rest), index, receiver.kind, node)
    return of_sequence(items, receiver.rest, index, receiver.kind, node)


def _is_from_the_end(bound: Any) -> bool:
    position = constant(bound)
    return isinstance(position, int) and position < 0


def _of_nothing(frame: Frame) -> Unknown:
    """An item of an empty list: the line raises."""
    frame.end_branch_of_pass()
    return Unknown(device=CONTESTED)


def _is_table_of_names(receiver: Any) -> bool:
    """Whether this is a library module's `__dict__`."""
    return type(receiver) is External and receiver.name.endswith(".__dict__")


def _library(
    machine: Machine, prefix: str, receiver: Any, index: Any, node: Any, frame: Frame
) -> Any:
    name = prefix + ".__getitem__"
    model = registry.function(name)
    if model is None:
        return Unknown()
    return calls.run_model(machine, model, name, receiver, (index,), {}, node, frame)


def _of_tree(machine: Machine, tree: Guarded, index: Any, node: Any, frame: Frame) -> Any:
    if NONE in (tree.yes, tree.no):
        return item(machine, tree.no if tree.yes == NONE else tree.yes, index, node, frame)
    return machine.choose(
        Guarded(tree.atom, True, False),
        frame,
        lambda: item(machine, tree.yes, index, node, frame),
        lambda: item(machine, tree.no, index, node, frame),
    )


def _of_any_index(machine: Machine, receiver: Any, index: Guarded, node: Any, frame: Frame) -> Any:
    """An index that hangs on conditions: the item of each case."""
    condition = Guarded(index.atom, True, False)
    yes, no = (
        (item if is_one_of_few(side) else _item)(machine, receiver, side, node, frame)
        for side in (index.yes, index.no)
    )
    return join(condition, yes, no)


def _of_dict(machine: Machine, receiver: DictObject, index: Any, node: Any, frame: Frame) -> Any:
    if optimizer_state.KEPT_BY in receiver.fields:
        found = optimizer_state.taken(machine.journal, receiver, index)
        if found is not None:
            return found
    key = key_of(index)
    if key is not MISSING:
        found = receiver.entries.get(key, MISSING)
        if found is not MISSING:
            if key == "params" and replaced.GROUP_OF in receiver.fields:
                replaced.read_group(machine.journal, receiver)
            is_made = type(receiver.fields.get("default")) is Function
            return or_made(receiver, key, found) if is_made else found
        if receiver.rest is not None:
            held = any_of_these(receiver)
            found = item_choices.item_choice(machine, held, Unknown(), node, frame)
            found = opened(receiver.rest) if found is None else found
            return or_new(machine, receiver, found)
        return made_on_demand(machine, receiver, index)
    found = choices.choice(machine, receiver, index)
    if found is None and type(index) in _OPEN:
        held = may_hold(receiver, fitting(receiver.entries, index), receiver.rest)
        found = item_choices.item_choice(machine, held, index, node, frame)
    if found is None:
        found = any_of(fitting(receiver.entries, index), receiver.rest)
    return found if found is not None else made_on_demand(machine, receiver, index)


_OPEN = (Unknown, HostArray, Tensor, Parameter)
"""What an index is of which nobody knows which number, or key, it is."""


def _is_any(receiver: ListObject, index: Any) -> bool:
    """Whether the item at an index that is known may be any of several."""
    position = constant(index)
    if not any_of_these(receiver) or not isinstance(position, int):
        return False
    return not 0 <= position < at_least(receiver)


def _of_object(machine: Machine, receiver: Instance, index: Any, node: Any, frame: Frame) -> Any:
    cls = receiver.cls
    if type(cls) is ClassValue:
        found = cls.lookup("__getitem__")
        if isinstance(found, Function):
            return calls.call(machine, BoundMethod(receiver, found), (index,), {}, node, frame)
    items = dict_classes.held(receiver)
    if items is not None:
        missing = cls.lookup("__missing__") if type(cls) is ClassValue else None
        if type(missing) is Function and not _is_there(items, index):
            made = calls.call(machine, BoundMethod(receiver, missing), (index,), {}, node, frame)
            return made if key_of(index) is not MISSING and items.rest is None else Unknown()
        return item(machine, items, index, node, frame)
    for prefix in library_classes(receiver):
        if registry.function(prefix + ".__getitem__") is not None:
            return _library(machine, prefix, receiver, index, node, frame)
    key = key_of(index)
    if _lists_parts(receiver):
        return _listed_part(receiver, _part_name(key))
    if key is not MISSING and ("[]", key) in receiver.fields:
        return receiver.fields["[]", key]
    unknown = Unknown()
    if key is not MISSING:
        machine.journal.write(receiver.fields, ("[]", key), unknown)
    return unknown


def _is_there(items: DictObject, index: Any) -> bool:
    """Whether a dict surely has a key."""
    key = key_of(index)
    return key is not MISSING and presence(items.entries, key) is True


def replaces_part(receiver: ModuleObject, key: Any, value: Any) -> bool:
    named = _part_name(key) != REST
    return named and type(value) is ModuleObject and _lists_parts(receiver)


def _listed_part(receiver: Any, name: str) -> Any:
    """A part of a list of which nothing but its place is known. One that is counted from the end
    may be one that the program has put there."""
    if name == REST and not all(map(_is_unlisted, receiver.modules.values())):
        return Unknown()
    found = receiver.modules.get(name)
    return opaque_part(receiver, name) if found is None else found


def _is_unlisted(part: Any) -> bool:
    return type(part) is ModuleObject and is_opaque(part)


def _lists_parts(receiver: Instance) -> bool:
    """Whether this is a module of which nothing but its place is known: one that is indexed is a
    list of its parts."""
    return type(receiver) is ModuleObject and is_opaque(receiver) and type(receiver.cls) is External


def _part_name(key: Any) -> str:
    """The name of a list's part. From the end, and by ranges, they are all alike."""
    is_position = isinstance(key, int) and not isinstance(key, bool) and key >= 0
    return str(key) if is_position else REST


def library_classes(receiver: Instance) -> tuple[str, ...]:
    if type(receiver) is ModuleObject:
        return library_modules.classes_of(receiver)
    cls = receiver.cls
    if type(cls) is ClassValue:
        return cls.foreign
    return (cls.name, *registry.bases(cls.name))


def _of_array(machine: Machine, receiver: HostArray, index: Any, node: Any, frame: Frame) -> Any:
    if registry.function("numpy.ndarray.__getitem__") is not None:
        return _library(machine, "numpy.ndarray", receiver, index, node, frame)
    return HostArray(receiver.dtype)


def _of_unknown(machine: Machine, receiver: Unknown, index: Any, node: Any, frame: Frame) -> Any:
    if receiver.tensor_evidence:
        return _library(machine, "torch.Tensor", receiver, index, node, frame)
    key = key_of(index)
    parts = receiver.parts()
    if type(index) is TupleValue and any(type(part) is SliceValue for part in index.items):
        parts[ARRAY] = True
    place = ("[]", None if key is MISSING else key)
    found = parts.get(place, parts.get(EVERY))
    if found is None and REPLACED not in parts:
        found = one_of_many.item(receiver, key)
    if found is None:
        device = UNKNOWN_DEVICE if REPLACED in parts else device_of_items(receiver, index)
        found = receiver.derive(place, Unknown(_label(receiver, key), device))
    return found


def _label(receiver: Unknown, key: Any) -> str:
    if not receiver.label or key is MISSING:
        return ""
    return f"{receiver.label}[{key!r}]" if _is_plain(key) else f"{receiver.label}[…]"


def _is_plain(key: Any) -> bool:
    """Whether a key is written as the program writes it: numbers and texts, or tuples of them."""
    if isinstance(key, tuple):
        return all(map(_is_plain, key))
    return key is None or isinstance(key, str | int | float)


EVALUATORS[ast.Subscript] = _subscript
