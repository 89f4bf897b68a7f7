"""Context managers: what they bind, and what they change while their block runs."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import BoundMethod, ClassValue, Function
from device_lens.domain.device import UNKNOWN_DEVICE, widen_device
from device_lens.domain.guard import Guarded, combine, leaves
from device_lens.domain.heap import HeapObject, Instance, ListObject
from device_lens.domain.libraries import APART
from device_lens.domain.values import FALSE, NONE, DeviceValue, External, Unknown
from device_lens.interpreter import calls, effects, modes, reports, suspended
from device_lens.interpreter.frames import Frame
from device_lens.models import registry
from device_lens.models.torch.autograd import BEFORE
from device_lens.syntax.names import last_name
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

Leave = Callable[[], None]
GRAD_OFF = frozenset({"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad"})
GRAD_ON = frozenset({"torch.enable_grad", "torch.autograd.enable_grad"})
GRAD_SET = frozenset({"torch.set_grad_enabled", "torch.autograd.set_grad_enabled"})
CUDA_DEVICE = frozenset({"torch.cuda.device"})
ENTERS = frozenset(f"contextlib.{kind}.enter_context" for kind in ("ExitStack", "AsyncExitStack"))
CALLBACKS = frozenset(f"contextlib.{kind}.callback" for kind in ("ExitStack", "AsyncExitStack"))
POPS = frozenset(f"contextlib.{kind}.pop_all" for kind in ("ExitStack", "AsyncExitStack"))
CLOSES = frozenset({"contextlib.ExitStack.close", "contextlib.AsyncExitStack.aclose"})
PLACERS = ("device", "init", "meta", "empty", "cuda", "gpu", "materialize")
"""Parts of names of managers that are known to decide where what is made in their blocks goes."""
SWITCHERS = ("grad", "inference", "frozen", "freeze")
"""Parts of names of managers that may decide whether what their blocks compute has a graph."""
EXPECTING = ("raises",)
"""Parts of names of managers of tests whose blocks are to raise."""
_LEAVES = "<leaves>"
"""The field of a stack whose block runs: what ends the managers that it has entered."""


def _nothing() -> None:
    return None


class OwnLeave:
    """The end of a block whose manager is of a class of the program: it may do anything."""

    __slots__ = ("run",)

    def __init__(self, run: Callable[[], Any]) -> None:
        self.run = run

    def __call__(self) -> None:
        self.run()


def enter(machine: Machine, manager: Any, expression: ast.expr, frame: Frame) -> tuple[Any, Leave]:
    """What `as` binds, and what to do when the block ends."""
    if type(manager) is Guarded:
        return _enter_one_of(machine, manager, expression, frame)
    if type(manager) is DeviceValue:
        return manager, _set(machine, "default_device", manager.device)
    if type(manager) is Instance and type(manager.cls) is External:
        return _enter_library(machine, manager, expression, frame)
    if type(manager) is ListObject and manager.kind == "generator":
        from device_lens.interpreter.branches import yielded

        ends = suspended.enter(machine, manager)
        if ends is not None:
            return yielded(manager), OwnLeave(ends)
        effects.moved_around(machine, manager.site, _given(machine, expression, frame))
        return yielded(manager), _nothing
    if isinstance(manager, Instance) and type(manager.cls) is ClassValue:
        return _enter_own(machine, manager, expression, frame)
    if type(manager) is Unknown and not _is_apart(machine, expression, frame):
        return _enter_unknown(machine, manager, expression)
    return manager, _nothing


def _enter_unknown(
    machine: Machine, manager: Unknown, expression: ast.expr
) -> tuple[Unknown, Leave]:
    """What a manager may change of which only the name is known."""
    if _is_named(expression, PLACERS):
        return manager, _set(machine, "default_device", UNKNOWN_DEVICE)
    if _is_named(expression, SWITCHERS):
        return manager, _set(machine, "grad", None)
    if _is_named(expression, EXPECTING):
        return manager, _set(machine, "expecting", True)
    return manager, _nothing


def _is_apart(machine: Machine, expression: ast.expr, frame: Frame) -> bool:
    """Whether a manager is of a library that has nothing to do with PyTorch's tensors."""
    while isinstance(expression, ast.Call | ast.Attribute):
        expression = expression.func if isinstance(expression, ast.Call) else expression.value
    if not isinstance(expression, ast.Name):
        return False
    value = machine.evaluate(expression, frame)
    return type(value) is External and value.name.partition(".")[0] in APART


