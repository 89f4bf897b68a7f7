"""How the methods of a class treat its attributes, told from their text: what they read, assign and
move."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from device_lens.domain.code import ClassValue, Function
from device_lens.syntax.names import last_name, named_by_text, set_by_call
from device_lens.syntax.walking import walk

MOVES = ("to", "cuda", "cpu", "xpu", "to_empty")
_MOVING = (*MOVES, "_apply")
_ASSIGNING = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_REGISTERING = ("add_module", "register_module", "register_parameter", "__setattr__")
_CONTAINERS = ("Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict")
_HELPS_REGISTER = re.compile("_*(add|register)(_|$)")
"""Methods that by their names put into the module what they are given."""
_ANSWER_SELF = (*_MOVING, "half", "float", "double", "bfloat16", "train", "eval")


def changes_kept(statement: Any, name: str) -> bool:
    """Whether a statement that sets an attribute changes in place what it has: `self.x += y`,
    `self.x.requires_grad = False`."""
    if type(statement) is not ast.Assign:
        return type(statement) is ast.AugAssign
    place = getattr(statement.targets[0], "value", None)
    return isinstance(place, ast.Attribute) and place.attr == name


class Usage:
    """How a class's own methods treat one attribute."""

    __slots__ = (
        "assigned_outside_init",
        "copied",
        "in_forward",
        "kept",
        "moved",
        "moved_later",
        "registered",
    )

    def __init__(self) -> None:
        self.in_forward = False
        self.moved = False
        self.assigned_outside_init = False
        self.kept = False
        self.moved_later = False
        self.registered = False
        self.copied: ast.AST | None = None


def usage_of(cls: ClassValue, name: str) -> Usage:
    """Reads, moves and assignments of `self.name` in the methods of a class and its bases."""
    usage = Usage()
    methods = [
        method
        for base in cls.mro
        for method in base.node.body
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    handed_out = [each.name for each in methods if _is_property(each) and name in _mentions(each)]
    for method in methods:
        mentions = _mentions(method).get(name)
        if mentions:
            _in_method(method, methods, mentions, usage)
            usage.registered |= name in _registered(method)
        if method.name in _MOVING and not _mentions(method).keys().isdisjoint(handed_out):
            usage.moved = usage.kept = True
    return usage


def _is_property(method: Any) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "property" for d in method.decorator_list)


def _makes(method: Any, methods: list[Any]) -> bool:
    """Whether a method runs while the module is made, and at no other time: `__init__`, and what
    is the class's own business and called from nowhere else."""
    if method.name == "__init__":
        return True
    callers = [each for each in methods if method.name in _mentions(each)]
    return (
        method.name.startswith("_")
        and bool(callers)
        and all(each.name == "__init__" for each in callers)
    )


def _in_method(method: Any, methods: list[Any], mentions: list[ast.AST], usage: Usage) -> None:
    makes = _makes(method, methods)
    for node in mentions:
        if isinstance(node, _ASSIGNING) or set_by_call(node) is not None:
            if method.name != "__init__":
                usage.assigned_outside_init = True
            values = _values_of(_assigned(node), method)
            if method.name in _MOVING or any(_is_moved(each, methods) for each in values):
                usage.moved = usage.kept = True
                usage.moved_later |= method.name not in ("__init__", "_apply")
        elif isinstance(node, ast.Attribute) or _named_by_getattr(node) is not None:
            if method.name in _MOVING:  # it moves what moves of the module would miss
                usage.moved = usage.kept = True
            elif not makes and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
                usage.in_forward = True
        else:
            usage.moved = True
            if not _keeps_once(method, node):
                usage.copied = node


def _values_of(value: ast.expr | None, method: Any) -> Iterator[ast.expr | None]:
    """What is assigned, and what the method gives the name that it is: `w = self.w.to(d)`, and then
    `self.w = w`."""
    yield value
    if isinstance(value, ast.Name):
        for node in walk(method):
            if isinstance(node, ast.Assign) and any(
                isinstance(each, ast.Name) and each.id == value.id for each in node.targets
            ):
                yield node.value


def _assigned(node: Any) -> ast.expr | None:
    """The value that an assignment gives to an attribute, or `setattr` does."""
    value: ast.expr | None = node.args[2] if isinstance(node, ast.Call) else node.value
    return value


