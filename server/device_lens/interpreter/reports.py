"""Where the interpreter tells what it sees: each hook hands over to the module of its fact."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from device_lens.domain.heap import ModuleObject
from device_lens.domain.values import BoundExternal
from device_lens.interpreter import (
    async_facts,
    conflict_facts,
    cuda_facts,
    ddp_facts,
    dropped_facts,
    generator_facts,
    gradient_facts,
    graph_facts,
    hardcoded_facts,
    held_parameters,
    host_facts,
    load_facts,
    loop_facts,
    lost_moves,
    module_facts,
    mps_facts,
    operation_facts,
    optimizer_facts,
    pinned_facts,
    replaced_models,
    round_trip_facts,
    tensor_facts,
    transfer_facts,
    visible_facts,
)
from device_lens.interpreter.watched import LibraryCall

if TYPE_CHECKING:
    from device_lens.domain.device import DeviceTree
    from device_lens.domain.heap import ListObject, Parameter
    from device_lens.domain.trail import Site
    from device_lens.domain.values import Const, Tensor
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine

Watcher = Callable[["Machine", LibraryCall], None]
_FAMILIES = (
    async_facts,
    cuda_facts,
    ddp_facts,
    generator_facts,
    graph_facts,
    hardcoded_facts,
    held_parameters,
    host_facts,
    load_facts,
    module_facts,
    mps_facts,
    operation_facts,
    pinned_facts,
    replaced_models,
    round_trip_facts,
    tensor_facts,
    visible_facts,
)


def _by_name() -> dict[str, tuple[Watcher, ...]]:
    found: dict[str, tuple[Watcher, ...]] = {}
    for family in _FAMILIES:
        for name, watcher in family.WATCHERS.items():
            found[name] = (*found.get(name, ()), watcher)
    return found


WATCHERS = _by_name()
"""Who looks at the calls of a library function, by its qualified name."""


def before_call(machine: Machine, node: ast.Call, receiver: Any, frame: Frame) -> Any:
    """Looks at a call before it runs: a move in place hides where its receiver was."""
    return transfer_facts.watch(machine, node, receiver, frame)


def after_call(
    machine: Machine, watch: Any, args: tuple[Any, ...], kwargs: dict[str, Any], value: Any
) -> None:
    transfer_facts.finish(machine, watch, args, kwargs, value)


def called(
    machine: Machine,
    node: ast.Call,
    receiver: Any,
    function: Any,
    args: tuple[Any, ...],
    value: Any,
    frame: Frame,
) -> None:
    """A call that the program writes has run."""
    watched = machine.watched
    if type(function) is ModuleObject:
        for given, argument in zip(args, node.args, strict=False):
            if type(given) is BoundExternal:
                transfer_facts.uncalled(machine, argument, given, frame)
    if watched.wrapped:
        ddp_facts.called(machine, node, function, value, frame)
    if watched.loads and isinstance(node.func, ast.Attribute):
        load_facts.method_called(machine, node, receiver, args, value, frame)


def library_call(
    machine: Machine,
    name: str,
    receiver: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    node: Any,
    frame: Frame,
    value: Any,
) -> None:
    """The model of a library function, method, operator or attribute has run."""
    watched = machine.watched
    watchers = WATCHERS.get(name, ())
    if watched.copies or watched.pending or watched.open_calls or watchers:
        seen = LibraryCall(name, receiver, args, kwargs, node, frame, value)
        if watched.copies:
            round_trip_facts.followed(machine, seen)
        if watched.pending:
            async_facts.followed(machine, seen)
        if watched.open_calls:
            operation_facts.followed(machine, seen)
        for watcher in watchers:
            watcher(machine, seen)
    if kwargs or name.endswith(hardcoded_facts.TAKES_DEVICE_FIRST):
        seen = LibraryCall(name, receiver, args, kwargs, node, frame, value)
        if watched.literals:
            hardcoded_facts.called(machine, seen)
        if "generator" in kwargs:
            generator_facts.called(machine, seen)
        cuda_facts.given(machine, seen)
    if watched.contexts:
        cuda_facts.created(machine, LibraryCall(name, receiver, args, kwargs, node, frame, value))


def array_operator(machine: Machine, operands: tuple[Any, ...], value: Any) -> Any:
    """An operator on arrays of the host has run; gives its value."""
    if machine.watched.copies:
        round_trip_facts.operated(machine, operands, value)
    return value


def module_call(
    machine: Machine,
    node: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    frame: Frame,
    run: Callable[[], Any],
) -> Any:
    """Runs a module's call, and looks at what is computed in it."""
    call = operation_facts.opened(machine, node, args, kwargs, frame)
    if call is None:
        return run()
    value = None
    try:
        value = run()
    finally:
        operation_facts.closed(machine, call, value, frame)
    return value


def layer_called(
    machine: Machine,
    name: str,
    module: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    value: Any,
    node: Any,
    frame: Frame,
) -> None:
    """The model of a library's module has run."""
    module_facts.called(machine, module, value)
    operation_facts.layer_called(machine, name, module, args, kwargs, value, node, frame)


def steps_of_call(machine: Machine, first: int | None) -> list[Any] | None:
    """What was computed since `first`; None where nothing is collected."""
    if first is None or not machine.watched.open_calls:
        return None
    return machine.watched.steps[first:]


def recalled(machine: Machine, steps: list[Any] | None, frame: Frame | None) -> None:
    """A call was answered from memory."""
    operation_facts.recalled(machine, steps, frame)


