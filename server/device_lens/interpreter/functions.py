"""Running a function of the program with abstract arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

from device_lens.domain.atom import atoms_before
from device_lens.domain.code import Function, Scope
from device_lens.domain.guard import primary
from device_lens.domain.heap import (
    MISSING,
    RETURNED,
    DictObject,
    Instance,
    ListObject,
    ModuleObject,
    moment,
)
from device_lens.domain.join import join_blind
from device_lens.domain.objects import keep_any
from device_lens.domain.path import Path
from device_lens.domain.values import NONE, Const, TupleValue, Unknown
from device_lens.interpreter import annotations as type_hints
from device_lens.interpreter import (
    echoes,
    effects,
    generators,
    kept_answers,
    lazily,
    of_many,
    reports,
    scan,
    suspended,
)
from device_lens.interpreter.alike import likeness, numbers_of
from device_lens.interpreter.arguments import any_further, of_any_name, of_any_place
from device_lens.interpreter.budget import Exhausted
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.merging import Ways, fold, join_values
from device_lens.interpreter.unfollowed import answered, not_followed

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


class _Never:
    """What a call gives that never returns."""

    __slots__ = ()


NEVER = _Never()


def invoke(
    machine: Machine,
    function: Function,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    node: Any,
    caller: Frame | None,
    complete: bool = True,
) -> Any:
    """Calls `function`; past the bounds of depth and recursion the answer is unknown. Where it
    never returns, the caller is stuck."""
    leaves = _entered(machine, function, node, caller) if function.within else []
    if function.kept is not None and caller is not None and complete:
        call = partial(_run_or_recall, machine, function, args, kwargs, node, caller)
        value = kept_answers.answer(machine, function.kept, args, kwargs, caller, call)
    elif caller is not None and suspended.resumes_apart(function, node, caller):
        with suspended.default_open(machine):
            value = _run_or_recall(machine, function, args, kwargs, node, caller, complete)
    else:
        value = _run_or_recall(machine, function, args, kwargs, node, caller, complete)
    for leave in reversed(leaves):
        leave()
    if value is not NEVER:
        return value
    if caller is not None and type(node) is ast.Call:
        caller.stuck = True
    return Unknown(f"{function.name}(…)")


def _entered(
    machine: Machine, function: Function, node: Any, caller: Frame | None
) -> list[Callable[[], None]]:
    """Enters the managers that decorate a function; gives what ends their blocks."""
    from device_lens.interpreter import contexts

    if caller is None:
        return []
    return [contexts.enter(machine, each, node, caller)[1] for each in function.within]


def _run_or_recall(
    machine: Machine,
    function: Function,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    node: Any,
    caller: Frame | None,
    complete: bool = True,
) -> Any:
    omissions = machine.recorder.omissions
    omissions.call(function.node, caller and caller.function and caller.function.node)
    if machine.budget.is_low:
        machine.budget.note("calls were not followed any more: too many steps")
        like = likeness(machine, function, args, kwargs)
        return not_followed(machine, function, args, kwargs, like)
    if not _may_enter(machine, function, args):
        if not machine.symbolic:  # depth bounds all that symbols run; no caller's case is missed
            omissions.leave_out(function.node, machine.path.named, short=False)
        effects.left_out(machine, function, args, kwargs)
        return Unknown(f"{function.name}(…)")
    key = machine.memory.key(machine, function, args, kwargs) if complete else None
    if key is not None:
        known = machine.memory.find(key[0], machine.path)
        if known is not None:
            given, value, _, steps = known
            machine.premises.update(atom for atom, _ in given)
            reports.recalled(machine, steps, caller)
            return machine.memory.recall(value)
    aside = primary(machine.path.named) is False
    counted: Any = counted_as(function, args)
    if machine.in_process or aside:
        counted = counted, PROCESS if machine.in_process else ASIDE
    number = machine.activations[counted] = machine.activations[counted] + 1
    like = likeness(machine, function, args, kwargs)
    often = number > machine.most_activations()
    often = often or machine.spent[counted] > machine.budget.limit(machine.options.max_spent)
    often = often or (aside and not machine.budget.spares())
    numbers = numbers_of((*args, *kwargs.values()))
    if machine.alikes.agree(like, numbers, machine.path):
        spent = machine.spent[counted]
        machine.alikes.asked.setdefault(counted, set()).add(spent)
        if spent > machine.options.min_spent and not often:
            return answered(machine, function, like, short=False)
    if often and not machine.alikes.is_new(counted, like):
        machine.budget.note("functions called very often were not followed each time")
        return not_followed(machine, function, args, kwargs, like)
    journal, path = machine.journal, machine.path
    outside, mark = journal.outside, journal.mark()
    first = len(machine.watched.steps) if machine.watched.open_calls else None
    left = machine.budget.left
    start, born = atoms_before(), moment()
    premises, machine.premises = machine.premises, set()
    try:
        value = _enter(machine, function, args, kwargs, node, caller, complete)
    finally:
        given = tuple(each for each in path.literals if each[0] in machine.premises)
        premises.update(atom for atom, _ in given)
        machine.premises = premises
    machine.spent[counted] += max(left - machine.budget.left, 0)
    if like is not None:
        machine.alikes.followed.setdefault(like, path.named)
    if like is not None and effects.is_creator(function, args):
        machine.alikes.keep_place(like, machine.recorder.module_device(args[0]))
    if journal.outside == outside:
        if machine.path is path and key is not None:
            steps = reports.steps_of_call(machine, first)
            machine.memory.keep(key[0], (given, value, key[1], steps), start)
    elif journal.mark() == mark:
        journal.outside = outside  # all that it wrote is in objects that it made
    if journal.outside == outside and like is not None:
        passes = journal.passing(born)
        machine.alikes.keep(like, numbers, given, value, path.named, start, passes)
    return value


PROCESS = "process"
"""What other processes run is counted under this, apart from what the program runs by itself."""
ASIDE = "aside"
"""What runs with other flags than the declared ones, or without an accelerator, is counted under
this: however much of it there is, the primary case is followed."""


def counted_as(function: Function, args: tuple[Any, ...]) -> Any:
    """What the activations of a function are counted by: a method's for each class apart."""
    if function.owner is not None and args and isinstance(args[0], Instance):
        return function.node, args[0].cls
    return function.node


