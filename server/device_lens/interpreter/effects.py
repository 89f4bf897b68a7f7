"""Objects that a function moves in place to which they are given.

What a function does that is not followed, since it is called too deep or too often, may be done:
where the objects are is then not known.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from device_lens.domain.code import ClassValue, Function
from device_lens.domain.device import UNKNOWN_DEVICE, DeviceTree
from device_lens.domain.guard import combine, leaves
from device_lens.domain.heap import (
    DictObject,
    Instance,
    ListObject,
    ModuleObject,
    Parameter,
    contents,
)
from device_lens.domain.parameters import members
from device_lens.domain.values import WHOLE, Tensor, TupleValue, Unknown
from device_lens.interpreter import module_facts, reports
from device_lens.interpreter.machine import Machine
from device_lens.models import registry
from device_lens.models.torch import module as torch_module
from device_lens.models.torch.parts import walk
from device_lens.syntax.statements import child_statements
from device_lens.syntax.walking import walk as walk_tree

_MOVES = "_moves_arguments"
_MOVED_IN = "_moved_in"
_HANDS_ON = "_hands_arguments_on"
_RECEIVERS = "_moved_names"
_REMADE = "_remade_attributes"
_OWN_CALLS = "_own_methods_called"
"""The entries of a node under which answers are kept, for as long as the node lives."""
MOST_METHODS = 32
"""Methods whose texts are read for what one call may do."""
_HANDING_OUT = frozenset("items values get pop".split())
CHANGERS = frozenset("apply setattr register_buffer".split())
"""Methods and functions that put another value into what they are called of."""
MOVERS = CHANGERS | frozenset("to cuda cpu xpu mtia to_empty".split())
"""Those, and what moves a module in place."""
_OBJECTS = (ModuleObject, Parameter, Instance, DictObject)
_SEEN = sys.stdlib_module_names | {"builtins", "numpy", "torch"}
"""Packages whose classes are known for modules where they are."""
_OF_MODULES = tuple(f"torch.{name}." for name in "ao distributed fx jit nn quantization".split())
"""Where PyTorch has modules of its own that are not all known."""
ONLY_READ = frozenset(
    "print len isinstance id type str repr getattr hasattr list tuple sum".split()
)
"""Functions that leave what they are given where it is."""


def objects(items: tuple[Any, ...]) -> Iterator[Any]:
    """What can be moved in place among some items, and in their tuples."""
    for item in items:
        if isinstance(item, _OBJECTS):
            yield item
        elif type(item) is TupleValue:
            yield from objects(item.items)


def forget(machine: Machine, items: tuple[Any, ...]) -> None:
    """After passes that stood for many items: where the modules and parameters among them are now
    is not known."""
    for item in objects(items):
        if isinstance(item, ModuleObject):
            torch_module.lose(machine, item)
        elif type(item) is Parameter:
            for each in members(item):
                if "tensor" in each.fields:
                    lost = each.tensor.with_(device=UNKNOWN_DEVICE, trail=None)
                    machine.journal.write(each.fields, "tensor", lost)


def left_out(
    machine: Machine,
    function: Function,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    place: DeviceTree | None = UNKNOWN_DEVICE,
) -> None:
    """A call is not followed: it is given its arguments as code that is not seen, and what its
    text may move is somewhere unknown. If it makes the parts of a module, they are at `place`
    (None: there are none)."""
    attributes, hands_on, receivers, remade, _ = _what_they_do(machine, function, args)
    if is_creator(function, args) and place is not None:
        _hide_parts(machine, args[0], place)
    values = (*args, *kwargs.values())
    parameters = (each.arg for each in (*function.node.args.posonlyargs, *function.node.args.args))
    named = {**kwargs, **dict(zip(parameters, args, strict=False))}
    forget(machine, tuple(named[name] for name in sorted(receivers & named.keys())))
    _lose_attributes(machine, values, remade)
    if attributes is None and not hands_on:
        reports.escaped(machine, values)  # whatever its name says: its text moves nothing
        return
    machine.escape(values, {}, function.name)
    if attributes is None:
        return
    for value in values:
        items = tuple(contents(value)) if type(value) in (ListObject, DictObject) else (value,)
        forget(machine, items)
    _lose_attributes(machine, values, attributes)


def _lose_attributes(machine: Machine, values: tuple[Any, ...], attributes: frozenset[str]) -> None:
    """What some attributes of objects are is not known any more."""
    for value in values:
        if isinstance(value, Instance):
            for name in attributes & value.fields.keys():
                machine.journal.write(value.fields, name, Unknown(name))


def is_creator(function: Function, args: tuple[Any, ...]) -> bool:
    """Whether a call makes the parts of a module."""
    return function.name == "__init__" and bool(args) and isinstance(args[0], ModuleObject)


def _hide_parts(machine: Machine, module: ModuleObject, place: DeviceTree) -> None:
    """What makes a module's parts is not followed: it has some that nobody lists. One without parts
    would be nowhere, and would agree with any device that the expression has in other calls."""
    machine.journal.write(module.own, "opaque", True)
    if place == UNKNOWN_DEVICE:
        torch_module.lose(machine, module)
    else:
        machine.journal.write(module.own, "device", place)


def held_by(function: Any, node: Any) -> Any:
    """The modules that a method of a mapping which is not seen may hand out: `nets.items()`."""
    if type(function) is not Unknown or function.fields is None or not isinstance(node, ast.Call):
        return ()
    hands_out = getattr(node.func, "attr", "") in _HANDING_OUT
    return function.fields.get(WHOLE, ()) if hands_out else ()


def unseen(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], whole: Any = ()) -> Unknown:
    """What code that is not seen answers. If its name is that of a class, the answer may hold the
    modules that it was given."""
    made = Unknown(f"{name}(…)" if name else "")
    is_class = name.rpartition(".")[2][:1].isupper()
    held = torch_module.given(args, kwargs) if is_class else whole
    if held:
        made.parts()[WHOLE] = held
    return made


def unseen_module(
    machine: Machine, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any
) -> ModuleObject:
    """A module of a class that is not seen, which may hold the modules that it was given."""
    module = ModuleObject(cls, node)
    machine.journal.write(module.own, "opaque", True)
    held = torch_module.given(args, kwargs)
    if held:
        machine.journal.write(module.own, torch_module.HELD, held)
    return module


def lose_parts(machine: Machine, instance: Instance) -> None:
    """Code that is not seen may have moved what an object holds, if it has bases that are not
    seen: perhaps it is a module."""
    if type(instance.cls) is not ClassValue or not _has_unseen_base(machine, instance.cls):
        return
    for name, value in list(instance.fields.items()):
        for leaf in leaves(value):
            if type(leaf) is Parameter:
                forget(machine, (leaf,))
            elif isinstance(leaf, ModuleObject):
                torch_module.lose(machine, leaf)
                for _, part in walk(leaf):
                    module_facts.forget_moved_later(machine, part)
        if any(type(leaf) is Tensor for leaf in leaves(value)):
            machine.journal.write(instance.fields, name, combine(_elsewhere, value))


def _elsewhere(value: Any) -> Any:
    return value.with_(device=UNKNOWN_DEVICE) if type(value) is Tensor else value


def _has_unseen_base(machine: Machine, cls: ClassValue) -> bool:
    return any(
        (name.partition(".")[0] not in _SEEN or name.startswith(_OF_MODULES))
        and not registry.bases(name)
        and machine.foreign_class(name) is None
        for name in cls.foreign
    )


def moved_around(machine: Machine, generator: Any, values: tuple[Any, ...]) -> None:
    """A generator is a context manager, and has been run to its end: what it moves before the block
    and puts back after it is somewhere unknown in between."""
    if isinstance(generator, ast.FunctionDef) and moved_by(generator) is not None:
        forget(machine, values)


def moved_by(node: Any) -> frozenset[str] | None:
    """The attributes that a function puts elsewhere; None where it moves nothing in place."""
    known: frozenset[str] | None = node.__dict__.get(_MOVES, _NOT_READ)
    if known is _NOT_READ:
        names = frozenset(argument.arg for argument in (*node.args.args, *node.args.kwonlyargs))
        body = [] if isinstance(node, ast.Lambda) else node.body
        each = [_moved_in(statement, names) for statement in body]
        in_place = any(moves for moves, _ in each)
        known = frozenset().union(*(attributes for _, attributes in each)) if in_place else None
        node.__dict__[_MOVES] = known
    return known


def _moved_in(node: ast.stmt, names: frozenset[str]) -> tuple[bool, frozenset[str]]:
    """Whether a statement of a function with some parameters moves anything in place, and which
    attributes it puts elsewhere; remembered with it, since typing leaves most as they are."""
    known: tuple[frozenset[str], tuple[bool, frozenset[str]]] | None = node.__dict__.get(_MOVED_IN)
    if known is None or known[0] != names:
        inner = [node, *_statements(node)]
        places = [place for each in inner for place in _places_moved(each)]
        in_place = bool(places) or any(_is_in_place(each, names) for each in inner)
        attributes = (place.attr for place in places if isinstance(place, ast.Attribute))
        known = node.__dict__[_MOVED_IN] = names, (in_place, frozenset(attributes))
    return known[1]


class Doings(NamedTuple):
    """What a function may do to its arguments."""

    moved: frozenset[str] | None
    """The attributes that it puts elsewhere (`moved_by`)."""
    hands_on: bool
    """Whether it hands arguments on."""
    receivers: frozenset[str]
    """The names that it moves."""
    remade: frozenset[str]
    """The attributes that it makes anew."""
    own_calls: frozenset[str]
    """The methods that it calls of its own object."""


def _what_they_do(machine: Machine, function: Function, args: tuple[Any, ...]) -> Doings:
    """What a function does, with the methods that it calls of its own object."""
    all_of_them = _what_one_does(machine, function)
    own = args[0] if args and function.owner is not None else None
    if not isinstance(own, Instance) or type(own.cls) is not ClassValue:
        return all_of_them
    moved, hands_on, receivers, remade, _ = all_of_them
    seen = {function.node}
    pending = [all_of_them]
    while pending and len(seen) < MOST_METHODS:
        for name in sorted(pending.pop().own_calls):
            method = own.cls.lookup(name)
            if type(method) is not Function or method.node in seen:
                continue
            seen.add(method.node)
            one = _what_one_does(machine, method)
            pending.append(one)
            if one.moved is not None:
                moved = one.moved | (moved or frozenset())
            if _first(method.node) in one.receivers:
                receivers |= {_first(function.node)}
            remade |= one.remade
    return Doings(moved, hands_on, receivers, remade, all_of_them.own_calls)


def _what_one_does(machine: Machine, function: Function) -> Doings:
    answer = _what_it_does(function.node)
    machine.unit.weighed[function.node] = _what_it_does, answer
    return answer


def _what_it_does(node: Any) -> Doings:
    own_calls = _own_calls(node)
    return Doings(moved_by(node), _hands_on(node), _receivers(node), _remade(node), own_calls)


def _first(node: Any) -> str:
    """The name of a function's first parameter."""
    names = (*node.args.posonlyargs, *node.args.args)
    return names[0].arg if names else ""


