"""Facts about what is put into modules: plain tensors, plain lists of layers, late parts."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue
from device_lens.domain.device import (
    CPU,
    UNKNOWN_DEVICE,
    Device,
    is_accelerator,
    is_unknown,
    same_everywhere,
)
from device_lens.domain.guard import leaves
from device_lens.domain.heap import DictObject, Instance, ModuleObject, Parameter
from device_lens.domain.trail import Site, Trail
from device_lens.domain.values import DeviceValue, Tensor, TupleValue, Unknown
from device_lens.interpreter import late_parts, tensor_facts
from device_lens.interpreter.container_parts import keys_of, plain_items
from device_lens.interpreter.facts import Certainty
from device_lens.interpreter.library_modules import leaves_alone
from device_lens.interpreter.rarer_facts import PlainAttribute
from device_lens.interpreter.usage import MOVES, becomes_parameter, changes_kept, usage_of
from device_lens.models.call import constant
from device_lens.models.torch.every_module import OF_EVERY_MODULE
from device_lens.models.torch.module import optimizers_of
from device_lens.models.torch.moved_along import HELD
from device_lens.models.torch.parts import REST, all_parts, is_opaque, of_many, walk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from device_lens.interpreter.findings import Findings
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.watched import LibraryCall, Watched


_OTHERS = "others"
"""Marks a `setattr` that sets what is no tensor."""
_CARRIED = "carried"
"""Marks an attribute that the `_apply` of another module moves along."""


def assigned(
    machine: Machine,
    module: ModuleObject,
    name: str,
    value: Any,
    node: Any,
    frame: Frame,
    source: Any,
) -> Any:
    """`module.name = value`. Returns the value to keep: a plain tensor's history says that it is
    an attribute which moves miss."""
    if constant(value) is not None or (type(node) is ast.Call and type(value) is not Tensor):
        machine.watched.plain[_OTHERS, node] = None, None
    if type(value) is Tensor and name in module.parameters:
        tensor_facts.put_for_parameter(machine, value, node, frame)
    if type(value) is Tensor and name not in module.buffers:
        kept = value.trail is not None and value.trail.kind == "attribute"
        if kept and changes_kept(frame.statement, name):
            return value  # it is the tensor that was kept before
        _plain(machine, module, name, "tensor", value.device, node, frame, source, value)
        return _as_attribute(machine, value, name, node, frame)
    if type(value) is TupleValue and value.items and all(map(_is_plain_tensor, value.items)):
        tensors = "tuple-of-tensors"
        _plain(machine, module, name, tensors, UNKNOWN_DEVICE, node, frame, source, None)
        items = (_as_attribute(machine, item, name, node, frame) for item in value.items)
        return TupleValue(tuple(items), value.names)
    holds = _holds(value)
    if holds is not None:
        _plain(machine, module, name, holds, UNKNOWN_DEVICE, node, frame, source, None)
        machine.watched.lists.append((node, module, name, value))
    if type(value) in (ModuleObject, Parameter) and not leaves_alone(module, name, value):
        late_parts.put_in(machine, module, name, value, node, frame, source)
    return value


def _is_plain_tensor(value: Any) -> bool:
    """Whether a value is a tensor that no other attribute has kept before."""
    return type(value) is Tensor and (value.trail is None or value.trail.kind != "attribute")


def _as_attribute(machine: Machine, tensor: Tensor, name: str, node: Any, frame: Frame) -> Tensor:
    """A tensor with a history that says that it is kept as an attribute which moves miss."""
    text = f"is kept as the plain attribute `self.{name}`"
    kept = tensor.with_(trail=Trail("attribute", text, machine.site(node, frame), tensor.trail))
    tensor_facts.kept_as(machine, tensor, kept)
    return kept


def _holds(value: Any) -> str | None:
    items = plain_items(value)
    prefix = {DictObject: "dict-of-", TupleValue: "tuple-of-"}.get(type(value), "")
    if items and all(type(item) is ModuleObject for item in items):
        return prefix + "modules"
    if items and all(type(item) is Parameter for item in items):
        return prefix + "parameters"
    return None


def _is_registered_too(module: ModuleObject, value: Any) -> bool:
    """Whether the module has all that the list or dict holds and that has state as parts as well,
    or may have: a container that it has was made of parts that are not known one by one, and parts
    may be held under names that are not known."""
    walked = [part for _, part in walk(module)]
    if any(type(leaf) is Unknown for part in walked for leaf in leaves(part.modules.get(REST))):
        return True
    parts = {id(part) for part in walked}
    for owner in walked:
        held = owner.own.get(HELD)
        parts |= {id(part) for part in held} if isinstance(held, tuple) else set()
    parts |= {id(part.value) for part in all_parts(module)}
    many = {one.cls for part in walked for one in of_many(part)}
    return all(
        id(item) in parts
        or not _has_state(item)
        or getattr(item, "cls", None) in many
        or _is_held_by_parts(item, parts)
        for item in plain_items(value)
    )


def _is_held_by_parts(item: Any, parts: set[int]) -> bool:
    """Whether all the state of a module is that of other parts, known by their identities."""
    if type(item) is not ModuleObject or any(is_opaque(part) for _, part in walk(item)):
        return False
    return all(id(part.value) in parts for part in all_parts(item))


def _has_state(item: Any) -> bool:
    """Whether what a list or dict holds has parameters or buffers, or may have. A parameter made
    of what is not known may be a view of one that is registered; one that is made on a device that
    a caller names is where it has to be."""
    if type(item) is Parameter:
        return any(isinstance(leaf, Device) for leaf in leaves(item.tensor.device))
    if type(item) is not ModuleObject or any(True for _ in all_parts(item)):
        return True
    return any(is_opaque(part) for _, part in walk(item))


def _plain(
    machine: Machine,
    module: ModuleObject,
    name: str,
    holds: str,
    device: Any,
    node: Any,
    frame: Frame,
    source: Any,
    tensor: Tensor | None,
) -> None:
    if type(module.cls) is not ClassValue or source is None:
        return
    if frame.self_value is not module or frame.function is None:
        if frame.function is not None and frame.function.name == "_apply":
            machine.watched.plain[_CARRIED, module.cls, name] = module.cls, None
        return
    machine.unit.consulted.update(base.node for base in module.cls.mro)
    reads = usage_of(module.cls, name)
    if reads.registered and tensor is None:
        return
    if tensor is not None and becomes_parameter(frame.function, frame.statement, name):
        return
    fact = PlainAttribute(
        machine.site(node, frame),
        name,
        module.cls.name,
        holds,
        machine.site(source, frame),
        reads.in_forward,
        reads.moved,
        None,
        reads.assigned_outside_init,
        device,
        requires_grad=bool(tensor and tensor.requires_grad),
        zero_dim=bool(tensor and tensor.zero_dim),
        kept_moved=reads.kept,
        of_class=module.cls.lookup(name) is not None or name in OF_EVERY_MODULE,
    )
    machine.watched.plain.setdefault(
        fact.site.node, (module.cls, None if reads.kept else reads.copied)
    )
    machine.findings.add(fact)
    known = machine.findings.others[PlainAttribute, fact.site.node, None]
    known.of_class = known.of_class or fact.of_class


def moved(machine: Machine, seen: LibraryCall) -> None:
    """A move of a module: all its parts move along."""
    if isinstance(seen.receiver, ModuleObject):
        for _, part in walk(seen.receiver):
            machine.watched.moved_classes.add(part.cls)
        if machine.watched.late:
            _late_no_more(machine, seen.receiver)


def _late_no_more(machine: Machine, module: ModuleObject) -> None:
    """Parts that came after a move have moved along with another one."""
    parts = [part for _, part in walk(module)]
    for part in (*parts, *(each.value for each in all_parts(module))):
        key = machine.watched.late.get(part)
        if key is not None:
            machine.findings.others.pop(key, None)


def called(machine: Machine, layer: Any, value: Any) -> None:
    """A layer has run on the host, with what it needs: a part that came late is meant to be there
    where the program calls it so."""
    late = machine.watched.late
    if not late or type(value) is not Tensor or value.device is not CPU:
        return
    for part, key in late.seen().values():
        known = key is not None and isinstance(part, ModuleObject)
        if known and any(each is layer for _, each in walk(part)):
            machine.findings.others.pop(key, None)


def parameter_set(machine: Machine) -> None:
    """A parameter is elsewhere from now on: a part that came after a move may have moved, too."""
    for part, key in machine.watched.late.seen().values():
        if key is not None and late_parts.stays_at(part) is not CPU:
            machine.findings.others.pop(key, None)


def escaped(machine: Machine, values: tuple[Any, ...]) -> None:
    """Modules given to code that is not seen may be moved there."""
    watched, moves = machine.watched, machine.journal.moves
    for value in values:
        if isinstance(value, ModuleObject):
            state = moves, len(value.modules)
            if watched.escaped.get(value) != state:
                watched.escaped[value] = state
                watched.escaped_classes.update(part.cls for _, part in walk(value))


def settle(machine: Machine, start: int) -> None:
    """Decides on the plain lists and dicts that were assigned since `start`, since what their
    modules became is undone next."""
    lists = machine.watched.lists
    for index in range(start, len(lists)):
        node, module, name, value = lists[index]
        if module is not None:
            _note(machine, node, module, value)
            lists[index] = (node, None, name, _is_harmless(module, name, value))


def _note(machine: Machine, node: Any, module: ModuleObject | None, value: Any) -> None:
    """Keeps whether an optimizer has the parts, and the keys of a dict."""
    fact = machine.findings.others.get((PlainAttribute, node, None))
    if fact is None:
        return
    optimizers = set[Any]().union(*map(optimizers_of, plain_items(value)))
    fact.optimized |= bool(optimizers)
    fact.optimized_with_module |= bool(optimizers & optimizers_of(module))
    fact.keys |= keys_of(value)


def _is_harmless(module: ModuleObject | None, name: str, value: Any) -> bool:
    """Whether what a plain list or dict holds is registered in the end, or has nothing to move.
    Without a module, that is decided: `value` tells."""
    if module is None:
        return bool(value)
    replaced = name in module.modules or name in module.parameters
    return replaced or _is_registered_too(module, value)


def conclude(machine: Machine) -> None:
    """Completes what was said of plain attributes with what the program does to their modules.
    Only a script tells that a module never moves: who uses a library may move it."""
    watched = machine.watched
    for node, module, name, value in watched.lists:
        _note(machine, node, module, value)
        if _is_harmless(module, name, value):
            machine.findings.others.pop((PlainAttribute, node, None), None)
    for node, (cls, copied) in watched.plain.items():
        fact = machine.findings.others.get((PlainAttribute, node, None))
        if fact is None:
            continue
        fact.beside_others = (_OTHERS, node) in watched.plain
        carried = (_CARRIED, cls, fact.attribute) in watched.plain
        fact.moved_by_method = fact.moved_by_method or carried
        if cls in watched.moved_classes:
            fact.module_moves = True
        elif not machine.standalone and fact.module_moves is None:
            fact.module_moves = None if cls in watched.escaped_classes else False
        if fact.holds == "tensor" and copied is not None and fact.module_moves:
            fact.copied_at = _copied_at(machine, fact, copied)


def met_unmoved(found: Findings, watched: Watched, tops: Iterable[Findings]) -> None:
    """A module that surely meets a tensor elsewhere at the top level of a file has not moved there,
    whatever those do who use the file."""
    for top in tops:
        for conflict in top.conflicts.values():
            node = conflict.stray.origin.site.node
            fact = found.others.get((PlainAttribute, node, None))
            if fact is None or conflict.certainty is not Certainty.SURE:
                continue
            cls, _ = watched.plain.get(node, (None, None))
            if fact.module_moves is None and cls and cls not in watched.escaped_classes:
                fact.module_moves = False


def _copied_at(machine: Machine, fact: PlainAttribute, copied: ast.AST) -> Site | None:
    """The use that moves a copy to an accelerator and keeps none. What is always there already,
    as an attribute made on the module's device is, is not copied."""
    transfer = machine.findings.transfers.get(copied)
    if transfer is None or not any(map(is_accelerator, leaves(transfer.target))):
        return fact.copied_at
    if same_everywhere(transfer.source, transfer.target):
        return fact.copied_at
    return transfer.site


