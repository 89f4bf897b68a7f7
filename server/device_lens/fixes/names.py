"""Names of a file: how it calls a module, where a name is bound, and which names are free."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain

from device_lens.fixes.place import FUNCTIONS, Place
from device_lens.syntax.gathering import always, gather
from device_lens.syntax.names import names_in
from device_lens.syntax.source import SourceFile
from device_lens.syntax.walking import children, walk

_WORD = re.compile(r"\w+")


@lru_cache(maxsize=8)
def name_for(source: SourceFile, module: str) -> str | None:
    """How a file that imports it can write a module such as `torch.nn`; None where it cannot.
    Remembered for the versions of a file that are looked at now: every finding asks."""
    found: list[str] = []
    for chunk in source.chunks:
        for statement in chunk.body:
            found += _imported(statement, module)
    return min(found, key=len) if found else None


def _imported(statement: ast.stmt, module: str) -> Iterator[str]:
    parent, _, last = module.rpartition(".")
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            if alias.name == module:
                yield alias.asname or module
            elif parent and (alias.name == parent or alias.name.startswith(f"{parent}.")):
                yield f"{alias.asname or parent}.{last}" if alias.name == parent else module
    elif isinstance(statement, ast.ImportFrom) and statement.module == parent:
        for alias in statement.names:
            if alias.name == last:
                yield alias.asname or last


def words(text: str) -> set[str]:
    """The words of a source text, names among them."""
    return set(_WORD.findall(text))


def fresh_name(source: SourceFile, wanted: str) -> str:
    """`wanted`, or with a number behind it, so that no word of the file equals it."""
    name, number = wanted, 2
    if name not in source.text:
        return name
    taken = words(source.text)
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


def fresh_letter(taken: set[str], wanted: str) -> str:
    """A short name for a comprehension's variable that is not among those taken."""
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}{number}", number + 1
    return name


def loads(node: ast.AST, name: str) -> list[ast.Name]:
    """The places that read a name."""
    return [
        each
        for each in walk(node)
        if isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load)
    ]


def stores(node: ast.AST, name: str) -> list[ast.AST]:
    """The places that bind or delete a name, those of nested functions included."""
    found = gather(node, "_binders", _binder)
    return [each for each in found if (each.arg if isinstance(each, ast.arg) else each.id) == name]


def _binder(node: ast.AST) -> Iterable[ast.Name | ast.arg]:
    if isinstance(node, ast.Name):
        return () if type(node.ctx) is ast.Load else (node,)
    return (node,) if isinstance(node, ast.arg) else ()


def stored_names(function: ast.AST) -> frozenset[str]:
    """The names that a function and those in it bind or delete, parameters left out."""
    return remembered(function, "_stored_names", _stored)


def _stored(node: ast.AST) -> Iterable[str]:
    return (node.id,) if isinstance(node, ast.Name) and type(node.ctx) is not ast.Load else ()


def stored_items(function: ast.AST) -> frozenset[str]:
    """The names into which a function and those in it put items, or of which they delete some."""
    return remembered(function, "_stored_items", _item_stored)


def _item_stored(node: ast.AST) -> Iterable[str]:
    stores = isinstance(node, ast.Subscript) and type(node.ctx) is not ast.Load
    whole = node.value if stores and isinstance(node, ast.Subscript) else None
    return (whole.id,) if isinstance(whole, ast.Name) else ()


def deleted_names(function: ast.AST) -> frozenset[str]:
    """The names that a function deletes somewhere."""
    return remembered(function, "_deleted_names", _deleted, own=True)


def _deleted(node: ast.AST) -> Iterable[str]:
    return (node.id,) if isinstance(node, ast.Name) and type(node.ctx) is ast.Del else ()


def stored_attributes(function: ast.AST) -> frozenset[str]:
    """The attributes, of anything, that a function binds."""
    return remembered(function, "_stored_attributes", _attribute_stored)


def _attribute_stored(node: ast.AST) -> Iterable[str]:
    return (node.attr,) if isinstance(node, ast.Attribute) and type(node.ctx) is ast.Store else ()


Read = Callable[[ast.AST], Iterable[str]]
"""Gives the names that a node itself has of some kind."""


def remembered(function: ast.AST, name: str, read: Read, own: bool = False) -> frozenset[str]:
    """What is read of the nodes of a function; with `own` without those of functions in it. A
    finding asks for one function and many names. It stays with the node, under a `name` with an
    underscore, and what is in each statement with that (`gathering.py`)."""
    known: frozenset[str] | None = function.__dict__.get(name)
    if known is None:
        enters = _is_no_function if own else always
        parts = (gather(each, f"{name}_within", read, enters) for each in children(function))
        known = function.__dict__[name] = frozenset(chain.from_iterable(parts))
    return known


def _is_no_function(node: ast.AST) -> bool:
    return not isinstance(node, FUNCTIONS)


def assignable(place: Place) -> bool:
    """Whether `… = value` can rebind the expression here and mean the same thing: a name must be
    of this function, since an assignment would make a global one local, or an attribute of the
    class whose body it stands in."""
    node = place.node
    if isinstance(node, ast.Attribute | ast.Subscript):
        return True
    if not isinstance(node, ast.Name):
        return False
    function = place.function
    if class_lacks(place, node.id):
        return False
    return function is None or is_local(function, node.id)


def class_lacks(place: Place, name: str) -> bool:
    """Whether a place belongs to the body of a class that has not bound a name above it: an
    assignment there gives the class an attribute."""
    around = (each for each in place.ancestors() if isinstance(each, (*FUNCTIONS, ast.ClassDef)))
    owner = next(around, None)
    if not isinstance(owner, ast.ClassDef):
        return False
    start = place.statement.range.start
    above = (each for each in owner.body if place.at(each).range.start < start)
    return not any(_assigns(each, name) for each in above)


def _assigns(statement: ast.stmt, name: str) -> bool:
    if isinstance(statement, ast.AnnAssign) and statement.value is None:
        return False
    return isinstance(statement, ast.Assign | ast.AnnAssign) and bool(stores(statement, name))


def is_local(function: ast.AST, name: str) -> bool:
    """Whether an assignment in the function rebinds what the name is there."""
    if isinstance(function, ast.Lambda):
        return False
    return name in remembered(function, "_bound_names", _bound, own=True)


def _bound(node: ast.AST) -> Iterable[str]:
    """The names that a node binds or declares."""
    if isinstance(node, ast.Global | ast.Nonlocal):
        return node.names
    if isinstance(node, ast.Name):
        return (node.id,) if type(node.ctx) is ast.Store else ()
    return (node.arg,) if isinstance(node, ast.arg) else ()


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions in it."""
    stack = children(function)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, FUNCTIONS):
            stack += children(node)


def loads_behind(place: Place, name: str) -> Iterator[Place]:
    """Where the same function (or the module level) reads a name below the given statement."""
    end, function = place.range.end, place.function
    if function is not None:
        places: Iterable[Place] = (place.at(node) for node in loads(function, name))
    else:
        places = (
            Place(place.source, chunk, node)
            for chunk in place.source.chunks
            for statement in chunk.body
            for node in loads(statement, name)
        )
    for each in places:
        if each.range.start >= end and not of_comprehension(each, name):
            yield each


def of_comprehension(place: Place, name: str) -> bool:
    """Whether a comprehension around the place has the name as its variable."""
    return any(
        name in names_in(generator.target)
        for node in place.ancestors()
        for generator in getattr(node, "generators", ())
    )
