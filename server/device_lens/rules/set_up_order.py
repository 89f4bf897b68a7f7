"""What an object has by when: what its set-up binds before it runs a method, and what after."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from device_lens.fixes.definitions import classes_of
from device_lens.fixes.names import stored_attributes
from device_lens.fixes.place import Place
from device_lens.syntax.names import last_name
from device_lens.syntax.walking import walk

_IN_USE = frozenset(
    "forward __call__ training_step validation_step test_step predict_step step train_step".split()
)
"""Methods that no set-up calls."""
_SET_UP = ("__init__", "__post_init__", "setup")


def is_set_up(function: ast.AST | None) -> TypeGuard[ast.FunctionDef]:
    return isinstance(function, ast.FunctionDef) and function.name in _SET_UP


def is_set_once(attribute: str, owner: ast.ClassDef) -> bool:
    """Whether nothing but what sets the object up binds an attribute, nor those that a property of
    that name reads; one that can be set is not."""
    methods = [each for each in owner.body if isinstance(each, ast.FunctionDef)]
    read = {attribute}
    for method in methods:
        if method.name == attribute:
            if any(last_name(each) == "setter" for each in method.decorator_list):
                return False
            read |= {each.attr for each in walk(method) if isinstance(each, ast.Attribute)}
    later = (stored_attributes(each) for each in methods if not is_set_up(each))
    return read.isdisjoint(name for stored in later for name in stored)


def runs_in_set_up(function: ast.AST, owner: ast.ClassDef) -> bool:
    """Whether a method sets its object up, or one that does so calls it."""
    return is_set_up(function) or any(_calls_in_set_up(function, owner))


def _calls_in_set_up(function: ast.AST, owner: ast.ClassDef) -> Iterator[list[ast.stmt]]:
    """The statements of methods that set up the object, from the first up to one that names the
    function."""
    name = getattr(function, "name", None)
    for method in owner.body:
        body = method.body if is_set_up(method) else []
        for index, statement in enumerate(body):
            if any(isinstance(n, ast.Attribute) and n.attr == name for n in ast.walk(statement)):
                yield body[: index + 1]


def is_there(attribute: str, function: ast.AST, owner: ast.ClassDef) -> bool:
    """Whether an attribute is bound before a method runs, as far as the object's set-up says."""
    if is_set_up(function):
        return False
    return all(
        any(attribute == target.attr for each in before[:-1] for target in _attributes(each))
        for before in _calls_in_set_up(function, owner)
    )


def is_there_for_bases(attribute: str, function: ast.AST, place: Place) -> bool:
    """Whether an attribute is bound before the set-up of a base class runs a method, which may be
    one that its class overrides. Of a base that the file does not tell of nobody knows what it
    calls, but that it is no method in which an object is used."""
    seen = [] if place.owner is None else [place.owner]
    for base in (base for owner in seen for base in owner.bases):
        name = last_name(base)
        found = classes_of(place.source).get(name)
        if found is None and not name.endswith(("Module", "object")):
            if getattr(function, "name", "") not in _IN_USE:
                return False
        elif found is not None and found not in seen:
            seen.append(found)
            if not is_there(attribute, function, found):
                return False
    return True


def is_bound_too_late(
    attribute: str, theirs: ast.AST | None, function: ast.AST, owner: ast.ClassDef
) -> bool:
    """Whether `theirs`, which sets the object up, binds an attribute only after it has begun to run
    `function`: itself, which nothing read the attribute in before, or a method that it calls."""
    if not is_set_up(theirs) or attribute not in stored_attributes(theirs):
        return False
    return theirs is function or not (is_set_up(function) or is_there(attribute, function, owner))


def _attributes(statement: ast.stmt) -> Iterator[ast.Attribute]:
    """The attributes that a plain assignment binds."""
    for target in statement.targets if isinstance(statement, ast.Assign) else ():
        yield from (node for node in ast.walk(target) if isinstance(node, ast.Attribute))
