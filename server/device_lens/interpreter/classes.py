"""Definitions of functions and classes, and instances of the program's own classes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import METACLASS, BoundMethod, ClassValue, Function, Scope
from device_lens.domain.heap import MISSING, DictObject, Instance, ModuleObject
from device_lens.domain.values import BoundExternal, Const, External, TupleValue, Unknown
from device_lens.interpreter import (
    assignment,
    calls,
    decorators,
    descriptors,
    enumerations,
    own_tensors,
    registering,
    standalone,
)
from device_lens.interpreter.attrs_fields import Converted, DefaultFactory
from device_lens.interpreter.frames import Frame
from device_lens.models import registry
from device_lens.models.python import dict_classes, list_classes
from device_lens.models.python.records import annotated_names

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


def define_function(machine: Machine, node: Any, frame: Frame) -> None:
    function = Function(node, frame.chunk, frame.namespace, frame.closure(), node.name)
    function.owner = frame.owner if frame.function is None else None
    function.defaults = tuple(machine.evaluate(d, frame) for d in node.args.defaults)
    function.kw_defaults = tuple(
        MISSING if d is None else machine.evaluate(d, frame) for d in node.args.kw_defaults
    )
    machine.defined[node] = function
    value: Any = function
    if not frame.lazily or not registering.decorates(machine, function, frame):
        for decorator in reversed(node.decorator_list):
            value = decorators.apply(machine, decorator, value, node, frame)
    assignment.assign_name(
        machine, value.name if _is_setter(value, node) else node.name, value, frame
    )


def _is_setter(value: Any, node: Any) -> bool:
    return type(value) is Function and value.name == node.name + ".setter"


def define_class(machine: Machine, node: ast.ClassDef, frame: Frame) -> None:
    bases = tuple(
        base
        for base in (machine.evaluate(b, frame) for b in node.bases)
        if isinstance(base, ClassValue | External)
    )
    cls = ClassValue(node.name, node, frame.chunk, frame.namespace, bases)
    _inherit(machine, cls)
    scope = Scope(frame.closure(), frame.scope.globals)
    body = Frame(frame.namespace, scope, frame.chunk, None, frame)
    body.owner = cls
    body.entry_mark = machine.journal.mark()
    cls.fields = scope.names
    machine.stack.append(body)
    try:
        machine.execute(node.body, body)
    finally:
        machine.stack.pop()
    for keyword in node.keywords:
        if keyword.arg == "metaclass":
            cls.fields[METACLASS] = machine.evaluate(keyword.value, frame)
    machine.classes[node] = cls
    _name_descriptors(machine, cls, node, frame)
    _run_metaclass(machine, cls, node, frame)
    if enumerations.is_enumeration(cls):
        enumerations.make_members(machine, cls)
    _tell_base(machine, cls, node, frame)
    value: Any = cls
    for decorator in reversed(node.decorator_list):
        value = decorators.apply_to_class(machine, decorator, value, node, frame)
    assignment.assign_name(machine, node.name, value, frame)


def _name_descriptors(machine: Machine, cls: ClassValue, node: ast.ClassDef, frame: Frame) -> None:
    """Tells the descriptors that the class holds the names by which it holds them."""
    for name, held in tuple(cls.fields.items()):
        naming = descriptors.hook(held, "__set_name__")
        if naming is not None:
            calls.call(machine, naming, (cls, Const(name)), {}, node, frame)


def _run_metaclass(machine: Machine, cls: ClassValue, node: ast.ClassDef, frame: Frame) -> None:
    """Runs `__new__` and `__init__` of the class's metaclass, where classes are often registered.
    What they put into the namespace is in the class."""
    metaclass = cls.lookup(METACLASS)
    if type(metaclass) is not ClassValue:
        return
    names = {name: value for name, value in cls.fields.items() if name != METACLASS}
    namespace = DictObject(dict(names), None, node)
    args = (Const(cls.name), TupleValue(cls.bases), namespace)
    given = _class_keywords(machine, node, frame)
    creator, initialiser = metaclass.lookup("__new__"), metaclass.lookup("__init__")
    machine.making.append(cls)
    try:
        if type(creator) is Function:
            calls.call(machine, creator, (metaclass, *args), given, node, frame)
        for name, value in namespace.entries.items():
            if names.get(name) is not value:
                machine.journal.write(cls.fields, name, value)
        if type(initialiser) is Function:
            calls.call(machine, BoundMethod(cls, initialiser), args, given, node, frame)
    finally:
        machine.making.pop()


def _class_keywords(machine: Machine, node: ast.ClassDef, frame: Frame) -> dict[str, Any]:
    return {
        each.arg: machine.evaluate(each.value, frame)
        for each in node.keywords
        if each.arg is not None and each.arg != "metaclass"
    }


def _tell_base(machine: Machine, cls: ClassValue, node: ast.ClassDef, frame: Frame) -> None:
    """Calls `__init_subclass__` of the base that has one, where classes are often registered."""
    hooks = (base.fields.get("__init_subclass__") for base in cls.mro[1:])
    hook = next((each for each in hooks if each is not None), None)
    if type(hook) is Function:
        given = _class_keywords(machine, node, frame)
        calls.call(machine, BoundMethod(cls, hook), (), given, node, frame)


def _inherit(machine: Machine, cls: ClassValue) -> None:
    """Method resolution order (depth first, duplicates kept last) and the library's bases."""
    order: list[ClassValue] = [cls]
    foreign: list[str] = []
    for base in cls.bases:
        if type(base) is ClassValue:
            order.extend(base.mro)
            foreign.extend(base.foreign)
        else:
            name = registry.canonical(base.name)
            foreign.extend((name, *registry.bases(name)))
            known = machine.foreign_class(name)
            if known is not None and known.bases:
                foreign.extend(known.bases)
            if known is not None and known.is_module:
                foreign.append("torch.nn.Module")
    kept: list[ClassValue] = []
    for candidate in reversed(order):
        if candidate not in kept:
            kept.insert(0, candidate)
    cls.mro = tuple(kept)
    cls.foreign = tuple(dict.fromkeys(foreign))
    cls.is_module = any(
        name == "torch.nn.Module" or registry.module(name) is not None for name in cls.foreign
    )


