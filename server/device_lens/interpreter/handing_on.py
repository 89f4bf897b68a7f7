"""Whether one of several, of which nobody knows which, is handed on to what may do something to it:
as an argument, as a part of something else, as what a function returns."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import TYPE_CHECKING

from device_lens.domain.code import ClassValue, Function
from device_lens.domain.values import External
from device_lens.interpreter.doings import ONLY_READ, what_it_does
from device_lens.interpreter.frames import Frame
from device_lens.syntax.names import last_name
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


class Handed(IntEnum):
    """What may be done to a value that is handed on."""

    NO = 0
    """It is but read."""
    PERHAPS = 1
    """Whoever has it then may do something to it."""
    MOVED = 2
    """It is given to code that moves what it is given, or to a module that it is a part of."""


_KEEPERS = frozenset("append appendleft add put put_nowait insert remove discard index".split())
"""Methods of containers that keep what they are given, or look for it."""
_REGISTERING = frozenset({"add_module", "register_module"})
"""Methods of modules that make what they are given a part of it."""


def handed_on(
    machine: Machine, parts: list[ast.AST], is_it: Callable[[ast.AST], bool], frame: Frame
) -> Handed:
    """What is done by code with a value, which its expressions are told by."""
    found = Handed.NO
    for part in parts:
        for each in walk(part):
            if isinstance(each, ast.Call):
                if any(map(is_it, _given(each))):
                    found = max(found, _by_call(machine, each, frame))
            elif any(map(is_it, _kept(each))):
                found = max(found, Handed.PERHAPS)
    return found


def _given(call: ast.Call) -> Iterator[ast.AST]:
    yield from call.args
    for keyword in call.keywords:
        yield keyword.value


def _kept(node: ast.AST) -> Iterator[ast.AST]:
    """What becomes a part of something else, or of another name, or leaves the function."""
    match node:
        case ast.Return(value=ast.expr() as value) | ast.Yield(value=ast.expr() as value):
            yield value
        case ast.Assign(targets=targets, value=value):
            if any(isinstance(each, ast.Attribute | ast.Subscript) for each in targets):
                yield value
        case ast.List(elts=items, ctx=ast.Load()) | ast.Tuple(elts=items, ctx=ast.Load()):
            yield from items
        case ast.Dict(values=values):
            yield from values
        case ast.ListComp(elt=value) | ast.SetComp(elt=value) | ast.GeneratorExp(elt=value):
            yield value
        case ast.DictComp(value=value):
            yield value


def _by_call(machine: Machine, call: ast.Call, frame: Frame) -> Handed:
    from device_lens.interpreter import expressions

    name = last_name(call.func)
    if isinstance(call.func, ast.Name):
        called = expressions.lookup(machine, name, frame)
        if type(called) is Function:
            return _by_function(called)
        if type(called) is ClassValue:
            return Handed.MOVED
        if type(called) is External or name in ONLY_READ:
            return Handed.MOVED if name[:1].isupper() else Handed.NO
        return Handed.NO
    if name in _KEEPERS:
        return Handed.PERHAPS
    if name[:1].isupper() or name in _REGISTERING:
        return Handed.MOVED
    classes = (*machine.classes.values(), *machine.program.classes.values())
    methods = (cls.fields.get(name) for cls in classes)
    return max(
        (_by_function(each) for each in methods if type(each) is Function), default=Handed.NO
    )


def _by_function(function: Function) -> Handed:
    if isinstance(function.node, ast.Lambda):
        return Handed.PERHAPS
    does = what_it_does(function.node)
    if does.moved is not None or does.receivers or does.remade or does.handed:
        return Handed.MOVED
    return Handed.PERHAPS if does.hands_on else Handed.NO
