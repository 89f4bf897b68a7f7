"""Functions that no one calls: run once with symbols for their parameters."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from device_lens.domain.code import ClassValue, Function, Scope
from device_lens.domain.device import UNKNOWN_DEVICE, Device, DeviceTree, SymbolicDevice
from device_lens.domain.heap import DictObject, Instance, ListObject, ModuleObject, moment
from device_lens.domain.path import ALWAYS
from device_lens.domain.values import Const, TupleValue, Unknown, forgetting
from device_lens.interpreter import annotations as type_hints
from device_lens.interpreter import effects, functions, library_steps, module_facts, reports
from device_lens.interpreter.budget import Exhausted
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.somewhere import is_somewhere
from device_lens.models.torch import module as torch_module
from device_lens.models.torch.copying import deep_copy
from device_lens.models.torch.parts import all_parts, tensor_in, walk
from device_lens.syntax.walking import walk as nodes_of

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.unit import Unit

FORWARD = frozenset({"forward", "__call__"})
_FRAMEWORK_STEPS = frozenset(
    {"training_step", "validation_step", "test_step", "predict_step", "shared_step"}
)


_SETTING_UP = ("setUp", "setup_method")
"""Methods that run before each test of their class."""


class Made(NamedTuple):
    """An instance of a class made with symbols, the device that its parts share, and the unit that
    made it. `placed`: where its own `__init__` puts its parts; None for the default device."""

    instance: Instance
    home: SymbolicDevice | None
    unit: Unit
    placed: DeviceTree | None


def run_function(machine: Machine, function: Function) -> None:
    """Runs one function with symbols, leaving no trace in the heap. A class is made by its own
    `__init__` once, for all its methods."""
    owner = function.owner
    if function.name == "__init__" and owner is not None and owner.lookup("__init__") is function:
        instance_of(machine, owner)
        return
    mark, start = machine.journal.mark(), moment()
    before, lists = machine.path, len(machine.watched.lists)
    symbolic, machine.symbolic = machine.symbolic, True
    machine.unit.symbolic_depth = depth_of(machine, function)
    machine.path = ALWAYS
    depth = len(machine.stack)
    try:
        machine.program.unseen_defaults.enter(machine, function.namespace.path)
        scope = Scope(function.scope, function.namespace.scope.names)
        frame = Frame(function.namespace, scope, function.chunk, function)
        receiver = _receiver(machine, function)
        _bind(machine, function, frame, receiver, _home(machine, receiver, function))
        library_steps.bind(machine, function, receiver, scope)
        functions.record_parameters(machine, function, frame)
        machine.program.moved_by_others.lose_globals(machine, function)
        _set_up(machine, function, receiver)
        found = functions.run(machine, function, frame)
        machine.unit.gives = machine.options.only_findings and is_somewhere(found)
    except Exhausted:
        machine.budget.note(f"`{function.name}` was not run to its end: too many steps")
    finally:
        del machine.stack[depth:]
        machine.path = before
        module_facts.settle(machine, lists)
        machine.journal.settle(mark, start)  # what was made is shown as it is
        machine.journal.undo(mark)
        machine.symbolic = symbolic


def _set_up(machine: Machine, function: Function, receiver: Any) -> None:
    """Runs what a test's runner does before a test."""
    owner = function.owner
    if owner is None or not isinstance(receiver, Instance) or not function.name.startswith("test"):
        return
    for name in _SETTING_UP:
        found = owner.lookup(name)
        if isinstance(found, Function):
            functions.invoke(machine, found, (receiver,), {}, None, None, False)


def depth_of(machine: Machine, function: Function) -> int:
    """Calls within calls that are followed where a function runs with symbols."""
    options = machine.options
    treats = machine.program.relevance.treats(function)
    return options.symbolic_depth if treats else options.shallow_depth


