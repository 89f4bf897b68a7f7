"""Objects that a function moves in place to which they are given.

What a function does that is not followed, since it is called too deep or too often, may be done:
where the objects are is then not known.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue, Function
from device_lens.domain.device import UNKNOWN_DEVICE, Agreement, Device, DeviceTree, agree
from device_lens.domain.guard import combine, leaves
from device_lens.domain.heap import (
    DictObject,
    Instance,
    ListObject,
    ModuleObject,
    Parameter,
    contents,
)
from device_lens.domain.parameters import members
from device_lens.domain.values import WHOLE, Tensor, TupleValue, Unknown
from device_lens.domain.wholes import members as each_of
from device_lens.interpreter import module_facts, reports, saved_files
from device_lens.interpreter.doings import (
    Doings,
    first_parameter,
    moved_by,
    moves_own_parts,
    what_it_does,
)
from device_lens.models import registry
from device_lens.models.call import tensor_of
from device_lens.models.libraries import transformers_trainer
from device_lens.models.numbers import start_of
from device_lens.models.torch import module as torch_module
from device_lens.models.torch import unnamed_parts
from device_lens.models.torch.moved_along import HELD
from device_lens.models.torch.moving_code import RUNS_IT, any_runs_it
from device_lens.models.torch.parts import walk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

MOST_METHODS = 32
"""Methods whose texts are read for what one call may do."""
_HANDING_OUT = frozenset(
    """items values get pop parameters named_parameters buffers named_buffers modules named_modules
    children named_children""".split()
)
_APPLYING = frozenset({"apply", "_apply", "to_empty"})
"""Methods of modules that move them, or that hand their parts to a function which may."""
_OBJECTS = (ModuleObject, Parameter, Instance, DictObject)
_SEEN = sys.stdlib_module_names | {"builtins", "numpy", "torch"}
"""Packages whose classes are known for modules where they are."""
_OF_MODULES = tuple(f"torch.{name}." for name in "ao distributed fx jit nn quantization".split())
"""Where PyTorch has modules of its own that are not all known."""


def objects(items: tuple[Any, ...]) -> Iterator[Any]:
    """What can be moved in place among some items, and in their tuples."""
    for item in items:
        if isinstance(item, _OBJECTS):
            yield item
        elif type(item) is TupleValue:
            yield from objects(item.items)


def forget(machine: Machine, items: tuple[Any, ...]) -> None:
    """After passes that stood for many items: where the modules and parameters among them are now
    is not known."""
    for item in objects(items):
        if isinstance(item, ModuleObject):
            torch_module.lose(machine, item)
        elif type(item) is Parameter:
            for each in members(item):
                if "tensor" in each.fields:
                    lost = each.tensor.with_(device=UNKNOWN_DEVICE, trail=None)
                    machine.journal.write(each.fields, "tensor", lost)


def left_out(
    machine: Machine,
    function: Function,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    place: DeviceTree | None = UNKNOWN_DEVICE,
) -> None:
    """A call is not followed: it is given its arguments as code that is not seen, and what its
    text may move is somewhere unknown. If it makes the parts of a module, they are at `place`
    (None: there are none)."""
    saved_files.left_out(machine, function)
    doings = _what_they_do(machine, function, args)
    attributes, handed, hands_on, receivers, remade, *_ = doings
    if doings.dispatches and args:
        _lose_tensors(machine, args[0])
    if is_creator(function, args) and place is not None:
        _hide_parts(machine, args[0], place)
    values = (*args, *kwargs.values())
    parameters = (each.arg for each in (*function.node.args.posonlyargs, *function.node.args.args))
    named = {**kwargs, **dict(zip(parameters, args, strict=False))}
    for name in sorted((receivers | handed) & named.keys()):
        forget(machine, _items_of(named[name]))
    _lose_attributes(machine, values, remade)
    if attributes is None and not hands_on:
        reports.escaped(machine, values)  # whatever its name says: its text moves nothing
        return
    machine.escape(values, {}, function.name)
    if attributes is None:
        return
    for value in values:
        forget(machine, _items_of(value))
    _lose_attributes(machine, values, attributes)


def _items_of(value: Any) -> tuple[Any, ...]:
    """What a list or dict holds; else the value itself."""
    return tuple(contents(value)) if type(value) in (ListObject, DictObject) else (value,)


def _lose_attributes(machine: Machine, values: tuple[Any, ...], attributes: frozenset[str]) -> None:
    """What some attributes of objects are is not known any more."""
    for value in values:
        if isinstance(value, Instance):
            for name in attributes & value.fields.keys():
                machine.journal.write(value.fields, name, Unknown(name))


def _lose_tensors(machine: Machine, value: Any) -> None:
    """The tensors that an object has may be others from here on."""
    if type(value) is not Instance:
        return
    for name, held in list(value.fields.items()):
        parts = (part for leaf in leaves(held) for part in (leaf, *contents(leaf)))
        if name[:1] != "<" and any(type(part) is Tensor for part in parts):
            machine.journal.write(value.fields, name, Unknown(name))


def is_creator(function: Function, args: tuple[Any, ...]) -> bool:
    """Whether a call makes the parts of a module."""
    return function.name == "__init__" and bool(args) and isinstance(args[0], ModuleObject)


def _hide_parts(machine: Machine, module: ModuleObject, place: DeviceTree) -> None:
    """What makes a module's parts is not followed: it has some that nobody lists. One without parts
    would be nowhere, and would agree with any device that the expression has in other calls."""
    machine.journal.write(module.own, "opaque", True)
    if place == UNKNOWN_DEVICE:
        torch_module.lose(machine, module)
    else:
        machine.journal.write(module.own, "device", place)


def held_by(function: Any, node: Any) -> Any:
    """The modules that a method of a mapping or a module which is not seen may hand out, or the
    parts of which it may: `nets.items()`."""
    if type(function) is not Unknown or function.fields is None or not isinstance(node, ast.Call):
        return ()
    hands_out = getattr(node.func, "attr", "") in _HANDING_OUT
    return function.fields.get(WHOLE, ()) if hands_out else ()


def unseen(
    machine: Machine, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], whole: Any = ()
) -> Unknown:
    """What code that is not seen answers. If its name is that of a class, the answer may hold the
    modules that it was given; it may run the code that it was given."""
    made = Unknown(f"{name}(…)" if name else "")
    is_class = name.rpartition(".")[2][:1].isupper()
    held = torch_module.given(args, kwargs) if is_class else whole
    if held:
        made.parts()[WHOLE] = held
    if any_runs_it((*args, *kwargs.values()), machine.unit.weigh):
        made.parts()[RUNS_IT] = Unknown()
    return made


def answered(
    machine: Machine, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any
) -> Unknown:
    """What a value that is not known gives where it is called. One that the program has moved by
    itself is a module as a rule: what that computes is where it is, and so are its parameters.
    Where it is given something from elsewhere, either it moves that or it raises."""
    label = function.label if type(function) is Unknown else ""
    if type(function) is Unknown:
        _run_any(machine, function, bool(args or kwargs))
    made = unseen(machine, label, args, kwargs, held_by(function, node))
    if type(function) is not Unknown or function.tensor_evidence or not isinstance(node, ast.Call):
        return made
    method = getattr(node.func, "attr", "")
    is_method = bool(method) and label.endswith(f".{method}")
    if _is_concrete(function.device) and (not is_method or method in _METHODS):
        made.device = function.device
        first = tensor_of(args[0]) if args and not is_method else None
        if first is not None and not first.zero_dim:
            made.device = combine(_unless_apart, function.device, first.device)
    return made


def _unless_apart(device: DeviceTree, other: DeviceTree) -> DeviceTree:
    return UNKNOWN_DEVICE if agree(device, other) is Agreement.DIFFERENT else device


def _is_concrete(device: DeviceTree) -> bool:
    return all(isinstance(leaf, Device) for leaf in leaves(device))


_METHODS = frozenset("train eval parameters buffers requires_grad_ float half double".split())
"""Methods that give the module, or what is where it is."""


def unseen_module(
    machine: Machine, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any
) -> ModuleObject:
    """A module of a class that is not seen, which may hold the modules that it was given."""
    module = ModuleObject(cls, node)
    machine.journal.write(module.own, "opaque", True)
    held = torch_module.given(args, kwargs)
    if held:
        machine.journal.write(module.own, HELD, held)
    return module


def lose_parts(machine: Machine, instance: Instance) -> None:
    """Code that is not seen may have moved what an object holds, if it has bases that are not
    seen: perhaps it is a module."""
    unseen = list(_unseen_bases(machine, instance.cls)) if type(instance.cls) is ClassValue else []
    if not unseen:
        return
    trains = all(map(transformers_trainer.is_trainer, unseen))
    for name, value in list(instance.fields.items()):
        for leaf in leaves(value):
            if type(leaf) is Parameter:
                forget(machine, (leaf,))
            elif isinstance(leaf, ModuleObject):
                torch_module.lose(machine, leaf)
                for _, part in walk(leaf):
                    module_facts.forget_moved_later(machine, part)
        if any(type(leaf) is Tensor for leaf in leaves(value)) and not trains:
            machine.journal.write(instance.fields, name, combine(_elsewhere, value))


def run_perhaps(machine: Machine, part: Unknown, name: str) -> None:
    """A method is called of what may be any of some parts of a module, or of some objects: that of
    each which has one may have run, and moved it."""
    wholes = None if part.fields is None else part.fields.get(WHOLE)
    if wholes and name in _APPLYING:
        torch_module.part_moved(machine, part)
    if not wholes or not _may_move(machine, name):
        return
    owners: dict[int, Instance] = {}
    for whole in each_of(wholes):
        if isinstance(whole, ModuleObject) and id(whole) not in owners:
            owners.update((id(each), each) for _, each in walk(whole))
        elif isinstance(whole, Instance):
            owners[id(whole)] = whole
    for owner in owners.values():
        method = owner.cls.lookup(name) if type(owner.cls) is ClassValue else None
        if type(method) is Function:
            _move_perhaps(machine, owner, method)


def _may_move(machine: Machine, name: str) -> bool:
    """Whether a class of the program has a method of that name which may move anything."""
    known = (*machine.classes.values(), *machine.program.classes.values())
    for method in (cls.fields.get(name) for cls in known):
        if type(method) is Function and not isinstance(method.node, ast.Lambda):
            does = _what_one_does(machine, method)
            if does.moved is not None or does.receivers or does.own_calls:
                return True
            if moves_own_parts(method.node):
                return True
    return False


def _run_any(machine: Machine, function: Unknown, is_given: bool) -> None:
    """What an object has under a name that is not known is called: each method that the name may
    mean may have run, where it does not mean a layer, which is given something."""
    asked = None if function.fields is None else function.fields.get(unnamed_parts.ASKED)
    name, holders = asked or (None, ())
    start = start_of(name)
    for holder in holders:
        is_module = type(holder) is ModuleObject
        if is_module and is_given and unnamed_parts.has_some(holder, name):
            continue
        if is_module and not is_given and any(each.startswith(start) for each in _WITHOUT_WORDS):
            forget(machine, (holder,))
        for owner in holder.cls.mro if type(holder.cls) is ClassValue else ():
            for each, method in list(owner.fields.items()):
                if type(method) is Function and each.startswith(start) and each[:2] != "__":
                    _move_perhaps(machine, holder, method)


_WITHOUT_WORDS = ("cuda", "cpu")
"""Methods that move a module and need no arguments."""


def _move_perhaps(machine: Machine, owner: Instance, method: Function) -> None:
    """A method of an object may have run: what it moves of the object is somewhere unknown."""
    doings = _what_they_do(machine, method, (owner,))
    if first_parameter(method.node) in doings.receivers or moves_own_parts(method.node):
        forget(machine, tuple(unnamed_parts.held_modules(owner)))
    _lose_attributes(machine, (owner,), doings.moved or frozenset())


def _elsewhere(value: Any) -> Any:
    return value.with_(device=UNKNOWN_DEVICE) if type(value) is Tensor else value


def _unseen_bases(machine: Machine, cls: ClassValue) -> Iterator[str]:
    for name in cls.foreign:
        if name.partition(".")[0] in _SEEN and not name.startswith(_OF_MODULES):
            continue
        if not registry.bases(name) and machine.foreign_class(name) is None:
            yield name


def moved_around(machine: Machine, generator: Any, values: tuple[Any, ...]) -> None:
    """A generator is a context manager, and has been run to its end: what it moves before the block
    and puts back after it is somewhere unknown in between."""
    if isinstance(generator, ast.FunctionDef) and moved_by(generator) is not None:
        forget(machine, values)


def _what_they_do(machine: Machine, function: Function, args: tuple[Any, ...]) -> Doings:
    """What a function does, with the methods that it calls of its own object."""
    all_of_them = _what_one_does(machine, function)
    own = args[0] if args and function.owner is not None else None
    if not isinstance(own, Instance) or type(own.cls) is not ClassValue:
        return all_of_them
    moved, handed, hands_on, receivers, remade, own_calls, dispatches = all_of_them
    seen = {function.node}
    pending = [all_of_them]
    while pending and len(seen) < MOST_METHODS:
        for name in sorted(pending.pop().own_calls):
            method = own.cls.lookup(name)
            if type(method) is not Function or method.node in seen:
                continue
            seen.add(method.node)
            one = _what_one_does(machine, method)
            pending.append(one)
            if one.moved is not None or one.handed:
                moved = (one.moved or frozenset()) | (moved or frozenset())
            if first_parameter(method.node) in one.receivers:
                receivers |= {first_parameter(function.node)}
            remade |= one.remade
            dispatches |= one.dispatches
    return Doings(moved, handed, hands_on, receivers, remade, own_calls, dispatches)


def _what_one_does(machine: Machine, function: Function) -> Doings:
    found: Doings = machine.unit.weigh(function.node, what_it_does)
    return found