def _keeps_once(method: Any, copy: ast.AST) -> bool:
    """Whether a copy is kept on the module where a test finds none:
    `if self.there is None: self.there = self.mean.to(d)`."""
    for test in walk(method):
        if not isinstance(test, ast.If):
            continue
        asked = {node.attr for node in walk(test.test) if isinstance(node, ast.Attribute)}
        for each in (*test.body, *test.orelse):
            found = not asked.isdisjoint(_kept_in(each))
            if found and any(node is copy for node in walk(each)):
                return True
    return False


def _kept_in(statement: ast.stmt) -> Iterator[str]:
    """The attributes that a statement sets, or puts something into."""
    for target in statement.targets if isinstance(statement, ast.Assign) else ():
        yield _held_by(target)
    by_call = set_by_call(statement.value) if isinstance(statement, ast.Expr) else None
    if by_call is not None:
        yield by_call.attr


def _held_by(target: ast.expr) -> str:
    """The attribute that holds what is assigned: `copies` for `self.copies[device]`."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return target.attr if isinstance(target, ast.Attribute) else ""


def becomes_parameter(function: Function | None, statement: Any, name: str) -> bool:
    """Whether what a statement assigns to `self.name` is a step towards a parameter by that name,
    which is assigned further down the same block."""
    for node in walk(function.node) if function is not None else ():
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and statement in block:
                below = block[block.index(statement) + 1 :]
                return any(_assigns_parameter(each, name) for each in below)
    return False


def _assigns_parameter(statement: Any, name: str) -> bool:
    """`self.name = nn.Parameter(…)`."""
    by_call = set_by_call(statement.value) if isinstance(statement, ast.Expr) else None
    if by_call is not None:
        names, value = [by_call.attr], statement.value.args[2]
    elif isinstance(statement, ast.Assign):
        names, value = [getattr(each, "attr", "") for each in statement.targets], statement.value
    else:
        return False
    return name in names and isinstance(value, ast.Call) and last_name(value.func) == "Parameter"


@lru_cache(maxsize=1024)
def _mentions(method: Any) -> dict[str, list[ast.AST]]:
    """Assignments, reads and moves of attributes of `self` in a method, by attribute. Remembered:
    each attribute of a class asks for all methods of its bases."""
    found: dict[str, list[ast.AST]] = {}
    owners = _names_of_self(method)
    items = dict(_items_of_own(method, owners))
    for node in walk(method):
        for name in dict.fromkeys(_own_names(node, owners)):
            found.setdefault(name, []).append(node)
        moved = _moved_name(node)
        if moved in items:
            found.setdefault(items[moved], []).append(node)
    return found


def _items_of_own(method: Any, owners: set[str]) -> Iterator[tuple[str, str]]:
    """The names that loops give to what they find in an attribute: in `for block in self.blocks`,
    `block` is of `blocks`."""
    for node in walk(method):
        if isinstance(node, ast.For | ast.comprehension):
            for attribute in walk(node.iter):
                for own in _own_names(attribute, owners):
                    for name in walk(node.target):
                        if isinstance(name, ast.Name):
                            yield name.id, own


@lru_cache(maxsize=1024)
def _registered(method: Any) -> frozenset[str]:
    """The attributes whose items a method makes parts of the module one by one:
    `for block in self.blocks: self.add_module(block.name, block)`."""
    owners = _names_of_self(method)
    given = [
        each
        for call in walk(method)
        if isinstance(call, ast.Call) and _registers(call, owners)
        for argument in (*call.args[1:], *(keyword.value for keyword in call.keywords))
        for each in walk(argument)
    ]
    names = {each.id for each in given if isinstance(each, ast.Name)}
    items = {own for item, own in _items_of_own(method, owners) if item in names}
    return frozenset(items.union(*(_own_names(each, owners) for each in given)))


def registers_items(cls: ast.ClassDef, name: str) -> bool:
    """Whether a class makes what its own list or dict of that name holds parts of the module: one
    by one, or by a container of PyTorch's, as in `nn.Sequential(*self.layers)`."""
    methods = [each for each in cls.body if isinstance(each, ast.FunctionDef)]
    return any(name in _registered(each) or name in _contained(each) for each in methods)