def _bind(machine: Machine, function: Function, frame: Frame, receiver: Any, home: Any) -> None:
    """Binds symbols to the parameters; the first is `receiver` where there is one."""
    parameters = function.node.args
    names = frame.scope.names
    positional = [*parameters.posonlyargs, *parameters.args]
    defaults = [None] * (len(positional) - len(function.defaults)) + list(function.defaults)
    for parameter, default in (
        *zip(positional, defaults, strict=True),
        *zip(parameters.kwonlyargs, function.kw_defaults, strict=True),
    ):
        if type(default) is Const:
            reports.default_kept(machine, parameter.arg, default)
    for index, (parameter, default) in enumerate(zip(positional, defaults, strict=True)):
        if index == 0 and receiver is not None:
            names[parameter.arg] = receiver
            frame.self_value = receiver
        else:
            names[parameter.arg] = symbol(machine, parameter, default, home, frame)
    for parameter, value in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True):
        default = None if value is None else Unknown()
        names[parameter.arg] = symbol(machine, parameter, default, home, frame)
    if parameters.vararg is not None:
        names[parameters.vararg.arg] = ListObject((), Unknown(), "tuple", parameters)
    if parameters.kwarg is not None:
        names[parameters.kwarg.arg] = DictObject({}, Unknown(), parameters)


def symbol(machine: Machine, parameter: ast.arg, default: Any, home: Any, frame: Frame) -> Any:
    """What a parameter is when no caller says: as annotated, an input of a module's forward on the
    module's own device, otherwise an unknown of its own. One with a constant default is no more
    than that type of thing."""
    name = parameter.arg
    value = Unknown(name, home if home is not None else SymbolicDevice(name))
    if parameter.annotation is not None:
        refined = type_hints.refine(machine, value, parameter.annotation, frame)
        if refined is not value or _is_host(parameter.annotation):
            return refined if refined is not value else Unknown(name)
    if _is_plain(default):
        return Unknown(name)
    if home is not None and default is None and parameter.annotation is None:
        value.tensor_evidence = True
    return value


def _is_plain(default: Any) -> bool:
    """Whether a default is a number, a text or the like, or a tuple of such."""
    if type(default) is TupleValue:
        return bool(default.items) and all(map(_is_plain, default.items))
    return type(default) is Const and default.value is not None


def _is_host(annotation: ast.expr) -> bool:
    return isinstance(annotation, ast.Name) and annotation.id in ("int", "float", "str", "bool")


def _receiver(machine: Machine, function: Function) -> Any:
    """`self` or `cls` of a method, None for a plain function."""
    if function.owner is None or function.kind == "static":
        return None
    if function.kind == "class":
        return function.owner
    if function.name in ("__init__", "__new__", "__init_subclass__"):
        return new_instance(machine, function.owner)
    if machine.options.only_findings and _leaves_out(machine, function):
        return new_instance(machine, function.owner)
    found = instance_of(machine, function.owner)
    return found if found is not None else Unknown("self")


def _leaves_out(machine: Machine, method: Function) -> bool:
    """Whether a method does nothing with its object, of which nothing can be found when it is
    made."""
    if method.name in FORWARD or method.name in _FRAMEWORK_STEPS or method.owner is None:
        return False
    creator = method.owner.lookup("__init__")
    if type(creator) is Function and machine.program.shows.get(creator.node) is not False:
        return False
    given = method.node.args
    first = next((each.arg for each in (*given.posonlyargs, *given.args)), "")
    return not any(
        isinstance(node, ast.Name) and node.id in (first, "super") for node in nodes_of(method.node)
    )


def _home(machine: Machine, receiver: Any, function: Function) -> Any:
    """The symbol that a module's inputs share with its parameters."""
    if type(receiver) is not ModuleObject:
        return None
    if function.name in FORWARD or function.name in _FRAMEWORK_STEPS:
        made = machine.program.instances.get(receiver.cls)
        return None if made is None else made.home
    return None


def new_instance(machine: Machine, cls: ClassValue) -> Instance:
    return ModuleObject(cls, cls.node) if cls.is_module else Instance(cls, cls.node)


def instance_of(machine: Machine, cls: ClassValue) -> Instance | None:
    """An instance made with symbols. A module lives wherever its caller put it: its parts are on
    one symbolic device, save for what its moves miss. None while it is being made (a class that
    needs itself)."""
    instances = machine.program.instances
    made = instances.get(cls)
    if made is None or made.unit.rests_on != made.unit.activated & machine.recorder.settled:
        if cls in instances and made is None:
            return None
        instances[cls] = None
        try:
            made = _made(machine, cls)
        finally:
            del instances[cls]
        instances[cls] = made
    machine.unit.use(made.unit)
    return made.instance