def instantiate(
    machine: Machine,
    cls: ClassValue,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    node: Any,
    frame: Frame,
    complete: bool,
) -> Any:
    """An instance, its `__init__` run."""
    if "typing.NamedTuple" in cls.foreign:
        return _named_tuple(cls, args, kwargs)
    if "typing.TypedDict" in cls.foreign:
        return calls.call(machine, _DICT, args, kwargs, node, frame, complete)
    if enumerations.is_enumeration(cls):
        return enumerations.member_of_value(cls, args[0]) if args else Unknown(cls.name)
    if own_tensors.is_plain(cls):
        return own_tensors.made(machine, cls, args, kwargs, node, frame, complete)
    metaclass = cls.lookup(METACLASS)
    maker = metaclass.lookup("__call__") if type(metaclass) is ClassValue else None
    if type(maker) is Function:
        return calls.call(machine, maker, (cls, *args), kwargs, node, frame, complete)
    creator = cls.lookup("__new__")
    if type(creator) is Function:
        made = calls.call(machine, creator, (cls, *args), kwargs, node, frame, complete)
        if type(made) in (Instance, ModuleObject) and made.cls is cls:
            initialise(machine, made, args, kwargs, node, frame, complete)
        return made
    return new_object(machine, cls, args, kwargs, node, frame, complete)


def new_object(
    machine: Machine,
    cls: ClassValue,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    node: Any,
    frame: Frame,
    complete: bool,
) -> Instance:
    """A new object with its `__init__` run; where no script calls and the class was made several
    times before, a copy of what symbols make of it."""
    if machine.standalone and cls.is_module and _made_often(machine, cls):
        copied = standalone.copy_of(machine, cls, node)
        if copied is not None:
            return copied
    found = bare_object(machine, cls, node)
    initialise(machine, found, args, kwargs, node, frame, complete)
    return found


def _made_often(machine: Machine, cls: ClassValue) -> bool:
    creator = cls.lookup("__init__")
    if type(creator) is not Function:
        return False
    return machine.activations[creator.node, cls] >= machine.most_activations()


_DICT = External("builtins.dict")
_METACLASSES = frozenset({"builtins.type", "abc.ABCMeta", "enum.EnumMeta", "enum.EnumType"})


def made_by_new(machine: Machine, cls: ClassValue, node: Any) -> Any:
    """What a `__new__` of the library makes: of a metaclass, the class that is being defined."""
    if machine.making and not _METACLASSES.isdisjoint(cls.foreign):
        return machine.making[-1]
    return bare_object(machine, cls, node)


def bare_object(machine: Machine, cls: ClassValue, node: Any) -> Instance:
    """What `object.__new__(cls)` makes."""
    found: Instance = ModuleObject(cls, node) if cls.is_module else Instance(cls, node)
    if not cls.is_module:
        dict_classes.hold(found, node)
        list_classes.hold(found, node)
    if found.site is not None and cls.is_module and _hides_parts(machine, cls):
        machine.journal.write(found.own, "opaque", True)  # type: ignore[attr-defined]
    return found