def may_catch(manager: Any) -> bool:
    """Whether what follows a manager's block may run after an exception in it."""
    if type(manager) is Guarded:
        return any(map(may_catch, leaves(manager)))
    if type(manager) is ListObject:
        return any(isinstance(node, ast.Try | ast.With) for node in walk(manager.site))
    if type(manager) is not Instance:
        return type(manager) is Unknown
    if type(manager.cls) is External:
        name = manager.cls.name.rpartition(".")[2].lower()
        return any(word in name for word in (*EXPECTING, "suppress"))
    leaving = manager.cls.lookup("__exit__")
    if not isinstance(leaving, Function):
        return True
    returns = (node.value for node in walk(leaving.node) if isinstance(node, ast.Return))
    return any(value and getattr(value, "value", True) for value in returns)


def _enter_one_of(
    machine: Machine, tree: Guarded, expression: ast.expr, frame: Frame
) -> tuple[Any, Leave]:
    """One of several managers, such as `torch.device(d) if d else nullcontext()`: what each of them
    would change is changed where it is the one."""
    present = machine.globals["default_device"], machine.globals["grad"]
    placer = _is_named(expression, PLACERS)

    def changes(leaf: Any) -> Any:
        if type(leaf) is DeviceValue:
            return leaf.device, present[1]
        if type(leaf) is Unknown and placer:
            return UNKNOWN_DEVICE, present[1]
        if type(leaf) is Instance and type(leaf.cls) is External:
            if leaf.cls.name in GRAD_OFF | GRAD_ON:
                return present[0], leaf.cls.name in GRAD_ON
            if leaf.cls.name in GRAD_SET:
                return present[0], leaf.fields.get("<enabled>")
        return present

    found = list(leaves(tree))
    if all(changes(leaf) == present for leaf in found):
        if not any(isinstance(leaf, HeapObject) for leaf in found):
            return tree, _nothing  # what `nullcontext` was given
        _, leave_first = enter(machine, found[0], expression, frame)
        return Unknown(), leave_first
    device = widen_device(combine(lambda leaf: changes(leaf)[0], tree))
    grads = {changes(leaf)[1] for leaf in found}
    back = _set(machine, "default_device", device)
    switch = _set(machine, "grad", grads.pop() if len(grads) == 1 else None)

    def leave() -> None:
        switch()
        back()

    return tree, leave


def _is_named(expression: ast.expr, words: tuple[str, ...]) -> bool:
    """Whether the name of a manager that is not seen tells what it may decide: where what is made
    goes, as `init_on_device()`, or whether gradients are kept, as `self.no_grad()`."""
    calls_in = [each.func for each in walk(expression) if isinstance(each, ast.Call)]
    names = [last_name(each) for each in calls_in or [expression]]
    return any(word in name.lower() for name in names for word in words)


def _given(machine: Machine, expression: ast.expr, frame: Frame) -> tuple[Any, ...]:
    """What the names and attributes that a manager's call is given stand for."""
    if not isinstance(expression, ast.Call):
        return ()
    nodes = [*expression.args, *(keyword.value for keyword in expression.keywords)]
    if isinstance(expression.func, ast.Attribute):
        nodes.append(expression.func.value)
    named = (node for node in nodes if isinstance(node, ast.Name | ast.Attribute))
    return tuple(machine.evaluate(node, frame) for node in named)


def _enter_library(
    machine: Machine, manager: Instance, expression: ast.expr, frame: Frame
) -> tuple[Any, Leave]:
    name = manager.cls.name
    if name in GRAD_OFF:
        return manager, _set(machine, "grad", False)
    if name in GRAD_ON:
        return manager, _set(machine, "grad", True)
    if name in GRAD_SET:
        return manager, _set_grad(machine, manager)
    if name in CUDA_DEVICE:
        return manager, _select_cuda(machine, manager, expression, frame)
    if f"{name}.enter_context" in ENTERS:
        return manager, _open_stack(machine, manager)
    value, leave = manager, _nothing
    entering = registry.function(name + ".__enter__")
    if entering is not None:
        value = calls.run_model(
            machine, entering, name + ".__enter__", manager, (), {}, expression, frame
        )
    leaving = registry.function(name + ".__exit__")
    if leaving is not None:
        leave = partial(calls.run_model, machine, leaving, name, manager, (), {}, expression, frame)
    return value, leave


def _open_stack(machine: Machine, stack: Instance) -> Leave:
    if _LEAVES not in stack.fields:
        machine.journal.write(stack.fields, _LEAVES, ())
    return partial(_close_stack, machine, stack)


def _close_stack(machine: Machine, stack: Instance) -> None:
    leaves = stack.fields.get(_LEAVES, ())
    machine.journal.write(stack.fields, _LEAVES, ())
    for each in reversed(leaves if isinstance(leaves, tuple) else ()):
        if callable(each):
            each()


