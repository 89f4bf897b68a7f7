"""A loop that moves its variable → a container of moved tensors."""

from __future__ import annotations

import ast
from collections.abc import Callable

from device_lens.fixes.bindings import parameters_of
from device_lens.fixes.blocks import insert_above, remove_statement
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.map_container import PATTERNS
from device_lens.fixes.names import (
    assignable,
    fresh_letter,
    loads_behind,
    names_in,
    stores,
    words,
)
from device_lens.fixes.place import Place
from device_lens.syntax.pairing import zipped

KindOf = Callable[[Place], "str | None"]
"""What a container is called that a place has: `list`, `tuple`, `named tuple`, `own` where no
display makes one; None: not known."""


def loop_fix(loop: Place, variable: str, moved: str, kind_of: KindOf) -> Fix | None:
    """`for v in xs: v = v.to(d)` → `xs = [v.to(d) for v in xs]`, or the tuple of them.

    `moved` is the text of the transfer. Where the loop does more, or its container is the variable
    of another loop, the container gets the moved tensor in the body, by the key or index at hand,
    else it is rebuilt above the loop.
    """
    node = loop.node
    if not isinstance(node, ast.For):
        return None
    for name, container in zipped(node):
        if name == variable:
            return _zip_fix(loop, node, variable, loop.at(container), moved, kind_of)
    key = _key(node.target, variable)
    if key is None and not isinstance(node.target, ast.Name):
        return None  # the tensor is a part of what the container holds
    statement, test = _moving(loop, node, moved)
    if statement is None:
        return None
    outer = _outer_loop(loop.at(node.iter))
    value = moved if test is None else f"{moved} if {loop.at(test).text} else {variable}"
    does_more = len(node.body) > 1 or bool(node.orelse)
    if outer is not None and key is None and not does_more:
        return _kept(loop, node, variable, value, outer, kind_of)
    if outer is not None or does_more:
        return _fix_in_body(loop, node, variable, key, moved, statement, kind_of)
    new_text = rebuilt(loop.at(node.iter), variable, key, value, kind_of)
    if new_text is None:
        if key is None or not _is_namespace(node.iter):
            return None
        return _fix_in_body(loop, node, variable, key, moved, statement, kind_of)
    bound = names_in(node.target)
    safe = not any(each for name in bound for each in loads_behind(loop, name))
    safety = Safety.SAFE if safe else Safety.UNSAFE
    return Fix(f"Rebuild the container: {new_text}", safety, (loop.replace(new_text),))


def _zip_fix(
    loop: Place, node: ast.For, variable: str, container: Place, moved: str, kind_of: KindOf
) -> Fix | None:
    """Rebuilds one of several containers above the loop, which goes through the others still."""
    outer = _outer_loop(container)
    new_text = None if outer is not None else rebuilt(container, variable, None, moved, kind_of)
    statement, test = _moving(loop, node, moved)
    if new_text is None or statement is None or test is not None or node.orelse:
        return None
    if _needs_loop(node, statement, variable):
        return None
    title = f"Rebuild the container: {new_text}"
    if len(node.body) == 1:
        return Fix(title, Safety.UNSAFE, (loop.replace(new_text),))
    edits = (insert_above(loop, new_text), remove_statement(loop.at(statement)))
    return Fix(title, Safety.UNSAFE, edits)


def _needs_loop(node: ast.For, statement: ast.stmt, variable: str) -> bool:
    """Whether what moves reads a name that the loop binds: it cannot stand above it."""
    value = statement.value if isinstance(statement, ast.Assign) else statement
    return any(stores(node, name) for name in names_in(value) - {variable})


def _moving(loop: Place, node: ast.For, moved: str) -> tuple[ast.stmt | None, ast.expr | None]:
    """The statement of the body that moves, and the test under which it does so where that is all
    that the loop does."""
    for statement in node.body:
        if loop.at(statement).text.endswith(moved) and not isinstance(statement, _COMPOUND):
            return statement, None
    only = node.body[0] if len(node.body) == 1 else None
    if not isinstance(only, ast.If) or len(only.body) != 1 or only.orelse:
        return None, None
    statement = only.body[0]
    is_it = loop.at(statement).text.endswith(moved) and not isinstance(statement, _COMPOUND)
    return (statement, only.test) if is_it else (None, None)


_COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)


def _outer_loop(iterable: Place) -> ast.For | None:
    """The loop around this one that binds the container: rebinding it would be lost to whoever
    reads what that loop goes through."""
    name = getattr(_container(iterable.node), "id", None)
    loops = (node for node in iterable.ancestors() if isinstance(node, ast.For))
    outer = (node for node in loops if node is not iterable.parent)
    return next((node for node in outer if name in names_in(node.target)), None)


def _container(iterated: ast.AST) -> ast.AST:
    """What a loop over its items, values or numbered items goes through."""
    if not isinstance(iterated, ast.Call):
        return iterated
    if isinstance(iterated.func, ast.Attribute):
        return iterated.func.value
    return iterated.args[0] if iterated.args else iterated