def _own_calls(node: Any) -> frozenset[str]:
    """The methods that a method calls of its own object."""
    known: frozenset[str] | None = node.__dict__.get(_OWN_CALLS)
    if known is None:
        first = _first(node)
        called = (each.func for each in walk_tree(node) if isinstance(each, ast.Call))
        known = node.__dict__[_OWN_CALLS] = frozenset(
            each.attr
            for each in called
            if isinstance(each, ast.Attribute) and getattr(each.value, "id", None) == first
        )
    return known


def _remade(node: Any) -> frozenset[str]:
    """The attributes that a function gives what a call makes of them: `self.mask = on(self.mask)`.
    The call may move them, whatever its name is."""
    known: frozenset[str] | None = node.__dict__.get(_REMADE)
    if known is None:
        known = node.__dict__[_REMADE] = frozenset(
            target.attr
            for each in walk_tree(node)
            if isinstance(each, ast.Assign)
            for target in each.targets
            if isinstance(target, ast.Attribute) and _is_given(each.value, target)
        )
    return known


def _is_given(value: ast.expr, place: ast.Attribute) -> bool:
    """Whether a call in an expression is given what an attribute holds."""
    text = ast.unparse(place)
    return any(
        isinstance(given, ast.Attribute) and given.attr == place.attr and ast.unparse(given) == text
        for call in walk_tree(value)
        if isinstance(call, ast.Call)
        for given in (*call.args, *(keyword.value for keyword in call.keywords))
    )


