"""Names that are private to a class: Python calls `self.__x` in the class `C` `self._C__x`. An
object has them under the plain name, unless several of its classes have one that is called so."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue
from device_lens.domain.heap import Instance
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame

_MENTIONED = "_private_names"
"""The entry of a class's node under which the answer is kept, for as long as the node lives."""


def owner_of(receiver: Any, name: str, frame: Frame) -> ClassValue | None:
    """The class whose text reads or sets an attribute by a private name that another class of the
    object has, too; None of all other names."""
    owner = frame.owner
    if owner is None or not _is_private(name):
        return None
    cls = receiver.cls if isinstance(receiver, Instance) else receiver
    if type(cls) is not ClassValue or len(cls.mro) == 1:
        return None
    return owner if sum(name in _mentioned(each.node) for each in cls.mro) > 1 else None


def stored_as(owner: ClassValue, name: str) -> str:
    """What an attribute is called that is private to a class."""
    return f"_{owner.name.lstrip('_')}{name}"


def set_as(receiver: Any, name: str, frame: Frame) -> str:
    """The name under which an attribute is set, or deleted."""
    owner = owner_of(receiver, name, frame)
    return name if owner is None else stored_as(owner, name)


def held_by(owner: ClassValue, receiver: Any, name: str) -> Any:
    """What a class's own text has put under a private name of the class, if nothing else was put
    there; None where it has nothing, or the name is no such one."""
    key = stored_as(owner, name)
    if isinstance(receiver, Instance):
        if key in receiver.fields or receiver.cls.lookup(key) is not None:
            return None
    elif key in receiver.fields:
        return None
    return owner.fields.get(name)


def _mentioned(node: Any) -> frozenset[str]:
    known: frozenset[str] | None = node.__dict__.get(_MENTIONED)
    if known is None:
        known = node.__dict__[_MENTIONED] = frozenset(filter(_is_private, map(_name, walk(node))))
    return known


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    return node.name if is_function else ""  # type: ignore[attr-defined]


def _is_private(name: str) -> bool:
    return name[:2] == "__" and name[-2:] != "__"
