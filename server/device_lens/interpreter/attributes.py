"""Attributes: what `value.name` is, for every kind of value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.code import BoundMethod, ClassValue, Deferred, Function, Namespace
from device_lens.domain.device import UNKNOWN_DEVICE, SymbolicDevice
from device_lens.domain.guard import Guarded
from device_lens.domain.heap import (
    MISSING,
    DictObject,
    HeapObject,
    Instance,
    ListObject,
    ModuleObject,
    Parameter,
)
from device_lens.domain.presence import presence
from device_lens.domain.values import (
    METHOD,
    TRUE,
    BoundExternal,
    Const,
    DeviceValue,
    DtypeValue,
    External,
    HostArray,
    Partial,
    SliceValue,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.interpreter import (
    attribute_calls,
    by_leaf,
    calls,
    class_attributes,
    descriptors,
    every_item,
    having,
    imports,
    library_modules,
    library_names,
    one_of_many,
    own_tensors,
    plain_attributes,
    private_names,
    reports,
    single_dispatch,
)
from device_lens.interpreter.choices import names_of_module
from device_lens.interpreter.conditions import symbol_of
from device_lens.interpreter.frames import Frame
from device_lens.models import registry
from device_lens.models.numbers import is_text
from device_lens.models.open_names import as_dict
from device_lens.models.python import dict_classes, records
from device_lens.models.python.own_contexts import IN_THREAD, LOCAL
from device_lens.models.torch import module as torch_module
from device_lens.models.torch.evidence import PLAIN

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

BUILTIN_CLASSES = frozenset(
    "object int float str bool bytes list tuple dict set frozenset type complex slice "
    "range Exception ValueError TypeError RuntimeError KeyError IndexError StopIteration "
    "property NotImplementedError ImportError AttributeError OSError staticmethod "
    "classmethod".split()
)


class Super:
    """`super()`: the receiver as its classes after `owner` see it."""

    __slots__ = ("owner", "receiver")

    def __init__(self, receiver: Any, owner: ClassValue) -> None:
        self.receiver = receiver
        self.owner = owner


def read(machine: Machine, receiver: Any, name: str, node: Any, frame: Frame) -> Any:
    """`receiver.name` where the program reads it."""
    if name[:2] == "__":
        if class_attributes.reads_as_ever(receiver, name):
            return Partial(External("builtins.getattr"), (receiver,), {})
        owner = private_names.owner_of(receiver, name, frame)
        if owner is not None:
            return class_attributes.private(machine, receiver, owner, name, node, frame)
    if type(receiver) is Guarded:
        return _of_tree(machine, receiver, name, node, frame)
    if name == "__class__" and not isinstance(receiver, Instance):
        found = class_attributes.class_of(receiver)
        if found is not None:
            return found
    reader = _READERS.get(type(receiver))
    if reader is None:
        return Unknown(name)
    return reader(machine, receiver, name, node, frame)


def _of_tree(machine: Machine, tree: Guarded, name: str, node: Any, frame: Frame) -> Any:
    """Of a tree, leaf by leaf. None has no attributes worth following, and a module of the program
    may lack this one, so that it is taken not to be there: the line raises otherwise."""
    if having.is_without(tree.yes, name):
        return read(machine, tree.no, name, node, frame)
    if having.is_without(tree.no, name):
        return read(machine, tree.yes, name, node, frame)
    condition, leaf, others = by_leaf.parted(machine, tree)
    return machine.choose(
        condition,
        frame,
        lambda: read(machine, leaf, name, node, frame),
        lambda: read(machine, others, name, node, frame),
    )


def _of_library(
    machine: Machine, receiver: Any, prefix: str, name: str, node: Any, frame: Frame
) -> Any:
    """An attribute that a library type defines: read by a model, or a method; None if neither."""
    qualified = f"{prefix}.{name}"
    model = registry.attribute(qualified)
    if model is not None:
        return calls.run_model(machine, model, qualified, receiver, (), {}, node, frame)
    if registry.function(qualified) is not None or name in ("__enter__", "__exit__"):
        return BoundExternal(receiver, qualified)
    model = registry.any_attribute(prefix)
    if model is not None:
        return calls.run_model(machine, model, qualified, receiver, (), {}, node, frame)
    return None


def _of_tensor(machine: Machine, receiver: Any, name: str, node: Any, frame: Frame) -> Any:
    if type(receiver) is Parameter and name in receiver.fields and name != "tensor":
        return receiver.fields[name]
    if type(receiver) is Tensor and receiver.cls is not None:
        own = own_tensors.attribute(machine, receiver, name, node, frame)
        if own is not MISSING:
            return own
    found = _of_library(machine, receiver, "torch.Tensor", name, node, frame)
    if found is None:
        return BoundExternal(receiver, "torch.Tensor." + name)
    return found


def _of_module_object(
    machine: Machine, receiver: ModuleObject, name: str, node: Any, frame: Frame
) -> Any:
    if type(receiver.cls) is ClassValue:
        found = receiver.cls.lookup(name)
        runs = type(found) is Function and found.kind in ("property", "cached_property")
        if runs or descriptors.comes_first(found):
            return class_attributes.through_instance(machine, receiver, found, node, frame)
        if found is not None and name in receiver.fields:
            value = receiver.fields[name]
            return class_attributes.or_of_class(machine, receiver, name, value, found, node, frame)
        if found is not None:
            registered = torch_module.get_attribute(machine, receiver, name)
            if registered is None:
                return class_attributes.through_instance(machine, receiver, found, node, frame)
            return registered
    registered = torch_module.get_attribute(machine, receiver, name)
    if registered is not None:
        return registered
    for prefix in library_modules.classes_of(receiver):
        found = _of_library(machine, receiver, prefix, name, node, frame)
        if found is not None:
            return found
    if name == "forward" and library_modules.forward_of(receiver) is not None:
        return BoundExternal(receiver, library_modules.FORWARD)
    if name == "__class__":
        return receiver.cls
    if name == "__dict__":
        return as_dict(receiver, Unknown("an attribute"), node)
    if receiver.own.get("opaque") and type(receiver.cls) is External:
        return torch_module.opaque_attribute(receiver, name)
    if type(receiver.cls) is External:
        reports.missing_attribute(machine, receiver, name, node, frame)
    return _missing_attribute(machine, receiver, name, node, frame)


def _missing_attribute(
    machine: Machine, receiver: Instance, name: str, node: Any, frame: Frame
) -> Any:
    """An attribute that nothing defines: through `__getattr__`, else an unknown that stays the
    same each time."""
    item = dict_classes.attribute(receiver, name)
    if item is not None:
        return item
    if type(receiver.cls) is ClassValue and not name.startswith("__"):
        getter = receiver.cls.lookup("__getattr__")
        if type(getter) is Function and machine.current_call != (getter, name):
            before, machine.current_call = machine.current_call, (getter, name)
            bound = BoundMethod(receiver, getter)
            try:
                return calls.call(machine, bound, (Const(name),), {}, node, frame)
            finally:
                machine.current_call = before
    unknown = Unknown(name)
    machine.journal.write(receiver.fields, name, unknown)
    return unknown


def _of_instance(machine: Machine, receiver: Instance, name: str, node: Any, frame: Frame) -> Any:
    value = receiver.fields.get(name, MISSING)
    cls = receiver.cls
    if type(cls) is ClassValue:
        found = cls.lookup(name)
        if value is not MISSING and not descriptors.comes_first(found):
            return class_attributes.or_of_class(machine, receiver, name, value, found, node, frame)
        if found is not None:
            return class_attributes.through_instance(machine, receiver, found, node, frame)
        names: tuple[str, ...] = cls.foreign
    else:
        if cls.name == LOCAL and machine.globals.get(IN_THREAD):
            return Unknown(name)
        if value is not MISSING:  # where it is not, reading it raises
            machine.path = machine.path.assume(presence(receiver.fields, name))
            return value
        names = (cls.name, *registry.bases(cls.name))
    for prefix in names:
        # What a class of the program lacks here it may set on itself elsewhere.
        if type(cls) is ClassValue and not registry.is_listed(f"{prefix}.{name}"):
            continue
        library = _of_library(machine, receiver, prefix, name, node, frame)
        if library is not None:
            return library
    if name == "__class__":
        return cls
    if name == "__dict__":
        return as_dict(receiver, None, node)
    if name in attribute_calls.WRITERS:
        return BoundExternal(receiver, "builtins.object." + name)
    if name == "__dataclass_fields__":
        described = records.of_class(cls, name, node)
        if described is not None:
            return described
    return _missing_attribute(machine, receiver, name, node, frame)


def _of_super(machine: Machine, receiver: Super, name: str, node: Any, frame: Frame) -> Any:
    target = receiver.receiver
    cls = target if type(target) is ClassValue else getattr(target, "cls", None)
    order = cls.mro if type(cls) is ClassValue else receiver.owner.mro
    after = order[order.index(receiver.owner) + 1 :] if receiver.owner in order else ()
    for base in after:
        if name in base.fields:
            found = base.fields[name]
            return class_attributes.through_instance(machine, target, found, node, frame)
    foreign = receiver.owner.foreign
    if isinstance(target, HeapObject):
        for prefix in foreign:
            if name == "__init__" and (registry.module(prefix) or prefix == "torch.nn.Module"):
                return BoundExternal(target, prefix + ".__init__")
            library = _of_library(machine, target, prefix, name, node, frame)
            if library is not None:
                return library
    return BoundExternal(target, f"{foreign[0] if foreign else 'builtins.object'}.{name}")


def _of_namespace(machine: Machine, receiver: Namespace, name: str, node: Any, frame: Frame) -> Any:
    value = receiver.scope.names.get(name, MISSING)
    if value is MISSING:
        value = machine.program.registries.missing(machine, receiver, name)
    if value is not MISSING:
        return imports.settled(machine, value, receiver.scope.names, name)
    if name == "__dict__":
        return _names_of(machine, receiver, node)
    submodule = imports.submodule(machine, receiver, name)
    return submodule if submodule is not None else Unknown(name)


def _names_of(machine: Machine, namespace: Namespace, node: Any) -> DictObject:
    """What a module defines, by name; imports that wait for their first use are left out."""
    names = imports.all_names(machine, namespace).items()
    waiting = (Deferred, Guarded)
    entries = {name: value for name, value in names if type(value) not in waiting}
    found = names_of_module(entries, Unknown("__dict__"), node)
    if len(entries) == len(names):
        found.entries = namespace.scope.names  # what is put there is in the module
    return found


def _of_external(machine: Machine, receiver: External, name: str, node: Any, frame: Frame) -> Any:
    qualified = f"{receiver.name}.{name}"
    model = registry.attribute(qualified)
    if model is not None:
        return calls.run_model(machine, model, qualified, receiver, (), {}, node, frame)
    text = class_attributes.name_of_library_class(receiver.name) if name == "__name__" else None
    if text is not None:
        return Const(text)
    added = library_names.bound(machine, qualified)
    return External(registry.canonical(qualified)) if added is None else added


def _of_unknown(machine: Machine, receiver: Unknown, name: str, node: Any, frame: Frame) -> Any:
    if name == "device":
        return DeviceValue(symbol_of(receiver))
    if is_text(receiver) and registry.function("str." + name) is not None:
        return BoundExternal(receiver, "str." + name)
    items = every_item.mapping_of(receiver, name)
    if items is not None:
        return BoundExternal(items, "dict." + name)
    of_one = one_of_many.attribute(machine, receiver, name)
    if of_one is not None:
        return of_one
    if receiver.tensor_evidence:
        found = _of_library(machine, receiver, "torch.Tensor", name, node, frame)
        if found is not None:
            return found
    elif registry.function("torch.Tensor." + name) is not None:
        return BoundExternal(receiver, "torch.Tensor." + name)
    parts = receiver.parts()
    value = parts.get(name)
    if value is None:
        label = f"{receiver.label}.{name}" if receiver.label else ""
        # A part of something whose symbol only names the whole has a place of its own.
        symbolic = isinstance(receiver.device, SymbolicDevice)
        device = UNKNOWN_DEVICE if symbolic or name in PLAIN else receiver.device
        value = receiver.derive(name, Unknown(label, device))
        if registry.function("torch.nn.Module." + name) is not None:
            value.parts()[METHOD] = TRUE
    return value


def _of_tuple(machine: Machine, receiver: TupleValue, name: str, node: Any, frame: Frame) -> Any:
    if receiver.names and name in receiver.names:
        return receiver.items[receiver.names.index(name)]
    if name == "_fields" and receiver.names:
        return TupleValue(tuple(Const(each) for each in receiver.names))
    owner = getattr(receiver.names, "owner", None)
    found = owner.lookup(name) if owner is not None else None
    if found is not None:
        return class_attributes.through_instance(machine, receiver, found, node, frame)
    return BoundExternal(receiver, "tuple." + name)


def _of_device(machine: Machine, receiver: DeviceValue, name: str, node: Any, frame: Frame) -> Any:
    found = _of_library(machine, receiver, "torch.device", name, node, frame)
    return found if found is not None else Unknown(name)


def _of_host_array(
    machine: Machine, receiver: HostArray, name: str, node: Any, frame: Frame
) -> Any:
    found = _of_library(machine, receiver, "numpy.ndarray", name, node, frame)
    return found if found is not None else BoundExternal(receiver, "numpy.ndarray." + name)


def _of_partial(machine: Machine, receiver: Partial, name: str, node: Any, frame: Frame) -> Any:
    found = records.of_maker(receiver, name) or single_dispatch.register_of(receiver, name)
    return _of_opaque(machine, receiver, name, node, frame) if found is None else found


def _of_opaque(machine: Machine, receiver: Any, name: str, node: Any, frame: Frame) -> Any:
    return Unknown(name, UNKNOWN_DEVICE)


def _of_class(machine: Machine, receiver: Any, name: str, node: Any, frame: Frame) -> Any:
    return class_attributes.of_class(machine, receiver, name, node, frame)


_READERS: dict[type, Any] = {
    Tensor: _of_tensor,
    Parameter: _of_tensor,
    ModuleObject: _of_module_object,
    Instance: _of_instance,
    Super: _of_super,
    Namespace: _of_namespace,
    External: _of_external,
    ClassValue: _of_class,
    Unknown: _of_unknown,
    TupleValue: _of_tuple,
    ListObject: plain_attributes.of_list,
    DictObject: plain_attributes.of_dict,
    Const: plain_attributes.of_constant,
    DeviceValue: _of_device,
    DtypeValue: _of_opaque,
    Function: plain_attributes.of_function,
    BoundMethod: _of_opaque,
    BoundExternal: _of_opaque,
    Partial: _of_partial,
    SliceValue: _of_opaque,
    HostArray: _of_host_array,
}