def _hides_parts(machine: Machine, cls: ClassValue) -> bool:
    """Whether a base outside of what is modelled may hold parameters."""
    return any(
        name != "torch.nn.Module" and registry.module(name) is None and not _plain(name)
        for name in cls.foreign
    )


def _plain(name: str) -> bool:
    return name.startswith(("abc.", "typing.", "builtins.", "collections.", "enum."))


def initialise(
    machine: Machine,
    instance: Instance,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    node: Any,
    frame: Frame,
    complete: bool,
) -> None:
    cls = instance.cls
    creator = cls.lookup("__init__")
    if isinstance(creator, Function):
        calls.call(machine, BoundMethod(instance, creator), args, kwargs, node, frame, complete)
    elif (fields := _record_fields(cls)) is not None:
        _fill(machine, instance, fields, args, kwargs, node, frame)
    else:
        bound = _inherited_creator(instance)
        if bound is not None:
            calls.call(machine, bound, args, kwargs, node, frame, complete)
        elif not isinstance(instance, ModuleObject):
            for name in cls.foreign:
                machine.escape(args, kwargs, name)
            _take_keywords(machine, instance, kwargs)
    _run_post_init(machine, instance, cls, node, frame)


def _take_keywords(machine: Machine, instance: Instance, kwargs: dict[str, Any]) -> None:
    """What a creator that is not seen does with arguments that are called like attributes of the
    class: records keep them, of others nobody knows."""
    keeps = any(name.partition(".")[0] in _RECORDS for name in instance.cls.foreign)
    declared = {
        item.target.id
        for owner in instance.cls.mro
        for item in owner.node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    }
    for name, value in kwargs.items() if instance.cls.foreign else ():
        if name in declared or instance.cls.lookup(name) is not None:
            kept = value if keeps else Unknown(name)
            machine.journal.write(instance.fields, name, kept)


_RECORDS = frozenset("pydantic pydantic_settings sqlmodel msgspec".split())
"""Libraries whose classes keep what they are made with under the names of their fields."""


def _inherited_creator(instance: Instance) -> BoundExternal | None:
    """The `__init__` of the nearest class of a library that has a model."""
    known = registry.module if isinstance(instance, ModuleObject) else _creator
    for name in instance.cls.foreign:
        if known(name) is not None:
            return BoundExternal(instance, name + ".__init__")
    return None


def _creator(name: str) -> Any:
    return registry.function(name + ".__init__")


def _run_post_init(
    machine: Machine, instance: Instance, cls: ClassValue, node: Any, frame: Frame
) -> None:
    found = cls.lookup("__post_init__") or cls.lookup("__attrs_post_init__")
    if isinstance(found, Function):
        calls.call(machine, BoundMethod(instance, found), (), {}, node, frame)


def _record_fields(cls: ClassValue) -> tuple[tuple[str, Any], ...] | None:
    """The fields of the nearest dataclass, whose `__init__` a class without the decorator has."""
    return next((each.data_fields for each in cls.mro if each.data_fields is not None), None)


def _fill(
    machine: Machine,
    instance: Instance,
    fields: tuple[tuple[str, Any], ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    node: Any,
    frame: Frame,
) -> None:
    """A dataclass's generated `__init__`."""
    for index, (name, declared) in enumerate(fields):
        converted = type(declared) is Converted
        default = declared.default if converted else declared
        if index < len(args):
            value = args[index]
        elif name in kwargs:
            value = kwargs[name]
        elif isinstance(default, DefaultFactory):
            function = default.function
            makes = BoundMethod(instance, function) if default.of_object else function
            value = calls.call(machine, makes, (), {}, node, frame)
        else:
            value = default if default is not MISSING else Unknown(name)
        if converted:
            value = calls.call(machine, declared.converter, (value,), {}, node, frame)
        machine.journal.write(instance.fields, name, value)


def _named_tuple(cls: ClassValue, args: tuple[Any, ...], kwargs: dict[str, Any]) -> TupleValue:
    names = annotated_names(cls)
    items = []
    for index, name in enumerate(names):
        if index < len(args):
            items.append(args[index])
        else:
            default = cls.lookup(name)
            items.append(kwargs.get(name, Unknown(name) if default is None else default))
    return TupleValue(tuple(items), FieldNames(names, cls))


class FieldNames(tuple[str, ...]):
    """Names of a named tuple's fields, with the class of the program that says what else such a
    tuple has."""

    owner: ClassValue

    def __new__(cls, names: list[str], owner: ClassValue) -> FieldNames:
        made = super().__new__(cls, names)
        made.owner = owner
        return made
