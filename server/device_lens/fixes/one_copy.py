"""Whether one copy does for all iterations of a loop, as far as the text tells."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from device_lens.fixes.bindings import may_be_none
from device_lens.fixes.place import Place
from device_lens.syntax.names import last_name
from device_lens.syntax.sharing import ADDERS, definitions, names_of

_KEEPERS = ADDERS | {"put", "put_nowait", "push"}
"""Methods that keep what they are given."""
_TAKERS = frozenset("cat stack concat concatenate hstack vstack dstack sum max min len zip".split())
"""Calls that read a list and keep nothing of it."""
_LIBRARIES = ("torch", "numpy", "math", "einops", "tqdm", "random", "typing")
"""Packages whose functions write into nothing that they are given, but by a name that says so."""


def suffices(call: Place, loop: Place) -> bool:
    """Whether nothing speaks against one copy: that something keeps each of them, that the loop
    may not run at all where there is nothing to copy, that somebody else runs in between, or that
    code which is not at hand gets the tensor or what has it."""
    function = call.node.func if isinstance(call.node, ast.Call) else None
    receiver = function.value if isinstance(function, ast.Attribute) else None
    if receiver is None or may_be_none(call, call.at(receiver).text):
        return False
    body = list(ast.walk(loop.node))
    if any(isinstance(node, ast.Yield | ast.YieldFrom | ast.Await) for node in body):
        return False
    if any(_is_kept(loop.at(node)) for node in _copies(call, body)):
        return False
    calls = [node for node in body if isinstance(node, ast.Call)]
    known = definitions(call.top_level)
    strange = [node for node in calls if last_name(node.func) not in known]
    names = set(names_of(receiver))
    return not any(_may_change(node, names, call) for node in strange)


def _copies(call: Place, body: list[ast.AST]) -> Iterator[ast.AST]:
    """The call, and the reads of the name that it is bound to."""
    yield call.node
    statement = call.statement.node
    if isinstance(statement, ast.Assign) and statement.value is call.node:
        names = {each.id for each in statement.targets if isinstance(each, ast.Name)}
        for node in body:
            if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load):
                yield node


def _is_kept(copy: Place) -> bool:
    """Whether a value is put where it outlives the iteration."""
    match copy.parent:
        case ast.Call(func=ast.Attribute(attr=method)) as call:
            return method in _KEEPERS and copy.node in call.args
        case ast.Assign(targets=targets) | ast.AnnAssign(target=ast.expr() as targets):
            given = targets if isinstance(targets, list) else [targets]
            return any(isinstance(each, ast.Attribute | ast.Subscript) for each in given)
        case ast.Return() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return True
        case ast.List() | ast.Tuple() | ast.Set() | ast.Dict() as display:
            taker = copy.at(display).parent
            return not (isinstance(taker, ast.Call) and last_name(taker.func) in _TAKERS)
    return False


def _may_change(node: ast.Call, names: set[str], place: Place) -> bool:
    """Whether one of some names may change by a call of code that is not in the file: a function
    that is given it, or a method of what has it."""
    if isinstance(node.func, ast.Attribute):
        owner = ast.unparse(node.func.value)
        return owner != "self" and any(each.startswith(f"{owner}.") for each in names)
    given = (*node.args, *(each.value for each in node.keywords))
    if all(names.isdisjoint(names_of(each)) for each in given):
        return False
    name = last_name(node.func)
    return not hasattr(builtins, name) and _is_imported(place, name)


def _is_imported(place: Place, name: str) -> bool:
    """Whether a name comes from a module of which nothing is known."""
    return any(
        isinstance(node, ast.ImportFrom)
        and (node.level or not (node.module or "").startswith(_LIBRARIES))
        and any((alias.asname or alias.name) == name for alias in node.names)
        for chunk in place.source.chunks
        for node in chunk.body
    )
