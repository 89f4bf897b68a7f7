"""Whether an array that `torch.from_numpy` shows is surely nobody else's, who may write into it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from device_lens.fixes.bound_value import bound_value
from device_lens.fixes.place import Place
from device_lens.syntax.import_statements import bound_names
from device_lens.syntax.names import last_name, root_name
from device_lens.syntax.walking import walk

_FRESH = frozenset(
    """arange array concatenate eye full hstack identity linspace load loadtxt genfromtxt ones rand
    randint randn random normal uniform permutation choice stack vstack zeros""".split()
)
"""Functions that give memory of its own."""
_COPYING = ("copy", "astype")
"""Methods that do, of whatever array."""
_LOOKING = frozenset("shape dtype ndim size nbytes itemsize mean sum max min std var".split())
"""What is read of an array, or asked of it, that neither shows its memory nor writes into it."""


def shown_array(call: Place) -> ast.expr | None:
    """The array that a call such as `torch.from_numpy(array).float().to(device)` shows and moves;
    None where it moves something else."""
    calls = (node for node in walk(call.node) if isinstance(node, ast.Call) and node.args)
    return next((each.args[0] for each in calls if last_name(each.func) == "from_numpy"), None)


def is_alone(call: Place, array: ast.expr) -> bool:
    """Whether the array that a call shows is made by a library for the name that it has, and is
    given to nothing else in the scope of the name."""
    if not isinstance(array, ast.Name):
        return False
    made = bound_value(call.at(array))
    if made is None or not _is_fresh(made.node, _libraries(call)):
        return False
    function = call.function
    roots = call.top_level if function is None else [function]
    nodes = [node for root in roots for node in walk(root)]
    harmless = {id(name) for node in nodes for name in _looked_at(node)}
    return all(id(each) in harmless for each in nodes if _reads(each, array.id))


def _is_fresh(value: ast.AST, libraries: set[str]) -> bool:
    """Whether a value is what a library's function makes anew, or a copy of that."""
    if not isinstance(value, ast.Call):
        return False
    if any(each.arg in (None, "copy", "out") for each in value.keywords):
        return False
    name = last_name(value.func)
    return name in _COPYING or (name in _FRESH and root_name(value.func) in libraries)


def _libraries(place: Place) -> set[str]:
    return {name for statement in place.top_level for _, name in bound_names(statement)}


def _looked_at(node: ast.AST) -> Iterator[ast.expr]:
    """The names of which a node only looks at what they stand for."""
    match node:
        case ast.Call(func=function, args=[first]) if last_name(function) in ("from_numpy", "len"):
            yield first
        case ast.Attribute(value=value, attr=name) if name in _LOOKING:
            yield value


def _reads(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
