"""Whether a name has a value at a place, whichever way the program got there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from device_lens.fixes.names import deleted_names, is_local, stores
from device_lens.fixes.place import FUNCTIONS, Place
from device_lens.syntax.import_statements import bound_names
from device_lens.syntax.names import names_in

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def surely_bound(place: Place, name: str) -> bool:
    """Whether a name has a value whenever the place runs: a parameter, a binding further up that
    no branch skips, or a name of the file's top level; and nothing has deleted it since."""
    function = place.runner
    if _is_deleted(place, function, name):
        return False
    if function is None:
        return any(
            _binds(chunk_node, name)
            for chunk in place.source.chunks
            for chunk_node in chunk.body
            if place.source.range(chunk, chunk_node).end <= place.statement.range.start
        ) or _bound_around(place, name)
    if name in parameters_of(function):
        return True
    if isinstance(function, ast.Lambda) or not is_local(function, name):
        return _bound_outside(place, function, name)
    return _bound_around(place, name)


def _is_deleted(place: Place, function: ast.AST | None, name: str) -> bool:
    """Whether what stands last above the place and binds or deletes a name deletes it."""
    if function is not None:
        deleted = name in deleted_names(function)
        around = [place.at(node) for node in stores(function, name)] if deleted else []
    else:
        top = [(chunk, node) for chunk in place.source.chunks for node in chunk.body]
        deleted = any(isinstance(node, ast.Delete) and stores(node, name) for _, node in top)
        around = [
            Place(place.source, chunk, node)
            for chunk, statement in (top if deleted else ())
            for node in stores(statement, name)
        ]
    start = place.range.start
    above = [each for each in around if each.range.start < start]
    last = max(above, key=lambda each: each.range.start, default=None)
    return last is not None and isinstance(getattr(last.node, "ctx", None), ast.Del)


def parameters_of(function: ast.AST | None) -> set[str]:
    """The names of a function's parameters."""
    given = getattr(function, "args", None)
    if not isinstance(given, ast.arguments):
        return set()
    listed = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
    return {each.arg for each in listed if each is not None}


def means_the_same(name: str, first: Place, second: Place) -> bool:
    """Whether a name that the first place reads can be read at the second and is the same variable:
    one of their function, or one of the top level for both."""
    if not surely_bound(second, name):
        return False
    if first.function is second.function:
        return True
    functions = (first.function, second.function)
    return not any(each is not None and is_local(each, name) for each in functions)


def _bound_around(place: Place, name: str) -> bool:
    """Whether the blocks around the place bind the name above it, or a loop or `with` does."""
    above = place.above
    node: ast.AST = place.statement.node
    while True:
        parent = above.get(node)
        for block in _blocks(parent) if parent is not None else ():
            if any(each is node for each in block):
                earlier = block[: next(i for i, each in enumerate(block) if each is node)]
                if any(_binds(each, name) for each in earlier):
                    return True
        if isinstance(parent, ast.For | ast.AsyncFor) and name in names_in(parent.target):
            return any(each is node for each in parent.body)
        if isinstance(parent, ast.With | ast.AsyncWith) and _with_binds(parent, name):
            return True
        if parent is None or isinstance(parent, FUNCTIONS):
            return False
        node = parent


def _binds(statement: ast.stmt, name: str) -> bool:
    """Whether a statement, once run, has bound the name on every path."""
    if isinstance(statement, ast.If):
        sides = (statement.body, statement.orelse)
        return all(_leaves(side) or any(_binds(each, name) for each in side) for side in sides)
    if isinstance(statement, ast.With | ast.AsyncWith):
        inner = any(_binds(each, name) for each in statement.body)
        return inner or _with_binds(statement, name)
    if isinstance(statement, ast.Try):
        ways = [[*statement.body, *statement.orelse], *(each.body for each in statement.handlers)]
        return any(_binds(each, name) for each in statement.finalbody) or all(
            _leaves(way) or any(_binds(each, name) for each in way) for way in ways
        )
    if isinstance(statement, ast.For | ast.AsyncFor | ast.While | ast.Match):
        return False
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return statement.name == name
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return any(bound == name for _, bound in bound_names(statement))
    if isinstance(statement, ast.Delete):
        return False
    return any(isinstance(node, ast.Name) for node in stores(statement, name))


def _leaves(block: list[ast.stmt]) -> bool:
    """Whether the end of a block goes elsewhere than to what follows."""
    return bool(block) and isinstance(block[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)


def _bound_outside(place: Place, function: ast.AST, name: str) -> bool:
    """Whether an enclosing function or the top level binds a name that a function reads."""
    outer = [node for node in place.at(function).ancestors() if isinstance(node, FUNCTIONS)]
    if any(is_local(node, name) for node in outer):
        return True
    top = place.top_level
    binder = next((index for index, node in enumerate(top) if _binds(node, name)), None)
    return binder is not None and not _may_run_before(place, top, binder)


def _may_run_before(place: Place, top: list[ast.stmt], binder: int) -> bool:
    """Whether a statement at top level, up to the one that binds a name, may call the function
    that the place is in: by its name, or by way of others of the file."""
    whole = next((node for node in (place.node, *place.ancestors()) if node in top), None)
    if not isinstance(whole, _DEFINITIONS):
        return whole in top[: binder + 1]
    named = {node.name: node for node in top if isinstance(node, _DEFINITIONS)}
    first = (names_in(node) for node in top[: binder + 1] if not isinstance(node, _DEFINITIONS))
    waiting = [name for names in first for name in names if name in named]
    reached: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += (each for each in names_in(named[name]) if each in named)
    return whole.name in reached


def _with_binds(statement: ast.With | ast.AsyncWith, name: str) -> bool:
    targets = (item.optional_vars for item in statement.items)
    return any(target is not None and name in names_in(target) for target in targets)


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for part in ("body", "orelse", "finalbody"):
        block = getattr(node, part, None)
        if isinstance(block, list):
            yield block


def may_be_none(place: Place, text: str) -> bool:
    """Whether a name or an attribute of `self` may be None where a function runs: a parameter that
    may be left out, or an attribute that the class sets to None or to such a parameter."""
    base, _, attribute = text.partition(".")
    if base != "self":
        return not attribute and base in _optional(place.function)
    if place.owner is None:
        return False
    return any(
        isinstance(node, ast.Assign | ast.AnnAssign)
        and (_is_none(node.value) or _is_one_of(node.value, optional))
        and any(ast.unparse(each) == text for each in _targets(node))
        for method in place.owner.body
        for optional in (_optional(method),)
        for node in ast.walk(method)
    )


def _optional(function: ast.AST | None) -> set[str]:
    """The parameters of a function that are None where they are left out."""
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return set()
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    optional = positional[len(positional) - len(arguments.defaults) :]
    pairs = [
        *zip(optional, arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return {each.arg for each, default in pairs if _is_none(default)}


def _is_one_of(value: ast.expr | None, names: set[str]) -> bool:
    return isinstance(value, ast.Name) and value.id in names


def _is_none(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]
