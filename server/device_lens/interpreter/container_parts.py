"""Operands that are parts of a module which its owner keeps in a plain list or dict: moves of the
owner miss them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue
from device_lens.domain.heap import DictObject, ListObject, ModuleObject, Parameter, contents
from device_lens.domain.trail import Site, Trail
from device_lens.domain.values import TupleValue
from device_lens.models.torch.parts import all_parts, tensor_in, walk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_PLAIN = (ast.List, ast.Dict, ast.ListComp, ast.DictComp)


def kept_in(machine: Machine, trail: Trail | None) -> Site | None:
    """The `self.name` of a plain list or dict, set up by a module whose method runs and whose
    class the program moves, that holds a module which made what has this history. None where it
    was moved by itself."""
    if trail is None or trail.has_moved:
        return None
    for frame in reversed(machine.stack):
        owner = frame.self_value
        if type(owner) is not ModuleObject or owner.cls not in machine.watched.moved_classes:
            continue
        for name, value in owner.fields.items():
            if any(_made(item, trail) for item in plain_items(value)):
                return _set_up(owner.cls, name)
    return None


def keys_around(machine: Machine, trail: Trail | None) -> frozenset[Any]:
    """The keys of the plain dicts of running modules that hold what has this history."""
    if trail is None:
        return frozenset()
    held = (frame.self_value for frame in machine.stack)
    owners = (owner for owner in held if type(owner) is ModuleObject)
    found = (value for owner in owners for value in owner.fields.values() if keys_of(value))
    return frozenset[Any]().union(
        *(keys_of(each) for each in found if any(_made(item, trail) for item in plain_items(each)))
    )


def keys_of(value: Any) -> frozenset[Any]:
    """The keys of a dict, as far as they are known."""
    return frozenset(value.entries) if type(value) is DictObject else frozenset()


def plain_items(value: Any) -> list[Any]:
    """What a list, tuple or dict holds."""
    plain = type(value) is ListObject and value.kind == "list"
    return contents(value) if plain or type(value) in (DictObject, TupleValue) else []


def _made(item: Any, trail: Trail) -> bool:
    if type(item) is Parameter:
        return _is_of(item.tensor.trail, trail)
    return type(item) is ModuleObject and any(_is_of(known, trail) for known in _trails(item))


def _is_of(known: Trail | None, trail: Trail) -> bool:
    return known is not None and known.first.site == trail.first.site


def _trails(module: ModuleObject) -> Iterator[Trail | None]:
    """The histories of what a module and its parts hold."""
    for _, part in walk(module):
        yield part.trail
    for held in all_parts(module):
        tensor = tensor_in(held.value)
        yield None if tensor is None else tensor.trail


def _set_up(cls: Any, name: str) -> Site | None:
    """Where a class sets the attribute to a new list or dict, or to one that it has filled before:
    where nothing else sets it."""
    found: list[tuple[ast.expr, Site]] = []
    for base in cls.mro if type(cls) is ClassValue else ():
        if type(base) is not ClassValue or not isinstance(base.node, ast.ClassDef):
            continue
        for node in ast.walk(base.node):
            if isinstance(node, ast.Assign):
                target = node.targets[0]
                if isinstance(target, ast.Attribute) and ast.unparse(target) == f"self.{name}":
                    found.append((node.value, Site(base.namespace.path, base.chunk, target)))
    new = (site for value, site in found if isinstance(value, _PLAIN))
    return next(new, found[0][1] if len(found) == 1 else None)
