"""Whether one copy does for all iterations of a loop, as far as the text tells."""

from __future__ import annotations

import ast
import builtins

from device_lens.fixes.definitions import definitions_of, functions_of
from device_lens.fixes.early import can_run_above
from device_lens.fixes.place import Place
from device_lens.syntax.import_statements import bound_names
from device_lens.syntax.keeping import Keeping
from device_lens.syntax.names import last_name, root_name
from device_lens.syntax.sharing import MOVED, names_of
from device_lens.syntax.walking import walk

_LIBRARIES = ("torch", "numpy", "math", "einops", "tqdm", "random", "typing")
"""Packages whose functions write into nothing that they are given, but by a name that says so."""


def suffices(call: Place, loop: Place, left_out: ast.AST | None = None) -> bool:
    """Whether nothing speaks against one copy: that something keeps each of them, that the loop
    may not come to make one, that somebody else runs in between, or that code which is not at hand
    gets the tensor or what has it. `left_out` is an argument that is written otherwise above."""
    function = call.node.func if isinstance(call.node, ast.Call) else None
    receiver = function.value if isinstance(function, ast.Attribute) else None
    if receiver is None or not can_run_above(call, loop, left_out):
        return False
    body = list(walk(loop.node))
    if any(isinstance(node, ast.Yield | ast.YieldFrom | ast.Await) for node in body):
        return False
    copies = _copies(call, loop)
    if copies.keeps({MOVED}):
        return False
    calls = [node for node in body if isinstance(node, ast.Call)]
    known = definitions_of(call.source)
    strange = [node for node in calls if last_name(node.func) not in known]
    names = {*names_of(receiver), *copies.holders}
    return not any(_may_change(node, names, call) for node in strange)


def _copies(call: Place, loop: Place) -> Keeping:
    """What becomes of the copies in the loop."""
    bound = frozenset(
        node.id
        for node in ast.walk(loop.node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    steps = getattr(loop.node, "body", [])
    return Keeping([loop.node], steps, functions_of(call.source), bound, call.node)


def _may_change(node: ast.Call, names: set[str], place: Place) -> bool:
    """Whether one of some names may change by a call of code that is not in the file: a function or
    an object of a class that is given it, or a method of what has it."""
    given = (*node.args, *(each.value for each in node.keywords))
    is_given = any(not names.isdisjoint(names_of(each, place.node)) for each in given)
    if isinstance(node.func, ast.Attribute):
        owner = ast.unparse(node.func.value)
        has = owner != "self" and any(each.startswith(f"{owner}.") for each in names)
        return has or (is_given and _is_of_others(place, root_name(node.func)))
    if not is_given:
        return False
    name = last_name(node.func)
    return not hasattr(builtins, name) and _is_imported(place, name)


def _is_of_others(place: Place, name: str) -> bool:
    """Whether a name stands for what a class or function makes of which nothing is known."""
    if not name:
        return False
    makers = (
        last_name(node.value.func)
        for statement in place.top_level
        for node in walk(statement)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and any(isinstance(each, ast.Name) and each.id == name for each in node.targets)
    )
    return any(_is_imported(place, each) for each in makers)


def _is_imported(place: Place, name: str) -> bool:
    """Whether a name comes from a module of which nothing is known."""
    return any(
        bound == name and not module.startswith(_LIBRARIES)
        for statement in place.top_level
        if isinstance(statement, ast.ImportFrom)
        for module, bound in bound_names(statement)
    )
