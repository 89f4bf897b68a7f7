"""Calls: which code or model runs, with which arguments."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import BoundMethod, ClassValue, Function
from device_lens.domain.guard import Guarded
from device_lens.domain.heap import Instance, ModuleObject
from device_lens.domain.values import NONE, BoundExternal, External, Partial, Unknown
from device_lens.interpreter import (
    arguments,
    attribute_calls,
    attributes,
    by_leaf,
    classes,
    effects,
    functions,
    intrinsics,
    library_modules,
    modes,
    reports,
    unknown_calls,
    unknown_containers,
)
from device_lens.interpreter.dispatch import INTRINSICS, OF_MANAGERS
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.services import with_active
from device_lens.models import registry
from device_lens.models.call import Call, Model
from device_lens.models.torch import forward_hooks, replaced
from device_lens.models.torch import module as torch_module

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_OF_CLASSES = ("convert_sync_batchnorm",)
"""Methods of module classes that take a module and are not called on it."""


def evaluate_call(machine: Machine, node: ast.Call, frame: Frame, unpacked: Any = None) -> Any:
    """A call expression."""
    if unpacked is None and (choice := arguments.unpacked_choice(machine, node, frame)) is not None:
        sides = [partial(evaluate_call, machine, node, frame, s) for s in (choice.yes, choice.no)]
        return machine.choose(Guarded(choice.atom, True, False), frame, *sides)
    func = node.func
    receiver: Any = None
    if isinstance(func, ast.Attribute):
        receiver = machine.evaluate(func.value, frame)
        function = attributes.read(machine, receiver, func.attr, func, frame)
        machine.show(func, function, frame)
    else:
        function = machine.evaluate(func, frame)
        if type(function) is External and function.name == "builtins.super":
            return intrinsics.super_value(machine, node, frame)
    args, kwargs, complete = arguments.evaluate_arguments(machine, node, frame, unpacked)
    if type(function) is Unknown and type(receiver) is Instance:
        effects.lose_parts(machine, receiver)
    elif isinstance(func, ast.Attribute) and type(receiver) is Unknown:
        unknown_containers.called(machine, receiver, func.attr, args)
        if type(function) is Unknown:
            effects.run_perhaps(machine, receiver, func.attr)
    watch = reports.before_call(machine, node, receiver, frame)
    if type(kwargs) is dict:
        value = call(machine, function, args, kwargs, node, frame, complete)
    else:
        run = partial(call, machine, function, args, node=node, frame=frame, complete=complete)
        value = arguments.by_case(machine, function, kwargs, frame, run)
    if watch is not None:
        reports.after_call(machine, watch, args, kwargs, value)
    reports.called(machine, node, receiver, function, args, value, frame)
    return value


def call(
    machine: Machine,
    function: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    node: Any,
    frame: Frame,
    complete: bool = True,
) -> Any:
    """Calls a value of any kind."""
    machine.budget.checkpoint(machine.journal)
    kind = type(function)
    if kind is Function:
        return functions.invoke(machine, function, args, kwargs, node, frame, complete)
    if kind is BoundMethod:
        bound = (function.receiver, *args)
        return functions.invoke(machine, function.function, bound, kwargs, node, frame, complete)
    if kind is External:
        return call_external(machine, function, args, kwargs, node, frame, complete)
    if kind is BoundExternal:
        return _call_bound_external(machine, function, args, kwargs, node, frame, complete)
    if kind is ClassValue:
        return classes.instantiate(machine, function, args, kwargs, node, frame, complete)
    if kind is ModuleObject:
        return call_module(machine, function, args, kwargs, node, frame, complete)
    if kind is Instance:
        found = call_special(machine, function, "__call__", args, node, frame, kwargs)
        if found is not None:
            return found
        return _call_external_instance(machine, function, args, kwargs, node, frame, complete)
    if kind is Partial:
        merged = {**function.kwargs, **kwargs}
        given = (*function.args, *args)
        return call(machine, function.function, given, merged, node, frame, complete)
    if kind is Guarded:
        return by_leaf.called(
            machine,
            function,
            frame,
            lambda each: call(machine, each, args, kwargs, node, frame, complete),
        )
    return unknown_calls.call_unknown(machine, function, args, kwargs, node, frame, complete)


def call_external(
    machine: Machine,
    function: External,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    node: Any,
    frame: Frame,
    complete: bool = True,
) -> Any:
    """A library function, class or module class."""
    name = function.name
    intrinsic = INTRINSICS.get(name)
    if intrinsic is not None:
        stuck, value = frame.stuck, intrinsic(machine, args, kwargs, node, frame)
        frame.stuck = stuck  # by what came before: what it calls, as of `getattr`, may not end it
        return value
    if args and type(args[0]) is ModuleObject and _is_called_on(name):
        bound = BoundExternal(args[0], name)
        return _call_bound_external(machine, bound, args[1:], kwargs, node, frame, complete)
    model = registry.function(name)
    if model is not None:
        return run_model(machine, model, name, None, args, kwargs, node, frame, complete)
    module_model = registry.module(name)
    if module_model is not None:
        module = ModuleObject(function, node)
        request = make_call(machine, name, module, args, kwargs, node, frame, complete)
        with_active(machine, node, frame, lambda: module_model.initialise(request, module))
        reports.library_call(machine, name, None, args, kwargs, node, frame, module)
        return module
    unbound = _unbound_method(machine, name, args, kwargs, node, frame, complete)
    if unbound is not None:
        return unbound
    foreign = machine.foreign_class(name) if name[:9] != "builtins." else None
    if foreign is not None and foreign.is_module:
        return effects.unseen_module(machine, function, args, kwargs, node)
    if not registry.names_exception(name):  # which gives no tensor: nothing of a place is missed
        machine.skip_at(node, frame, f"`{name}` has no model")
    machine.escape(args, kwargs, name)
    return effects.unseen(machine, name.rpartition(".")[2], args, kwargs)


def _is_called_on(name: str) -> bool:
    """Whether a library's name is that of a method of modules, called by its class."""
    owner, _, method = name.rpartition(".")
    return registry.is_module_class(owner) and method not in _OF_CLASSES


