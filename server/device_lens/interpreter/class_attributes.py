"""Attributes of classes, read through an instance or from the class itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.code import METACLASS, BoundMethod, ClassValue, Function, Namespace
from device_lens.domain.guard import leaves
from device_lens.domain.heap import (
    MISSING,
    ORDERED,
    DictObject,
    Instance,
    ListObject,
    ModuleObject,
)
from device_lens.domain.join import join
from device_lens.domain.presence import presence
from device_lens.domain.values import (
    NONE,
    BoundExternal,
    Const,
    External,
    HostArray,
    Partial,
    PartialMethod,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.interpreter import (
    attributes,
    calls,
    descriptors,
    enumerations,
    private_names,
    single_dispatch,
)
from device_lens.interpreter.frames import Frame
from device_lens.models import registry
from device_lens.models.python import records

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


def through_instance(machine: Machine, receiver: Any, found: Any, node: Any, frame: Frame) -> Any:
    """A class attribute read through an instance: functions bind, properties and descriptors
    run."""
    getter = descriptors.hook(found, "__get__")
    if getter is not None:
        owner = receiver.cls if isinstance(receiver, Instance) else Unknown("owner")
        return calls.call(machine, getter, (receiver, owner), {}, node, frame)
    if type(found) is PartialMethod:
        method = through_instance(machine, receiver, found.function, node, frame)
        return Partial(method, found.args, found.kwargs)
    if type(found) is Partial:
        return single_dispatch.bound(found, receiver) or found
    if type(found) is not Function:
        return found
    if found.kind == "static":
        return found
    if found.kind == "class":
        cls = receiver.cls if isinstance(receiver, Instance) else receiver
        return BoundMethod(found.owner if type(cls) is TupleValue else cls, found)
    if found.kind == "property":
        return calls.call(machine, BoundMethod(receiver, found), (), {}, node, frame)
    if found.kind == "cached_property":
        return _cached(machine, receiver, found, node, frame)
    return BoundMethod(receiver, found)


def private(
    machine: Machine, receiver: Any, owner: ClassValue, name: str, node: Any, frame: Frame
) -> Any:
    """`self.__name` in the text of a class that is not the only one to have it."""
    held = private_names.held_by(owner, receiver, name)
    if held is None:
        return attributes.read(machine, receiver, private_names.stored_as(owner, name), node, frame)
    if isinstance(receiver, Instance):
        return through_instance(machine, receiver, held, node, frame)
    is_bound = type(held) is Function and held.kind == "class"
    return BoundMethod(receiver, held) if is_bound else held


def _cached(machine: Machine, receiver: Any, found: Function, node: Any, frame: Frame) -> Any:
    """A property that runs once for an object."""
    fields = getattr(receiver, "fields", {})
    known = fields.get(found.name, MISSING)
    if known is MISSING:
        known = calls.call(machine, BoundMethod(receiver, found), (), {}, node, frame)
        machine.journal.write(fields, found.name, known)
    return known


def of_class(machine: Machine, receiver: ClassValue, name: str, node: Any, frame: Frame) -> Any:
    """`Class.name`."""
    found = receiver.lookup(name)
    if type(found) is Function and found.kind == "class":
        return BoundMethod(receiver, found)
    getter = descriptors.hook(found, "__get__")
    if getter is not None:
        return calls.call(machine, getter, (NONE, receiver), {}, node, frame)
    if found is not None:
        return found
    if name == "__name__":
        return Const(receiver.name)
    if name in ("_fields", "_make", "__dataclass_fields__"):
        described = records.of_class(receiver, name, node)
        if described is not None:
            return described
    metaclass = receiver.lookup(METACLASS)
    if type(metaclass) is ClassValue:
        found = metaclass.lookup(name)
        if found is not None:
            return through_instance(machine, receiver, found, node, frame)
    if name == "__members__" and enumerations.is_enumeration(receiver):
        pairs = {member.fields["name"].value: member for member in enumerations.members(receiver)}
        return DictObject(pairs, None, node)
    for prefix in receiver.foreign:
        qualified = f"{prefix}.{name}"
        if qualified in registry.CLASS_METHODS:
            return BoundExternal(receiver, qualified)
        if registry.function(qualified) is not None:
            return External(qualified)
        if name == "__init__" and registry.module(prefix) is not None:
            return External(qualified)
    if name in ("__setattr__", "__delattr__"):
        return External("builtins.object." + name)
    unknown = Unknown(name)
    machine.journal.write(receiver.fields, name, unknown)
    return unknown


ORDERED_DICT = "collections.OrderedDict"
DEFAULT_DICT = "collections.defaultdict"
_OF_KNOWN_CLASS: dict[type, str] = {
    TupleValue: "builtins.tuple",
    Tensor: "torch.Tensor",
    HostArray: "numpy.ndarray",
}
_OF_KNOWN_NAME = frozenset({"torch.Tensor", "numpy.ndarray", ORDERED_DICT, DEFAULT_DICT})
"""Library classes that the values of the analysis have, each called what its name ends on."""


def name_of_library_class(name: str) -> str | None:
    """`Class.__name__` of a class of a library or of Python; None where that is not known."""
    package, _, last = name.rpartition(".")
    known = package == "builtins" or name in _OF_KNOWN_NAME or registry.module(name) is not None
    return last if known else None


def is_plain_class(value: Any) -> bool:
    """Whether it is a class of the program that equals itself alone."""
    return type(value) is ClassValue and type(value.lookup(METACLASS)) is not ClassValue


def class_of(value: Any) -> Any:
    """`type(value)`; None where that is not known."""
    if isinstance(value, Instance):
        return value.cls
    if type(value) is ListObject and value.kind in ("list", "tuple", "set"):
        return External("builtins." + value.kind)
    if type(value) is Const:
        return External(f"builtins.{type(value.value).__name__}")
    if type(value) is TupleValue and value.names:
        owner = getattr(value.names, "owner", None)
        return records.maker(value.names) if owner is None else owner
    if type(value) is DictObject:
        return _class_of_dict(value)
    if type(value) is Tensor and value.cls is not None:
        return value.cls
    name = _OF_KNOWN_CLASS.get(type(value))
    return External(name) if name else None


def _class_of_dict(value: DictObject) -> External | None:
    if value.kind != "dict":
        return None
    if "default" in value.fields:
        return External(DEFAULT_DICT)
    return External(ORDERED_DICT if ORDERED in value.fields else "builtins.dict")


def or_of_class(
    machine: Machine, receiver: Instance, name: str, value: Any, found: Any, node: Any, frame: Frame
) -> Any:
    """What an object has as an attribute: where it may lack it, the class's value else, which
    `found` is."""
    present = presence(receiver.fields, name)
    if present is True or found is None:
        return value
    other = through_instance(machine, receiver, found, node, frame)
    return join(present, value, other)


def reads_as_ever(receiver: Any, getter: str) -> bool:
    """Whether a call of a module's `__getattribute__`, or of the `__getattr__` that modules have,
    does what `getattr` does."""
    if getter == "__getattr__" and type(receiver) is ModuleObject:
        return type(receiver.cls) is not ClassValue or receiver.cls.lookup(getter) is None
    if getter != "__getattribute__":
        return False
    return all(type(leaf) is Namespace for leaf in leaves(receiver))
