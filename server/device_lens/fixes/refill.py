"""The statement that fills a container with what a loop makes of its items."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from device_lens.fixes.bindings import parameters_of
from device_lens.fixes.map_container import PATTERNS, can_write, is_computed
from device_lens.fixes.names import assignable, fresh_letter, loads_behind, words
from device_lens.fixes.owners import is_handed_on, may_be_shared
from device_lens.fixes.place import Place
from device_lens.syntax.walking import walk

_DISPLAYS = (ast.List, ast.Tuple, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

OBJECT = "object"
"""What an object of one of the program's own classes is called, which may have other methods than a
container."""
_SEQUENCES = ("list", "tuple", "named tuple")


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the containers that loops go through."""

    kind_of: Callable[[Place], str | None]
    """What a container is called that a place has: `list`, `tuple`, `named tuple`, `dict`, `own`
    where no display makes one, `tensor`, `object`; None: not known."""
    settable: bool = True
    """Nothing speaks against an assignment to the container."""


@dataclass(frozen=True, slots=True)
class Refill:
    """A statement, and whether it surely does what the loop was to do."""

    text: str
    safe: bool


def refilled(
    iterable: Place, variable: str, key: str | None, moved: str, known: Known
) -> Refill | None:
    """The statement for what a loop over `iterable` binds to `variable`, beside a key or index;
    None where there is none."""
    node = iterable.node
    match node:
        case ast.Tuple() | ast.List():
            return None if key is not None else _unpacked(iterable, node, variable, moved, known)
        case ast.Call(func=ast.Name(id="enumerate"), args=[first, *_]):
            inner = iterable.at(first)
            if key is None or isinstance(first, ast.Call):
                return None
            if key not in words(moved):
                return refilled(inner, variable, None, moved, known)
            return _sequence(inner, f"{key}, {variable} in {iterable.text}", moved, known)
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=[], keywords=[]):
            if method == "values" and key is None:
                key = fresh_letter({variable} | words(moved), "k")
            elif method != "items" or key is None:
                return None
            return _dict(iterable.at(owner), variable, key, moved, known)
        case ast.Call():
            return None
    if key is not None:
        return None
    if known.kind_of(iterable) == "tensor":
        return _tensor(iterable, variable, moved, known)
    return _sequence(iterable, f"{variable} in {iterable.text}", moved, known)


def _unpacked(
    iterable: Place, node: ast.Tuple | ast.List, variable: str, moved: str, known: Known
) -> Refill | None:
    """`x, y = [t.to(d) for t in (x, y)]`."""
    parts = [iterable.at(part) for part in node.elts]
    if len(parts) < 2 or not known.settable or not all(map(assignable, parts)):
        return None
    text = ", ".join(part.text for part in parts)
    return Refill(f"{text} = [{moved} for {variable} in ({text})]", safe=True)


def _tensor(container: Place, variable: str, moved: str, known: Known) -> Refill | None:
    """`x = x.to(d)`, for the rows of a tensor, which move with it."""
    suffix = moved.removeprefix(variable)
    if not suffix.startswith(".") or variable in words(suffix):
        return None
    if not known.settable or not assignable(container):
        return None
    return Refill(f"{container.text} = {container.text}{suffix}", is_plain(container))


def _sequence(container: Place, items: str, moved: str, known: Known) -> Refill | None:
    """A new list or tuple; the same list with new items where another one would be lost to who has
    it too, or cannot be assigned."""
    kind = known.kind_of(container)
    written = kind or "list"
    if written not in _SEQUENCES or not can_write(container, written):
        return None
    new = PATTERNS[written].format(move=moved, container=container.text, items=items)
    if isinstance(container.node, _DISPLAYS):
        return None  # nobody has the list that is written there
    may_assign = known.settable and assignable(container)
    is_list = kind == "list" and not _is_slice(container.node)
    keeps = not may_assign or _is_for_caller(container)
    if is_list and (keeps or may_be_shared(container)):
        return Refill(f"{container.text}[:] = {new}", is_plain(container))
    if not may_assign:
        return None
    safe = kind is not None and is_plain(container)
    safe = safe and (kind == "list" or not is_handed_on(container, functions_keep=False))
    return Refill(f"{container.text} = {new}", safe)


def _dict(container: Place, variable: str, key: str, moved: str, known: Known) -> Refill | None:
    """A new dict, or new values for the same one."""
    if not isinstance(container.node, ast.Name | ast.Attribute | ast.Subscript):
        return None
    kind = known.kind_of(container)
    text = container.text
    items = f"{key}, {variable} in {text}.items()"
    display = PATTERNS["dict"].format(move=moved, key=key, items=items)
    safe = kind not in (None, OBJECT) and is_plain(container)
    fresh = kind == "dict" and known.settable and assignable(container)
    if fresh and not _is_for_caller(container) and not may_be_shared(container):
        return Refill(f"{text} = {display}", safe)
    return Refill(f"{text}.update({display})", safe)


def is_plain(container: Place) -> bool:
    """Whether a container can be written twice: nothing is called to get it."""
    return not any(map(is_computed, walk(container.node)))


def _is_slice(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)


def _is_for_caller(container: Place) -> bool:
    """Whether a function is given a container and does not look at it again: what it does to it is
    done for who calls, whom another one under the name would not reach."""
    node, function = container.node, container.function
    if not isinstance(node, ast.Name) or node.id not in parameters_of(function):
        return False
    return not any(loads_behind(container.statement, node.id))