def _unbound_method(
    machine: Machine,
    name: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    node: Any,
    frame: Frame,
    complete: bool,
) -> Any:
    """`dict.__init__(self, …)`, `object.__setattr__(…)`: a method called on its class."""
    method = name.rpartition(".")[2]
    if method in attribute_calls.METHODS:
        return attribute_calls.by_method(machine, name, args, node, frame)
    if method == "__new__" and args and type(args[0]) is ClassValue:
        return classes.made_by_new(machine, args[0], node)
    if method == "__init__" and args and isinstance(args[0], Instance):
        bound = BoundExternal(args[0], name)
        return _call_bound_external(machine, bound, args[1:], kwargs, node, frame, complete)
    return None


def _call_bound_external(
    machine: Machine,
    function: BoundExternal,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    node: Any,
    frame: Frame,
    complete: bool,
) -> Any:
    name, receiver = function.name, function.receiver
    if name.endswith(".__call__") and type(receiver) is ClassValue:
        return classes.new_object(machine, receiver, args, kwargs, node, frame, complete)
    if name.endswith(attribute_calls.METHODS):
        return attribute_calls.by_method(machine, name, (receiver, *args), node, frame)
    if name.endswith(".__new__") and args and type(args[0]) is ClassValue:
        return classes.made_by_new(machine, args[0], node)
    if name.endswith(".__init__") and isinstance(receiver, ModuleObject):
        module_model = registry.module(name[: -len(".__init__")])
        if module_model is not None:
            request = make_call(machine, name, receiver, args, kwargs, node, frame, complete)
            with_active(machine, node, frame, lambda: module_model.initialise(request, receiver))
            reports.library_call(machine, name, receiver, args, kwargs, node, frame, NONE)
        return NONE
    if name == library_modules.FORWARD and isinstance(receiver, ModuleObject):
        run = partial(_forward, machine, receiver, args, kwargs, node, frame, complete)
        return reports.module_call(machine, node, args, kwargs, frame, run)
    if name.endswith(".forward") and isinstance(receiver, ModuleObject):
        module_model = registry.module(name[: -len(".forward")])
        if module_model is not None:
            request = make_call(machine, name, receiver, args, kwargs, node, frame, complete)
            return with_active(machine, node, frame, lambda: module_model.forward(request))
    if name.endswith(OF_MANAGERS):
        from device_lens.interpreter import contexts

        entered = contexts.by_method(machine, receiver, name, args, kwargs, node, frame)
        if entered is not None:
            return entered
    model = registry.function(name)
    if model is None:
        from device_lens.interpreter import item_stores

        if item_stores.by_method(machine, receiver, name.rpartition(".")[2], args, node, frame):
            return NONE
        machine.skip_at(node, frame, f"`{name}` has no model")
        machine.escape(args, kwargs, name)
        return Unknown(name.rpartition(".")[2] + "(…)")
    return run_model(machine, model, name, receiver, args, kwargs, node, frame, complete)


