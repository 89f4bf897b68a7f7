"""Code that does something to objects of its own: a method of one, what `partial` has given it, a
function with objects among its defaults or in the names around it.

Of one that is any of several nobody knows which object it is bound to. What stands for it remembers
them all: where it is called, each of them may have run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from device_lens.domain.code import BoundMethod, ClassValue, Function, Scope
from device_lens.domain.guard import leaves
from device_lens.domain.heap import (
    MISSING,
    DictObject,
    Instance,
    ListObject,
    LocalNames,
    ModuleObject,
)
from device_lens.domain.shallow import shallow
from device_lens.domain.values import WHOLE, BoundExternal, External, Partial, TupleValue, Unknown

ANY_CODE = "<any code>"
"""Under this an unknown that may be any of several functions remembers these."""
MOST_KEPT = 64
"""Functions that are remembered so."""
_READ = "_names_read"
"""The entry of a function's node under which the names are kept that its text reads."""
CODE = (BoundMethod, BoundExternal, Function, Partial)
"""Kinds of code that may be bound to objects."""
_CALLED = (*CODE, External, ClassValue)
_OBJECTS = (Instance, ListObject, DictObject)


def any_of_code(value: Any) -> tuple[Any, ...]:
    """The functions any of which an unknown may be; none of anything else."""
    if type(value) is not Unknown or value.fields is None:
        return ()
    found: tuple[Any, ...] = value.fields.get(ANY_CODE, ())
    return found


def any_code(found: Iterable[Any]) -> Any:
    """What may be any of some values of which one is code that is bound to objects; None where
    there is none. Where all do the same to the same it is one of them."""
    values = [*found]
    if not any(type(each) in CODE or (type(each) is Unknown and each.fields) for each in values):
        return None
    kept: dict[Any, Any] = {}
    for each in values:
        several = any_of_code(each)
        for code in several or (each,):
            if isinstance(code, ModuleObject):
                return None
            called = isinstance(code, _CALLED)
            kept.setdefault(*((_key(code), code) if called else (Unknown, Unknown())))
    if len(kept) > MOST_KEPT or not any(map(is_bound, kept.values())):
        return None
    if len(kept) == 1:
        return next(iter(kept.values()))
    made = Unknown()
    made.parts()[ANY_CODE] = tuple(kept.values())
    return made


def is_bound(code: Any) -> bool:
    """Whether code may do something to objects of its own."""
    return any(True for _ in bound_to(code))


def bound_to(code: Any) -> Iterator[Any]:
    """The objects that code has: what it is called on, what it was given, what its text reads of
    the names of the function around it."""
    for held in _held(code):
        for leaf in leaves(held):
            if isinstance(leaf, CODE):
                yield from bound_to(leaf)
            else:
                yield from _objects(leaf)


def differ_in_objects(left: Function, right: Function) -> bool:
    """Whether two functions of one text were given other objects as defaults."""
    mine, other = ([*_given(each)] for each in (left, right))
    return mine != other and {*map(id, mine)} != {*map(id, other)}


def _given(function: Function) -> Iterator[Any]:
    for held in (*function.defaults, *function.kw_defaults):
        for leaf in leaves(held):
            yield from _objects(leaf)


def _objects(value: Any) -> Iterator[Any]:
    if isinstance(value, _OBJECTS):
        yield value
    elif type(value) is TupleValue:
        for item in value.items:
            yield from _objects(item)
    elif type(value) is Unknown and value.fields is not None and WHOLE in value.fields:
        yield value


def _held(code: Any) -> Iterator[Any]:
    if isinstance(code, BoundMethod | BoundExternal):
        yield code.receiver
    elif isinstance(code, Partial):
        yield code.function
        yield from code.args
        yield from code.kwargs.values()
    elif isinstance(code, Function):
        yield from code.defaults
        yield from (each for each in code.kw_defaults if each is not MISSING)
        yield from _around(code)


def instead(value: Any, done: Any, other: Any) -> Any:
    """A value with another object in the place of one that it is, holds as a tuple, or is bound to;
    the value itself where it does none of these."""
    if value is done:
        return other
    swap = partial(instead, done=done, other=other)
    if type(value) is TupleValue:
        items = tuple(map(swap, value.items))
        return value if _are_same(items, value.items) else TupleValue(items, value.names)
    if isinstance(value, BoundMethod | BoundExternal):
        receiver = swap(value.receiver)
        if receiver is value.receiver:
            return value
        if isinstance(value, BoundMethod):
            return BoundMethod(receiver, value.function)
        return BoundExternal(receiver, value.name)
    if type(value) is Partial:
        function, args = swap(value.function), tuple(map(swap, value.args))
        kwargs = {name: swap(each) for name, each in value.kwargs.items()}
        same = function is value.function and _are_same(args, value.args)
        same = same and _are_same(kwargs.values(), value.kwargs.values())
        return value if same else Partial(function, args, kwargs)
    return _function_instead(value, swap) if type(value) is Function else value


def _function_instead(function: Function, swap: Callable[[Any], Any]) -> Function:
    given = [tuple(map(swap, each)) for each in (function.defaults, function.kw_defaults)]
    scope = function.scope
    around = {}
    if type(scope.names) is LocalNames:
        read = _names_read(function.node) & scope.names.keys()
        around = {name: swap(scope.names[name]) for name in sorted(read)}
        around = {name: each for name, each in around.items() if each is not scope.names[name]}
    same = [*map(_are_same, given, (function.defaults, function.kw_defaults))]
    if all(same) and not around:
        return function
    made = shallow(function)
    made.defaults, made.kw_defaults = given
    if around:
        made.scope = Scope(scope.parent, scope.globals)
        made.scope.names.update({**scope.names, **around})
    return made


def _are_same(left: Iterable[Any], right: Iterable[Any]) -> bool:
    return all(a is b for a, b in zip(left, right, strict=True))


def _around(function: Function) -> Iterator[Any]:
    """What the names are that a function reads from functions around it, other code left out."""
    scope: Scope | None = function.scope
    while scope is not None and type(scope.names) is LocalNames:
        for name in _names_read(function.node):
            found = scope.names.get(name)
            if isinstance(found, (*_OBJECTS, TupleValue)):
                yield found
        scope = scope.parent


def _names_read(node: Any) -> frozenset[str]:
    known: frozenset[str] | None = node.__dict__.get(_READ)
    if known is None:
        known = node.__dict__[_READ] = frozenset(
            each.id
            for each in ast.walk(node)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
        )
    return known


def _key(code: Any) -> Any:
    """What two of them have in common that do the same to the same."""
    if isinstance(code, BoundMethod):
        return id(code.receiver), id(code.function.node), id(code.function.scope.names)
    if isinstance(code, BoundExternal):
        return id(code.receiver), code.name
    if isinstance(code, Partial):
        named = tuple((name, id(each)) for name, each in code.kwargs.items())
        return _key(code.function), tuple(map(id, code.args)), named
    if isinstance(code, Function):
        return id(code.node), id(code.scope.names), tuple(map(id, code.defaults))
    return id(code)
