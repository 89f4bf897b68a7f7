"""One of the items of a container, of which nobody knows which: what is done to it is done to one
of them, and the others stay as they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any

from device_lens.domain.atom import WHICH_ITEM
from device_lens.domain.code import ClassValue, Function
from device_lens.domain.guard import undecided
from device_lens.domain.heap import DictObject, Instance, ListObject, ModuleObject
from device_lens.domain.join import join, join_all
from device_lens.domain.objects import MAX_OBJECTS, any_object, any_one, few_objects
from device_lens.domain.values import TupleValue, Unknown
from device_lens.interpreter import echoes
from device_lens.interpreter.choices import in_loop, tree
from device_lens.interpreter.conditions import asked
from device_lens.interpreter.doings import what_it_does
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.handing_on import Handed, handed_on
from device_lens.interpreter.scan import MUTATORS
from device_lens.interpreter.transfer_facts import MOVES
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


MAX_MODULES = 4
"""Modules, and rows with some, that are told apart where it is not known which of them is meant."""


def item_choice(
    machine: Machine, listed: tuple[Any, ...], index: Any, node: Any, frame: Frame
) -> Any:
    """The item of a list or dict under an index that is not known, where the container holds a few
    objects of the program's classes, or modules or containers of which the statement changes that
    one. Where there are too many of those to tell them apart, where any of them is is not known
    from here on. None where the container holds anything else."""
    held = list({id(each): each for each in listed}.values())
    if len(held) < 2:
        return None
    if all(type(each) is TupleValue for each in held):
        return _any_row(held, node, frame)
    few = few_objects(held)
    if not few:
        many = len(held) > (MAX_MODULES if type(held[0]) is ModuleObject else MAX_OBJECTS)
        handed = Handed.MOVED
        if not _are_changed(machine, held, node, frame):
            handed = _how_handed_on(machine, held, node, frame)
        if handed is Handed.NO:
            return None
        if many:
            return _any_of_many(machine, held, handed)
        few = held
    if in_loop(machine) or type(index) is not Unknown:
        return any_object(few)
    groups = [(value, [value]) for value in few]
    return tree(groups, lambda those: asked(index, ("item", those), WHICH_ITEM))


def _any_row(rows: list[TupleValue], node: Any, frame: Frame) -> Any:
    """One of a few tuples that hold what is told apart: each of its items comes with the others."""
    held = [part for row in rows for part in row.items]
    if len({len(row.items) for row in rows}) > 1:
        return None
    own = any(type(part) is Instance and type(part.cls) is ClassValue for part in held)
    modules = any(type(part) is ModuleObject for part in held)
    if not own and not (modules and _changes(MOVES, node, frame)):
        return None
    if len(rows) > MAX_MODULES:
        return any_one(tuple(rows), join_all(rows))
    return reduce(lambda rest, each: join(undecided(WHICH_ITEM), each, rest), rows)


def _any_of_many(machine: Machine, held: list[Any], handed: Handed) -> Any:
    """One of more than are told apart: what is done to it later may be done to each."""
    if handed is Handed.PERHAPS or all(type(each) is ModuleObject for each in held):
        return any_one(tuple(held), None)
    for each in held:
        echoes.lose(machine, each)
    return Unknown()


def _are_changed(machine: Machine, held: list[Any], node: Any, frame: Frame) -> bool:
    """Whether the present statement, or what is done with the name that it gives to a value,
    changes one of some modules, containers or objects."""
    if all(type(each) is ModuleObject for each in held):
        return _changes(MOVES, node, frame)
    if all(type(each) in (ListObject, DictObject) for each in held):
        return _changes(MUTATORS, node, frame)
    if all(type(each) is Instance and type(each.cls) is ClassValue for each in held):
        methods = {name for each in held for name in _changing_methods(each.cls)}
        return _changes(MOVES | methods, node, frame)
    return False


def _how_handed_on(machine: Machine, held: list[Any], node: Any, frame: Frame) -> Handed:
    """Whether one of some modules or objects is handed on to what may change it."""
    kinds = set(map(type, held))
    if kinds != {ModuleObject} and kinds != {Instance}:
        return Handed.NO
    names = _names_given(node, frame.statement)
    if not names:
        parts = [] if frame.statement is None else [frame.statement]
        return handed_on(machine, parts, lambda each: each is node, frame)
    return handed_on(
        machine,
        _around(frame),
        lambda each: isinstance(each, ast.Name) and each.id in names,
        frame,
    )


def _changing_methods(cls: ClassValue) -> Iterator[str]:
    """The methods of a class, its own and those of its bases, whose text puts something of the
    object elsewhere, or makes it anew."""
    for each in (cls, *(base for base in cls.bases if isinstance(base, ClassValue))):
        for name, value in each.fields.items():
            if type(value) is Function and not isinstance(value.node, ast.Lambda):
                does = what_it_does(value.node)
                if does.moved is not None or does.remade or does.receivers:
                    yield name


def _changes(methods: frozenset[str], node: Any, frame: Frame) -> bool:
    """Whether the present statement calls one of some methods of a value or of a part of it, or
    stores into one, or gives it a name and others do."""
    names = _names_given(node, frame.statement)
    if not names:
        read = () if frame.statement is None else _changed_in(frame.statement, methods)
        return any(value is node for value in read)
    return any(
        isinstance(value, ast.Name) and value.id in names
        for part in _around(frame)
        for value in _changed_in(part, methods)
    )


def _names_given(node: Any, statement: Any) -> set[str]:
    """The names that a statement gives to a value, or that it is given as a part of one."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return {node.id}
    if not isinstance(statement, ast.Assign) or statement.value is not node:
        return set()
    targets = (each for target in statement.targets for each in walk(target))
    return {each.id for each in targets if isinstance(each, ast.Name)}


def _around(frame: Frame) -> list[ast.AST]:
    """The function that runs, or all of its file."""
    if frame.function is not None:
        return [frame.function.node]
    return [statement for chunk in frame.namespace.file.chunks for statement in chunk.body]


def _changed_in(code: ast.AST, methods: frozenset[str]) -> Iterator[ast.expr]:
    """What code calls one of some methods of, or stores into, and what that is a part of."""
    for part in walk(code):
        if isinstance(part, ast.Attribute | ast.Subscript):
            calls = isinstance(part, ast.Attribute) and part.attr in methods
            if calls or not isinstance(part.ctx, ast.Load):
                value = part.value
                yield value
                while isinstance(value, ast.Attribute | ast.Subscript):
                    value = value.value
                    yield value