def _kept(
    loop: Place, node: ast.For, variable: str, value: str, outer: ast.For, kind_of: KindOf
) -> Fix | None:
    """Moves what a container holds that another loop yields: the values of a dict in place, a list
    where the rest of that loop's body reads it."""
    text = loop.at(_container(node.iter)).text
    called = node.iter.func if isinstance(node.iter, ast.Call) else None
    if isinstance(called, ast.Attribute) and called.attr == "values":
        key = fresh_letter({variable} | words(value), "k")
        moved = f"{{{key}: {value} for {key}, {variable} in {text}.items()}}"
        new_text: str | None = f"{text}.update({moved})"
    else:
        end = loop.at(outer).range.end
        reads = any(each.range.start < end for each in loads_behind(loop, text))
        whole = loop.at(node.iter)
        new_text = rebuilt(whole, variable, None, value, kind_of) if reads else None
    if new_text is None:
        return None
    return Fix(f"Store the results: {new_text}", Safety.UNSAFE, (loop.replace(new_text),))


def _is_namespace(iterable: ast.expr) -> bool:
    """`vars(x).items()`: each call of `vars` gives the same dict."""
    match iterable:
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="vars"), args=[_]))):
            return True
    return False


def rebuilt(
    iterable: Place, variable: str, key: str | None, moved: str, kind_of: KindOf
) -> str | None:
    """The statement that rebuilds what a loop runs over; None where that cannot be assigned."""
    node = iterable.node
    if isinstance(node, ast.Tuple | ast.List):
        parts = [iterable.at(part) for part in node.elts]
        if key is not None or len(parts) < 2 or not all(map(assignable, parts)):
            return None
        text = ", ".join(part.text for part in parts)
        return f"{text} = [{moved} for {variable} in ({text})]"
    if not isinstance(node, ast.Call):
        if key is not None or not assignable(iterable):
            return None
        kind = kind_of(iterable)
        pattern = _SEQUENCES.get(kind or "", PATTERNS["list"])
        new = pattern.format(move=moved, item=variable, container=iterable.text)
        if kind == "own":
            return None
        in_place = kind == "list" and _is_for_caller(iterable)
        return f"{iterable.text}[:] = {new}" if in_place else f"{iterable.text} = {new}"
    if isinstance(node.func, ast.Name) and node.func.id == "enumerate" and node.args:
        inner = iterable.at(node.args[0])
        if isinstance(inner.node, ast.Call):
            return None
        return rebuilt(inner, variable, None, moved, kind_of)
    if not isinstance(node.func, ast.Attribute) or node.args or node.keywords:
        return None
    container = iterable.at(node.func.value)
    if not assignable(container):
        return None
    if node.func.attr == "values" and key is None:
        key = fresh_letter({variable} | words(moved), "k")
    elif node.func.attr != "items" or key is None:
        return None
    text = container.text
    display = f"{{{key}: {moved} for {key}, {variable} in {text}.items()}}"
    if kind_of(container) == "own" or _is_for_caller(container):
        return f"{text}.update({display})"
    return f"{text} = {display}"


def _is_for_caller(container: Place) -> bool:
    """Whether a function is given a container and does not look at it again: what it does to it is
    done for who calls, whom another one under the name would not reach."""
    node, function = container.node, container.function
    if not isinstance(node, ast.Name) or node.id not in parameters_of(function):
        return False
    return not any(loads_behind(container.statement, node.id))


_SEQUENCES = {name: PATTERNS[name] for name in ("list", "tuple", "named tuple")}


def _key(target: ast.expr, variable: str) -> str | None:
    """The other name of a target `k, v`."""
    if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
        return None
    first, second = target.elts
    if isinstance(first, ast.Name) and isinstance(second, ast.Name) and second.id == variable:
        return first.id
    return None


def _fix_in_body(
    loop: Place,
    node: ast.For,
    variable: str,
    key: str | None,
    moved: str,
    statement: ast.stmt,
    kind_of: KindOf,
) -> Fix | None:
    if key is not None and isinstance(node.iter, ast.Call):
        container = _indexed(loop, node.iter)
        if container is None:
            return None
        new_text = f"{variable} = {container}[{key}] = {moved}"
        edit = loop.at(statement).replace(new_text)
        return Fix(f"Store the result: {new_text}", Safety.UNSAFE, (edit,))
    if _outer_loop(loop.at(node.iter)) is not None or _needs_loop(node, statement, variable):
        return None
    new_text_above = rebuilt(loop.at(node.iter), variable, key, moved, kind_of)
    if new_text_above is None:
        return None
    edits = (insert_above(loop, new_text_above), remove_statement(loop.at(statement)))
    return Fix(f"Rebuild the container: {new_text_above}", Safety.UNSAFE, edits)


def _indexed(loop: Place, iterable: ast.Call) -> str | None:
    """The container that the key or index of `items()` or `enumerate(…)` belongs to."""
    func = iterable.func
    if isinstance(func, ast.Attribute) and func.attr == "items":
        return loop.at(func.value).text
    if not isinstance(func, ast.Name) or func.id != "enumerate" or len(iterable.args) != 1:
        return None
    container = iterable.args[0]
    return None if isinstance(container, ast.Call) else loop.at(container).text
