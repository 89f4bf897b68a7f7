"""Whether one copy does for all iterations of a loop, as far as the text tells."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterable
from typing import TypeGuard

from device_lens.fixes.bindings import parameters_of
from device_lens.fixes.definitions import definitions_of, functions_of
from device_lens.fixes.early import can_run_above
from device_lens.fixes.place import Place
from device_lens.syntax.gathering import gather
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
    if others_may_write(receiver, call, body) or _is_written(call, copies.holders, body):
        return False
    known = definitions_of(call.source)
    strange = [node for node in calls if last_name(node.func) not in known]
    names = {*names_of(receiver), *copies.holders}
    return not any(_may_change(node, names, call) for node in strange)


def _is_written(call: Place, copies: Collection[str], body: list[ast.AST]) -> bool:
    """Whether the copies go into a list that grows, or what is made of them or called with them may
    write into them: an optimizer, `torch.Tensor.add_(copy, 1)`."""
    for node in body:
        grows = isinstance(node, ast.AugAssign) and isinstance(node.value, ast.List | ast.Tuple)
        if grows and any(part is call.node for part in walk(node)):
            return True
        if isinstance(node, ast.Call):
            name = last_name(node.func)
            if (name.endswith("_") or name[:1].isupper()) and _has_one_of(node, copies):
                return True
    return False


def _has_one_of(call: ast.Call, names: Collection[str]) -> bool:
    """Whether a call is given what one of some names stands for, by itself or in a list or dict
    that is written there."""
    pending: list[ast.AST] = [*call.args, *(each.value for each in call.keywords)]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name) and node.id in names:
            return True
        if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict | ast.Starred):
            pending += ast.iter_child_nodes(node)
    return False


def others_may_write(receiver: ast.expr, place: Place, body: list[ast.AST]) -> bool:
    """Whether what a loop copies may change by another name while it runs. An attribute: a function
    of the file, or the loop, sets one of its name. An item: of what is no list, tuple or dict that
    is written in the file, or is given to a call in the loop. A name: an object was made with what
    it stands for."""
    if others_write(receiver, place, body):
        return True
    everything = [node for statement in place.top_level for node in walk(statement)]
    if isinstance(receiver, ast.Subscript):
        root = {root_name(receiver)}
        is_parameter = not root.isdisjoint(parameters_of(place.function))
        return not (is_parameter or _is_display(root, everything))
    if not isinstance(receiver, ast.Name):
        return False
    if any(_calls_unknown(node, receiver.id) for node in body):
        return True
    made = (each for each in everything if isinstance(each, ast.Call) and _makes_object(each))
    return any(_has_one_of(each, {receiver.id}) for each in made)


def others_write(receiver: ast.expr, place: Place, body: list[ast.AST]) -> bool:
    """Whether a function of the file, or the loop, sets an attribute of that name of some object,
    or a function of the file is given in the loop what has the item that is copied."""
    if isinstance(receiver, ast.Attribute):
        return _is_set(receiver, place, body)
    if not isinstance(receiver, ast.Subscript):
        return False
    known, root = definitions_of(place.source), {root_name(receiver)}
    calls = (node for node in body if isinstance(node, ast.Call) and last_name(node.func) in known)
    return any(_has_one_of(each, root) for each in calls)


def _calls_unknown(node: ast.AST, name: str) -> bool:
    """Whether an item of something, or the result of a call, is called with what has a name."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Subscript | ast.Call):
        return False
    return _has_one_of(node, {name})


def _makes_object(call: ast.Call) -> bool:
    name = last_name(call.func)
    return name[:1].isupper() and name not in _OF_DATA


_OF_DATA = ("DataLoader", "TensorDataset", "Parameter", "Tensor", "FloatTensor", "LongTensor")
"""What is made of tensors and writes into none of them."""


def _is_set(receiver: ast.Attribute, place: Place, body: list[ast.AST]) -> bool:
    """Whether something else than a method that makes its object sets an attribute of that name."""
    own = ast.unparse(receiver)
    by_functions = (
        name
        for statement in place.top_level
        for name in gather(statement, "_set_by_functions", _set_by_functions)
    )
    return receiver.attr in by_functions or any(
        _is_stored(node) and node.attr == receiver.attr and ast.unparse(node) != own
        for node in body
    )


def _set_by_functions(node: ast.AST) -> Iterable[str]:
    """The attributes that a function sets, of whatever object."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name == "__init__":
        return ()
    return [part.attr for part in walk(node) if _is_stored(part)]


def _is_stored(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)


def _is_display(names: set[str], everything: list[ast.AST]) -> bool:
    """Whether a name is bound to lists, tuples and dicts that are written, and to nothing else."""
    values = [
        node.value
        for node in everything
        if isinstance(node, ast.Assign)
        and any(isinstance(each, ast.Name) and each.id in names for each in node.targets)
    ]
    displays = (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp)
    return bool(values) and all(isinstance(each, displays) for each in values)


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