def _enter(
    machine: Machine,
    function: Function,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    node: Any,
    caller: Frame | None,
    complete: bool,
) -> Any:
    scope = Scope(function.scope, function.namespace.scope.names)
    frame = Frame(function.namespace, scope, function.chunk, function, caller)
    frame.call_site = node
    frame.is_of_one = of_many.is_called_of_one(function, args, node, caller)
    bind(machine, function, args, kwargs, frame, complete)
    mark = machine.journal.mark()
    value = run(machine, function, frame)
    if frame.is_of_one:
        echoes.repeat(machine, mark, args[0], (args[0],))
    machine.journal.settle(mark, scope.born)
    if generators.may_stop_early(function, frame):
        machine.doubt(mark, scope.born)
    return value


def _may_enter(machine: Machine, function: Function, args: tuple[Any, ...]) -> bool:
    stack = machine.stack
    options = machine.options
    if len(stack) >= (machine.unit.symbolic_depth if machine.symbolic else options.max_depth):
        machine.budget.note("calls nested too deep were not followed")
        return False
    same = [each for each in stack if each.function and each.function.node is function.node]
    if len(same) < options.max_same_function:
        return True
    return len(same) < options.max_descent and _descends(function, args, same)


def _descends(function: Function, args: tuple[Any, ...], same: list[Frame]) -> bool:
    """Whether a recursion has come to a module that it has not been at: it ends with its parts."""
    given = zip(function.node.args.args, args, strict=False)
    return any(
        type(value) is ModuleObject
        and not any(each.scope.names.get(parameter.arg) is value for each in same)
        for parameter, value in given
    )


def run(machine: Machine, function: Function, frame: Frame) -> Any:
    """Runs the body in a frame whose parameters are bound: not that of a generator or coroutine
    that is dropped at once."""
    if generators.is_dropped(function, frame):
        return ListObject((), None, "generator", function.node)
    machine.activated.add(function.node)
    machine.unit.entered.add(function.node)
    path = machine.path
    frame.entry_mark = machine.journal.mark()
    machine.stack.append(frame)
    grad, keeps = machine.globals["grad"], False
    try:
        if isinstance(function.node, ast.Lambda):
            machine.budget.spend()
            return machine.evaluate(function.node.body, frame)
        info = scan.function_info(function.node, function.chunk.text)
        frame.scope.outer = info.outer
        if info.generates:
            frame.yields = []
        if info.no_grad:
            machine.journal.write(machine.globals, "grad", False)
        try:
            alive = not machine.execute(function.node.body, frame)
        except Exhausted:
            machine.budget.note(f"`{function.name}` was not run to its end: too many steps")
            machine.recorder.omissions.leave_out(function.node, machine.path.named)
            return Unknown(f"{function.name}(…)")
        keeps = not info.no_grad
        return _result(machine, frame, alive, path)
    finally:
        machine.stack.pop()
        if machine.globals["grad"] is not grad and not keeps:
            machine.journal.write(machine.globals, "grad", grad)