def _made(machine: Machine, cls: ClassValue) -> Made:
    unit = machine.program.unit(machine.options.max_standalone_steps, lasting=True)
    unit.standalone = unit.symbolic = True
    unit.symbolic_depth = machine.options.symbolic_depth
    unit.recorder.settled = machine.recorder.settled
    machine.program.look_at_edited(unit)
    journal = machine.journal
    start, outside = moment(), journal.outside
    written = journal.set_apart()
    home = placed = None
    try:
        with machine.apart(unit), forgetting(lasting=True):
            machine.program.unseen_defaults.enter(machine, cls.namespace.path)
            instance = new_instance(machine, cls)
            _initialise(machine, cls, instance)
            if isinstance(instance, ModuleObject):
                placed = _placed(machine, instance)
                home = _put_elsewhere(machine, cls, instance)
            else:
                effects.lose_parts(machine, instance)
                module_facts.forget_moved_later(machine, instance)
                machine.program.moved_by_others.lose(machine, instance)
    finally:
        journal.settle(0, start)
        journal.undo(0)
        journal.resume(written)
        journal.outlive(start)
        journal.outside = outside
        if unit.visits is not None:
            unit.visits.close(unit)
        unit.close()
    machine.program.watched.settle(unit.watched)
    unit.rests_on = unit.activated & machine.recorder.settled
    return Made(instance, home, unit, placed)


def _placed(machine: Machine, module: ModuleObject) -> DeviceTree | None:
    """Where a new module's parts are: on one device that the program names, on the default one
    (None), or somewhere unknown."""
    tensors = [tensor_in(part.value) for part in all_parts(module)]
    devices = [machine.default_device() if each is None else each.device for each in tensors]
    if all(each is machine.default_device() for each in devices):
        return None
    first = devices[0]
    same = type(first) is Device and all(each is first for each in devices)
    return first if same else UNKNOWN_DEVICE


def copy_of(machine: Machine, cls: ClassValue, site: Any) -> ModuleObject | None:
    """A new instance like the one made with symbols, where its own `__init__` puts it; None where
    that is being made."""
    made = instance_of(machine, cls)
    if type(made) is not ModuleObject:
        return None
    known = machine.program.instances[cls]
    placed = None if known is None else known.placed
    where = machine.default_device() if placed is None else placed
    journal = machine.journal
    moves, written = journal.moves, journal.set_apart()
    try:
        copied = deep_copy(made, {})
        copied.site = site
        torch_module.move(machine, copied, where, None, None)
    finally:
        journal.resume(written)
        journal.moves = moves  # nobody has asked yet where the copy is
    found: ModuleObject = copied
    return found


def _initialise(machine: Machine, cls: ClassValue, instance: Instance) -> None:
    from device_lens.interpreter import classes

    creator = cls.lookup("__init__")
    try:
        if isinstance(creator, Function):
            scope = Scope(creator.scope, creator.namespace.scope.names)
            frame = Frame(creator.namespace, scope, creator.chunk, creator)
            _bind(machine, creator, frame, instance, None)
            functions.record_parameters(machine, creator, frame)
            functions.run(machine, creator, frame)
        else:
            frame = _at_class(cls)
            machine.stack.append(frame)
            classes.initialise(machine, instance, (), {}, cls.node, frame, False)
    except Exhausted:
        machine.budget.note(f"`{cls.name}` was not made to its end: too many steps")


def _at_class(cls: ClassValue) -> Frame:
    """A frame for what happens to an instance that no statement of the program makes."""
    frame = Frame(cls.namespace, cls.namespace.scope, cls.chunk)
    frame.statement = cls.node
    return frame


def _put_elsewhere(machine: Machine, cls: ClassValue, instance: ModuleObject) -> SymbolicDevice:
    home = SymbolicDevice("self", of_module_input=True)
    machine.stack.append(_at_class(cls))
    torch_module.move(machine, instance, home, None, None)
    machine.journal.write(instance.own, "device", home)
    for _, part in walk(instance):
        module_facts.forget_moved_later(machine, part)
    return home