@lru_cache(maxsize=1024)
def _contained(method: Any) -> frozenset[str]:
    """The attributes that a method hands to a container of PyTorch's."""
    owners = _names_of_self(method)
    given = (
        argument.value if isinstance(argument, ast.Starred) else argument
        for call in walk(method)
        if isinstance(call, ast.Call) and last_name(call.func) in _CONTAINERS
        for argument in call.args
    )
    return frozenset(name for each in given for name in _own_names(each, owners))


def _registers(call: ast.Call, owners: set[str]) -> bool:
    """Whether a call gives the module a part under a name that is put together."""
    function = call.func
    if isinstance(function, ast.Attribute):
        named = function.attr in _REGISTERING or _HELPS_REGISTER.match(function.attr)
        return bool(named) and _is_self(function.value, owners)
    whole = call.args[0] if call.args else None
    return (
        isinstance(function, ast.Name)
        and function.id == "setattr"
        and isinstance(whole, ast.Name)
        and whole.id in owners
    )


def _moved_name(node: Any) -> str:
    """The name whose value a call moves."""
    named = _is_move(node) and isinstance(node.func.value, ast.Name)
    return str(node.func.value.id) if named else ""


def _is_move(node: Any) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("to", "cuda", "type_as")
    )


def _names_of_self(method: Any) -> set[str]:
    """`self` and what a method names the same module: `module = super().to(device)`."""
    owners = {"self"}
    for node in walk(method):
        if isinstance(node, ast.Assign) and _is_self(node.value, owners):
            owners |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return owners


def _is_self(node: ast.expr, owners: set[str]) -> bool:
    """Whether an expression is the module itself, or a method of it that answers it."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr not in _ANSWER_SELF:
            return False
        node = node.func.value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return node.func.id == "super"
    return isinstance(node, ast.Name) and node.id in owners


def _own_names(node: ast.AST, owners: set[str]) -> Iterator[str]:
    """The attributes of the module that a node assigns, reads or moves."""
    if isinstance(node, ast.Assign):
        places = [*node.targets, *_moved_together(node)]
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        places = [node.target]
    elif isinstance(node, ast.Attribute):
        places = [node]
    elif not isinstance(node, ast.Call):
        return
    elif _named_by_getattr(node) is not None:
        places = [node]
    elif (by_call := set_by_call(node)) is not None:
        places = [by_call]
    elif _is_move(node):
        places = [node.func.value]  # type: ignore[attr-defined]
    else:
        return
    for place in places:
        by_text = _named_by_getattr(place)
        if isinstance(place, ast.Attribute):
            whole, name = place.value, place.attr
        elif by_text is not None:
            whole, name = by_text
        else:
            continue
        if isinstance(whole, ast.Name) and whole.id in owners:
            yield name


def _moved_together(node: ast.Assign) -> Iterator[ast.expr]:
    """What is moved in one assignment: `self.a, self.b = self.a.to(d), self.b.to(d)`."""
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            for place, value in zip(target.elts, node.value.elts, strict=False):
                if _moves(value):
                    yield place


def _named_by_getattr(node: ast.AST) -> tuple[ast.expr, str] | None:
    """`getattr(self, "name")`."""
    return named_by_text(node, "getattr", 2)


def _is_moved(value: ast.expr | None, methods: list[Any]) -> bool:
    """Whether an assigned value is moved, where it is written or in the method that gives it."""
    if value is None:
        return False
    if _moves(value) or _is_made_there(value):
        return True
    called = value.func if isinstance(value, ast.Call) else None
    if not isinstance(called, ast.Attribute) or not isinstance(called.value, ast.Name):
        return False
    return any(each.name == called.attr and _moves(each) for each in methods)


def _is_made_there(value: ast.expr) -> bool:
    """Whether a value is made where a device or another tensor says."""
    if not isinstance(value, ast.Call):
        return False
    name = last_name(value.func)
    if name.endswith("_like") or name.startswith("new_"):
        return True
    given = [each.value for each in value.keywords if each.arg == "device"]
    return bool(given) and not isinstance(given[0], ast.Constant)


def _moves(node: ast.AST) -> bool:
    return any(
        isinstance(n, ast.Call)
        and isinstance(n.func, ast.Attribute)
        and n.func.attr in ("to", "cuda")
        for n in walk(node)
    )