def forget_moved_later(machine: Machine, instance: Instance) -> None:
    """Plain tensors that a method of the class moves are wherever that left them, if it ran, and so
    are empty ones that a method replaces: they hold a place. A device that a method sets is any."""
    if type(instance.cls) is not ClassValue:
        return
    for name, value in list(instance.fields.items()):
        if type(value) is Tensor and not is_unknown(value.device):
            machine.unit.consulted.update(base.node for base in instance.cls.mro)
            usage = usage_of(instance.cls, name)
            holds_place = usage.assigned_outside_init and 0 in (value.shape or ())
            if usage.moved_later or holds_place:
                machine.journal.write(instance.fields, name, value.with_(device=UNKNOWN_DEVICE))
        elif type(value) is DeviceValue and not is_unknown(value.device):
            machine.unit.consulted.update(base.node for base in instance.cls.mro)
            if usage_of(instance.cls, name).assigned_outside_init:
                machine.journal.write(instance.fields, name, DeviceValue(UNKNOWN_DEVICE))


def added(machine: Machine, seen: LibraryCall) -> None:
    """`module.add_module(name, part)`, `blocks.append(part)`."""
    if not isinstance(seen.receiver, ModuleObject) or not isinstance(seen.node, ast.Call):
        return
    for index, value in enumerate(seen.args[: len(seen.node.args)]):
        if type(value) in (ModuleObject, Parameter):
            source = seen.node.args[index]
            late_parts.put_in(machine, seen.receiver, "", value, seen.node, seen.frame, source)


def put(machine: Machine, seen: LibraryCall) -> None:
    """`blocks[2] = part`."""
    statement, node = seen.frame.statement, seen.node
    if type(statement) is not ast.Assign or type(node) is not ast.Subscript:
        return
    value = seen.args[-1] if seen.args else None
    if isinstance(seen.receiver, ModuleObject) and type(value) in (ModuleObject, Parameter):
        late_parts.put_in(machine, seen.receiver, "", value, node, seen.frame, statement.value)


_ADDERS = (
    *(f"torch.nn.Module.{name}" for name in ("add_module", "register_module")),
    *(f"torch.nn.{kind}.append" for kind in ("ModuleList", "Sequential", "ParameterList")),
    *(f"torch.nn.{kind}.insert" for kind in ("ModuleList", "Sequential")),
)
_HOLDERS = "ModuleList Sequential ModuleDict ParameterList ParameterDict".split()
WATCHERS = (
    {f"torch.nn.Module.{name}": moved for name in MOVES}
    | dict.fromkeys(_ADDERS, added)
    | {f"torch.nn.{kind}.__setitem__": put for kind in _HOLDERS}
)