def _popped(machine: Machine, stack: Instance, node: Any) -> Instance:
    """`stack.pop_all()`: another stack, which has what the first would have ended."""
    other = Instance(stack.cls, node)
    machine.journal.write(other.fields, _LEAVES, stack.fields.get(_LEAVES, ()))
    machine.journal.write(stack.fields, _LEAVES, ())
    return other


def by_method(
    machine: Machine,
    receiver: Any,
    name: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    node: Any,
    frame: Frame,
) -> Any:
    """What a call gives that enters or leaves a manager without a `with`; None where it does
    nothing of the kind."""
    if name in ENTERS and args:
        return _entered(machine, receiver, args[0], node, frame)
    if name in CALLBACKS and args:
        return _called_back(machine, receiver, args, kwargs, node, frame)
    if name in POPS and isinstance(receiver, Instance):
        return _popped(machine, receiver, node)
    if name in CLOSES and isinstance(receiver, Instance):
        _close_stack(machine, receiver)
        return NONE
    open_now = machine.globals[_OPEN]
    if not isinstance(open_now, tuple):
        return None
    if name.endswith(".__enter__"):
        value, leave = enter(machine, receiver, getattr(node, "func", node), frame)
        machine.journal.write(machine.globals, _OPEN, (*open_now, (receiver, leave)))
        return value
    last = next((each for each in reversed(open_now) if each[0] == receiver), None)
    if last is None or not callable(last[1]):
        return None
    last[1]()
    kept = tuple(each for each in open_now if each is not last)
    machine.journal.write(machine.globals, _OPEN, kept)
    return FALSE


_OPEN = "entered"
"""The managers that a program has entered by a call of `__enter__`, with what ends each."""


def _entered(machine: Machine, stack: Any, manager: Any, node: Any, frame: Frame) -> Any:
    """`stack.enter_context(manager)`: to the end of the stack's block."""
    leaves = stack.fields.get(_LEAVES, ()) if isinstance(stack, Instance) else None
    if not isinstance(leaves, tuple) or not isinstance(node, ast.Call) or not node.args:
        return Unknown()
    value, leave = enter(machine, manager, node.args[0], frame)
    machine.journal.write(stack.fields, _LEAVES, (*leaves, leave))
    return value


def _called_back(
    machine: Machine, stack: Any, args: Any, kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    """`stack.callback(f, …)`: a call at the end of the stack's block."""
    leaves = stack.fields.get(_LEAVES, ()) if isinstance(stack, Instance) else None
    if isinstance(leaves, tuple):
        leave = OwnLeave(partial(calls.call, machine, args[0], args[1:], kwargs, node, frame))
        machine.journal.write(stack.fields, _LEAVES, (*leaves, leave))
    return args[0]


def _select_cuda(machine: Machine, manager: Any, expression: ast.expr, frame: Frame) -> Leave:
    restore = _set(machine, "current_cuda", manager.fields.get("<device>"))
    close = reports.cuda_block(machine, expression, frame)

    def leave() -> None:
        close()
        restore()

    return leave


def _enter_own(
    machine: Machine, manager: Instance, expression: ast.expr, frame: Frame
) -> tuple[Any, Leave]:
    if not modes.is_moving(manager.cls):
        return _enter_object(machine, manager, expression, frame)
    back = _set(machine, "default_device", UNKNOWN_DEVICE)
    off = _set(machine, modes.STATE, True)
    _, leave = _enter_object(machine, manager, expression, frame)

    def end() -> None:
        leave()
        off()
        back()

    return manager, end


def _enter_object(
    machine: Machine, manager: Instance, expression: ast.expr, frame: Frame
) -> tuple[Any, Leave]:
    entering = manager.cls.lookup("__enter__")
    value: Any = Unknown()
    if isinstance(entering, Function):
        value = calls.call(machine, BoundMethod(manager, entering), (), {}, expression, frame)
    leaving = manager.cls.lookup("__exit__")
    if not isinstance(leaving, Function):
        return value, _nothing
    nothing = (Unknown(), Unknown(), Unknown())
    method = BoundMethod(manager, leaving)
    return value, OwnLeave(partial(calls.call, machine, method, nothing, {}, expression, frame))


def _set_grad(machine: Machine, switch: Instance) -> Leave:
    """Autograd as the switch says, until it is what it was before the switch was made."""
    before = switch.fields.get(BEFORE, machine.globals["grad"])
    machine.journal.write(machine.globals, "grad", switch.fields.get("<enabled>"))
    return lambda: machine.journal.write(machine.globals, "grad", before)


def _set(machine: Machine, name: str, value: Any) -> Leave:
    before = machine.globals[name]
    machine.journal.write(machine.globals, name, value)
    return lambda: machine.journal.write(machine.globals, name, before)
