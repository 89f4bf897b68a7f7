"""`functools.singledispatch` and `singledispatchmethod`: which of several functions a call runs, by
the class of its first argument.

The dispatcher is a `Partial` of a function of its own with a list of pairs of a class and what is
registered for it, of which the first that fits runs; the decorated function is for any object.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue, Function
from device_lens.domain.guard import Guarded
from device_lens.domain.heap import ListObject
from device_lens.domain.values import External, Partial, TupleValue, Unknown
from device_lens.interpreter import annotations as type_hints
from device_lens.interpreter import calls, class_attributes, intrinsics
from device_lens.interpreter.dispatch import INTRINSICS
from device_lens.interpreter.standard_classes import derives_standard
from device_lens.models import registry

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine

_FUNCTION = External("functools.<dispatched>")
_METHOD = External("functools.<dispatched method>")
_REGISTER = External("functools.<register>")
_ANY = External("builtins.object")
MAKERS = {"functools.singledispatch": _FUNCTION, "functools.singledispatchmethod": _METHOD}
"""What decorates a function so, with what is called then."""


def dispatcher(maker: str, function: Any, node: Any) -> Partial:
    """What a decorator makes of the function that runs where no other one fits."""
    registered = ListObject((TupleValue((_ANY, function)),), None, "list", node)
    return Partial(MAKERS[maker], (registered,), {})


def register_of(value: Partial, name: str) -> Partial | None:
    """`dispatcher.register`; None of anything else."""
    if name != "register" or value.function not in (_FUNCTION, _METHOD):
        return None
    return Partial(_REGISTER, (value.args[0],), {})


def bound(value: Partial, receiver: Any) -> Partial | None:
    """A dispatcher of methods as who reads it from an object gets it; None of anything else."""
    if value.function != _METHOD or len(value.args) > 1:
        return None
    return Partial(_METHOD, (*value.args, receiver), {})


def _register(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    """`@f.register`, `@f.register(cls)` or `f.register(cls, function)`."""
    registered, *given = args
    if len(given) == 2:
        _add(machine, registered, *given)
        return given[1]
    if len(given) == 1 and type(given[0]) is Function:
        _add(machine, registered, _declared(machine, given[0], frame), given[0])
        return given[0]
    return Partial(_REGISTER, args, kwargs)


def _declared(machine: Machine, function: Function, frame: Frame) -> Any:
    """The class that a function's first argument is declared to have."""
    parameters = function.node.args.posonlyargs + function.node.args.args
    place = 1 if function.owner is not None and function.kind != "static" else 0
    if len(parameters) <= place:
        return Unknown()
    return type_hints.named_class(machine, parameters[place].annotation, frame)


def _add(machine: Machine, registered: ListObject, cls: Any, function: Any) -> None:
    if type(cls) is TupleValue:
        for each in cls.items:
            _add(machine, registered, each, function)
        return
    known = registered.items
    found = (at for at, pair in enumerate(known) if _derives(cls, _class_of(pair)))
    place = next(found, len(known))
    new = TupleValue((cls, function))
    machine.journal.write(registered.fields, "items", (*known[:place], new, *known[place:]))


def _class_of(pair: Any) -> Any:
    return pair.items[0] if type(pair) is TupleValue else Unknown()


def _derives(cls: Any, base: Any) -> bool:
    """Whether all that is of a class is of another one too, so that the former goes first."""
    if cls == base or base == _ANY:
        return True
    if type(base) is ClassValue:
        return type(cls) is ClassValue and base in cls.mro
    if type(base) is not External:
        return False
    if type(cls) is ClassValue:
        return any(_derives(External(name), base) for name in cls.foreign)
    if type(cls) is not External:
        return False
    return base.name in registry.bases(cls.name) or derives_standard(cls.name, base.name)


def _dispatched(
    place: int,
    machine: Machine,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    node: Any,
    frame: Frame,
) -> Any:
    """A call of a dispatcher, which asks for the class of the argument at a place."""
    registered, *given = args
    pairs = registered.items
    if len(given) <= place or not pairs or any(type(each) is not TupleValue for each in pairs):
        return Unknown()
    whole = type(node) is not ast.Call or not (
        any(type(each) is ast.Starred for each in node.args)
        or any(each.arg is None for each in node.keywords)
    )

    def run(first: Any, function: Any) -> Any:
        put = (*given[:place], first, *given[place + 1 :])
        method = (
            class_attributes.through_instance(machine, put[0], function, node, frame)
            if place
            else function
        )
        return calls.call(machine, method, put[place:], kwargs, node, frame, whole)

    def choose(first: Any, left: tuple[Any, ...]) -> Any:
        if type(first) is Guarded:
            sides = [partial(choose, side, left) for side in (first.yes, first.no)]
            return machine.choose(Guarded(first.atom, True, False), frame, *sides)
        cls, function = left[0].items
        condition = machine.decide(intrinsics.instance_condition(machine, first, cls))
        if condition is True or len(left) == 1:
            return run(first, function)
        if condition is False:
            return choose(first, left[1:])
        one, other = partial(run, first, function), partial(choose, first, left[1:])
        return machine.choose(condition, frame, one, other)

    return choose(given[place], pairs)


INTRINSICS[_FUNCTION.name] = partial(_dispatched, 0)
INTRINSICS[_METHOD.name] = partial(_dispatched, 1)
INTRINSICS[_REGISTER.name] = _register