def call_module(
    machine: Machine,
    module: ModuleObject,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    node: Any,
    frame: Frame,
    complete: bool,
) -> Any:
    """`module(…)`: its `forward` between its hooks."""
    if forward_hooks.BEFORE in module.own or machine.globals["module_hooks"]:
        args, kwargs = forward_hooks.run_before(machine, module, (args, kwargs))
    if torch_module.MAY_CARRY in module.own:
        args = tuple(torch_module.carried(module, value) for value in args)
        kwargs = {name: torch_module.carried(module, value) for name, value in kwargs.items()}
    forward = partial(_forward, machine, module, args, kwargs, node, frame, complete)
    value = reports.module_call(machine, node, args, kwargs, frame, forward)
    value = forward_hooks.run_after(machine, module, (args, kwargs), value)
    if replaced.REPLACES in module.own:
        replaced.called(machine, module, value)
    return value


def _forward(
    machine: Machine,
    module: ModuleObject,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    node: Any,
    frame: Frame,
    complete: bool,
) -> Any:
    """A module's `forward`, the program's own or the library's."""
    if type(module.cls) is ClassValue:
        replaced = type(module.fields.get("forward")) in (Function, BoundMethod, Partial)
        for name in ("__call__",) if replaced else ("__call__", "forward"):
            found = module.cls.lookup(name)
            if type(found) is Function:
                own = (module, *args)
                return functions.invoke(machine, found, own, kwargs, node, frame, complete)
            if found is not None:
                return call(machine, found, args, kwargs, node, frame, complete)
    if "forward" in module.fields:
        return call(machine, module.fields["forward"], args, kwargs, node, frame, complete)
    known = library_modules.forward_of(module)
    if known is not None:
        name, model = known
        machine.budget.checkpoint(machine.journal)
        machine.budget.spend()  # containers in containers are many calls of one line
        request = make_call(machine, name, module, args, kwargs, node, frame, complete)
        value = with_active(machine, node, frame, partial(model.forward, request))
        reports.layer_called(machine, name, module, args, kwargs, value, node, frame)
        return value
    machine.skip_at(node, frame, "the module's forward is not known")
    return Unknown("the module's output")


def call_special(
    machine: Machine,
    receiver: Instance,
    name: str,
    args: tuple[Any, ...],
    node: Any,
    frame: Frame,
    kwargs: dict[str, Any] | None = None,
) -> Any:
    """A special method of the program's own class; Python's None where it has none."""
    found = receiver.cls.lookup(name) if type(receiver.cls) is ClassValue else None
    if type(found) is not Function:
        return None
    return functions.invoke(machine, found, (receiver, *args), kwargs or {}, node, frame, True)


def _call_external_instance(
    machine: Machine,
    receiver: Instance,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    node: Any,
    frame: Frame,
    complete: bool,
) -> Any:
    names = receiver.cls.foreign if type(receiver.cls) is ClassValue else (receiver.cls.name,)
    for prefix in names:
        for candidate in (prefix, *registry.bases(prefix)):
            name = candidate + ".__call__"
            if (model := registry.function(name)) is not None:
                return run_model(
                    machine, model, name, receiver, args, kwargs, node, frame, complete
                )
    return Unknown()


def call_operator(
    machine: Machine, node: Any, method: str, left: Any, right: Any, frame: Frame
) -> Any:
    """An operator on tensors. Operands stand in program order; `right` None: a unary operator."""
    name = "torch.Tensor." + method
    model = registry.function(name)
    if model is None:
        return Unknown()
    if right is None:
        return run_model(machine, model, name, left, (), {}, node, frame)
    return run_model(machine, model, name, left, (right,), {}, node, frame)


def run_model(
    machine: Machine,
    model: Model,
    name: str,
    receiver: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    node: Any,
    frame: Frame,
    complete: bool = True,
) -> Any:
    """Runs a library model; an argument that it cannot make sense of gives an unknown."""
    if receiver is None:
        receiver, args = arguments.own_receiver(name, args)
    request = make_call(machine, name, receiver, args, kwargs, node, frame, complete)
    value = with_active(machine, node, frame, lambda: model(request))
    value = modes.answer(machine, name, value)
    reports.library_call(machine, name, receiver, args, kwargs, node, frame, value)
    return value


def make_call(
    machine: Machine,
    name: str,
    receiver: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    node: Any,
    frame: Frame,
    complete: bool,
) -> Call:
    site = machine.site(node, frame)
    named = complete or (type(node) is ast.Call and all(each.arg for each in node.keywords))
    kwargs = arguments.named_as_documented(name, kwargs)
    return Call(name, receiver, args, kwargs, site, machine, complete, named)