def literal(machine: Machine, node: ast.Constant, value: Const, frame: Frame) -> None:
    """A string that may name an accelerator."""
    hardcoded_facts.literal(machine, node, value, frame)


def default_kept(machine: Machine, parameter: str, default: Const) -> None:
    """A function that no one calls runs with this default."""
    hardcoded_facts.default_kept(machine, parameter, default)


def formatted(machine: Machine, node: ast.FormattedValue, value: Any, frame: Frame) -> None:
    """A value is put into a string."""
    host_facts.formatted(machine, node, value, frame)


def percent_formatted(machine: Machine, node: Any, value: Any, frame: Frame) -> None:
    """`"%.3f" % value`."""
    host_facts.percent_formatted(machine, node, value, frame)


def missing_attribute(machine: Machine, receiver: Any, name: str, node: Any, frame: Frame) -> None:
    """An attribute of a library's module that nothing defines is read."""
    ddp_facts.missing(machine, receiver, name, node, frame)


def string_made(machine: Machine, node: ast.JoinedStr, frame: Frame) -> None:
    """A string whose parts are not all known."""
    load_facts.formatted(machine, node, frame)


def cuda_block(machine: Machine, expression: ast.expr, frame: Frame) -> Callable[[], Any]:
    """A `torch.cuda.device` block begins. Gives what ends it."""
    return cuda_facts.entered(machine, expression, frame)


def discarded(machine: Machine, node: ast.Expr, value: Any, frame: Frame) -> None:
    """An expression statement: its value is thrown away."""
    transfer_facts.discarded(machine, node.value, frame)
    dropped_facts.dropped(machine, node.value, value, frame)


def returned(machine: Machine, node: ast.Return, value: Any, frame: Frame) -> None:
    transfer_facts.uncalled(machine, node.value, value, frame)
    gradient_facts.returned(machine, node, value, frame)


def gradient_assigned(
    machine: Machine, receiver: Tensor | Parameter, value: Any, node: Any, frame: Frame
) -> None:
    """`p.grad = value`."""
    gradient_facts.assigned(machine, receiver, value, node, frame)


def iterated(machine: Machine, node: Any, iterable: Any, frame: Frame) -> None:
    loop_facts.iterated(machine, node, iterable, frame)


def tested(machine: Machine, node: ast.expr, value: Any, frame: Frame) -> None:
    """A value decides a branch: a tensor that does so is waited for."""
    host_facts.tested(machine, node, value, frame)


def accumulated(
    machine: Machine, node: ast.AugAssign, left: Any, right: Any, value: Any, frame: Frame
) -> None:
    graph_facts.summed(machine, node, left, right, frame)


def assigned(machine: Machine, node: ast.Assign, value: Any, frame: Frame) -> None:
    """An assignment whose value is known."""
    if type(value) is BoundExternal:
        transfer_facts.rebound(machine, node, value, frame)
    lost_moves.assigned(machine, node, frame)
    graph_facts.assigned(machine, node, frame)


def comprehended(machine: Machine, node: ast.ListComp, found: ListObject, frame: Frame) -> None:
    """A list comprehension has run over any number of items."""
    graph_facts.comprehended(machine, node, found.rest, frame)


def dict_comprehended(machine: Machine, node: ast.DictComp, found: Any, frame: Frame) -> None:
    """A dict comprehension has run."""
    if machine.watched.loads:
        load_facts.comprehended(machine, node, found, frame)


def module_attribute(
    machine: Machine, receiver: Any, name: str, value: Any, node: Any, frame: Frame, source: Any
) -> Any:
    return module_facts.assigned(machine, receiver, name, value, node, frame, source)


def conflict(
    machine: Machine,
    operation: str,
    left: tuple[Any, int | str],
    right: tuple[Any, int | str],
    literals: Any,
    wants_cpu: bool,
) -> None:
    conflict_facts.conflict(machine, operation, left, right, literals, wants_cpu)


def optimizer_conflict(
    machine: Machine,
    form: str,
    optimizer: Site | None,
    move: Site | None,
    state: Site | None,
    literals: Any,
) -> None:
    optimizer_facts.conflict(machine, form, optimizer, move, state, literals)


def generator_conflict(
    machine: Machine, consumer: str, generator: Any, position: int | str, needed: DeviceTree
) -> None:
    generator_facts.conflict(machine, consumer, generator, position, needed)


def synchronization(machine: Machine, what: str, subject: Any, position: int | str) -> None:
    host_facts.synchronization(machine, what, subject, position)


def host_read(
    machine: Machine,
    what: str,
    value: Any,
    position: int | str,
    nested: bool,
    container: str | None,
) -> None:
    host_facts.host_read(machine, what, value, position, nested, container)


def escaped(machine: Machine, values: tuple[Any, ...], name: str = "") -> None:
    """Values are given to code that is not seen."""
    module_facts.escaped(machine, values)
    load_facts.escaped(machine, name)


def parameter_set(machine: Machine) -> None:
    """`p.data = …` of a parameter."""
    module_facts.parameter_set(machine)


def concluded(machine: Machine) -> None:
    """A run is over."""
    cuda_facts.conclude(machine)
    load_facts.conclude(machine)
    graph_facts.conclude(machine)
    ddp_facts.conclude(machine)
    tensor_facts.conclude(machine)
    module_facts.conclude(machine)