def _receivers(node: Any) -> frozenset[str]:
    """The names of which a function calls what moves a module in place, whatever it does with the
    result (`return model.to(device)`)."""
    known: frozenset[str] | None = node.__dict__.get(_RECEIVERS)
    if known is None:
        called = (each.func for each in walk_tree(node) if isinstance(each, ast.Call))
        known = node.__dict__[_RECEIVERS] = frozenset(
            each.value.id
            for each in called
            if isinstance(each, ast.Attribute)
            and each.attr in MOVERS
            and isinstance(each.value, ast.Name)
        )
    return known


def _hands_on(node: Any) -> bool:
    """Whether a function gives an argument of its own to a call that may do more than read it."""
    known: bool | None = node.__dict__.get(_HANDS_ON)
    if known is None:
        names = {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)}
        calls = (each for each in walk_tree(node) if isinstance(each, ast.Call))
        known = node.__dict__[_HANDS_ON] = any(_is_given_on(call, names) for call in calls)
    return known


def _is_given_on(call: ast.Call, names: set[str]) -> bool:
    values = (*call.args, *(keyword.value for keyword in call.keywords))
    given = any(isinstance(each, ast.Name) and each.id in names for each in values)
    return given and getattr(call.func, "id", "") not in ONLY_READ


_NOT_READ: Any = frozenset({"not read"})


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Every statement inside a node."""
    for each in child_statements(node):
        yield each
        yield from _statements(each)


def _places_moved(node: ast.stmt) -> list[ast.expr]:
    """The attributes and items that a statement assigns something moved to, and those that it gives
    other data."""
    if not isinstance(node, ast.Assign):
        return []
    places: list[ast.expr] = [
        each for each in node.targets if isinstance(each, ast.Attribute | ast.Subscript)
    ]
    given_data = [
        each.value for each in places if isinstance(each, ast.Attribute) and each.attr == "data"
    ]
    if given_data and not isinstance(node.value, ast.Constant):
        return given_data
    moves = places and any(
        isinstance(each, ast.Call) and getattr(each.func, "attr", "") in MOVERS
        for each in walk_tree(node.value)
    )
    return places if moves else []


def _is_in_place(node: ast.stmt, names: frozenset[str]) -> bool:
    """Whether a statement is a call that moves its receiver, or hands an argument on."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    call = node.value
    if isinstance(call.func, ast.Attribute):
        return call.func.attr in MOVERS
    handed_on = any(isinstance(each, ast.Name) and each.id in names for each in call.args)
    return handed_on and getattr(call.func, "id", "") not in ONLY_READ