def _result(machine: Machine, frame: Frame, alive: bool, base: Path) -> Any:
    """Merges the ways out of a body."""
    exits = frame.exits
    present = exits.pop() if exits and exits[-1][2] is None else None
    if present is not None:
        machine.path = present[0]
    paths = [(path[0], path[1]) for path in exits]
    if present is not None or alive:
        paths.append((machine.path, present[1] if present else NONE))
    if exits:
        machine.meet(exits, present is not None or alive, frame.entry_mark)
    if not frame.raised:
        machine.path = base
    if frame.yields is not None:
        generator = _generator(machine, frame)
        suspended.suspend(machine, frame, generator)
        if any(path[1] != NONE for path in paths):
            generator.fields[RETURNED] = _returned(paths, base)
        return generator
    if not paths:
        ends = _always_raises(frame) or _is_told_apart(machine, frame)
        return NEVER if ends else Unknown()
    return _returned(paths, base)


def _returned(paths: list[tuple[Path, Any]], base: Path) -> Any:
    ways = Ways([path[0] for path in paths], base)
    return fold([path[1] for path in paths], ways, join_values)


def _always_raises(frame: Frame) -> bool:
    """Whether a body without a way out ends by an exception, and its call with it. One that may
    return by its text does so elsewhere: it rests on what is known of the program's state."""
    node = frame.function.node if frame.function is not None else None
    if not frame.thrown or frame.open_ended or type(node) is not ast.FunctionDef:
        return False
    return scan.never_returns(node)


def _is_told_apart(machine: Machine, frame: Frame) -> bool:
    """Whether a body ends by an assertion in a loop, where a test around it may as well have gone
    the other way: what is counted there tells that a real run does not come here so. What else is
    raised may rest on what other code sets."""
    node = frame.function.node if frame.function is not None else None
    if frame.thrown or not frame.raised or type(node) is not ast.FunctionDef:
        return False
    return any(each.loops and each.open_branches > 0 for each in machine.stack)


def _generator(machine: Machine, frame: Frame) -> ListObject:
    """What a generator yields: one by one up to where a loop or a condition leaves open how many
    there are."""
    items: list[Any] = []
    others: list[Any] = []
    picked = False
    for value, repeated, left_out in frame.yields or ():
        (others if repeated or others else items).append(value)
        picked = picked or left_out
    rest = reduce(join_blind, others) if others else None
    node = frame.function.node if frame.function else None
    found = ListObject(tuple(items), rest, "generator", node)
    whole = all(of_many.is_all_new(each, frame.scope.born) for each in others)
    return lazily.made(machine, keep_any(found, others, picked and not whole, whole))


def bind(
    machine: Machine,
    function: Function,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    frame: Frame,
    complete: bool,
) -> None:
    """Binds arguments to parameters and records what the parameters are."""
    parameters = function.node.args
    names = frame.scope.names
    positional = [*parameters.posonlyargs, *parameters.args]
    left = dict(kwargs)
    defaults = function.defaults
    first_default = len(positional) - len(defaults)
    for index, parameter in enumerate(positional):
        if index < len(args):
            value = args[index]
        elif parameter.arg in left:
            value = left.pop(parameter.arg)
        elif not complete:
            value = of_any_place(kwargs, parameter.arg, index < first_default)
        elif index >= first_default:
            value = defaults[index - first_default]
        else:
            value = Unknown(parameter.arg)
        names[parameter.arg] = _as_declared(value, parameter)
    if parameters.vararg is not None:
        more = tuple(args[len(positional) :])
        rest = None if complete else any_further(kwargs)
        found = TupleValue(more) if complete else ListObject(more, rest, "tuple", parameters)
        names[parameters.vararg.arg] = found
    for parameter, default in zip(parameters.kwonlyargs, function.kw_defaults, strict=False):
        value = left.pop(parameter.arg, MISSING)
        if value is MISSING and default is MISSING:
            value = of_any_name(kwargs, parameter.arg)
        elif value is MISSING:
            value = default if complete else Unknown(parameter.arg)
        names[parameter.arg] = _as_declared(value, parameter)
    if parameters.kwarg is not None:
        rest = None if complete else Unknown()
        names[parameters.kwarg.arg] = DictObject(dict(left), rest, parameters)
    record_parameters(machine, function, frame)
    if positional and function.owner is not None:
        frame.self_value = names[positional[0].arg]


def _as_declared(value: Any, parameter: ast.arg) -> Any:
    """What a parameter is: a value that was but taken for a tensor is the numbers that are
    declared."""
    if type(value) is not Unknown or not value.tensor_evidence:
        return value
    declared = type_hints.of_host(parameter.annotation)
    return value if declared is None else declared


def record_parameters(machine: Machine, function: Function, frame: Frame) -> None:
    parameters = function.node.args
    names = frame.scope.names
    for parameter in (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs):
        value = names[parameter.arg]
        if type(value) is not Const:
            machine.show(parameter, value, frame)
