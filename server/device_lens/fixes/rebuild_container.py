"""A loop that moves its variable → a container of moved tensors."""

from __future__ import annotations

import ast

from device_lens.fixes.blocks import insert_above, remove_statement
from device_lens.fixes.comments import below_comments
from device_lens.fixes.comprehension import as_condition, can_hold
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.loop_names import outlives
from device_lens.fixes.names import fresh_letter, loads_behind, names_in, stores, words
from device_lens.fixes.place import Place
from device_lens.fixes.refill import Known, refilled
from device_lens.syntax.pairing import gone_through, zipped


def loop_fix(loop: Place, variable: str, moved: str, known: Known) -> Fix | None:
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
            return _zip_fix(loop, node, variable, loop.at(container), moved, known)
    key = _key(node.target, variable)
    if key is None and not isinstance(node.target, ast.Name):
        return None  # the tensor is a part of what the container holds
    statement, test = _moving(loop, node, moved)
    if statement is None:
        return None
    outer = _outer_loop(loop.at(node.iter))
    parts = [_value(statement), *([] if test is None else [test])]
    value = moved if test is None else f"{moved} if {as_condition(loop.at(test))} else {variable}"
    does_more = len(node.body) > 1 or bool(node.orelse)
    fits = can_hold(loop, parts, names_in(node.target))
    if outer is not None and key is None and not does_more:
        return _kept(loop, node, variable, value, outer, known) if fits else None
    if outer is not None or does_more or not fits:
        return _fix_in_body(loop, node, variable, key, moved, statement, known, fits)
    new = refilled(loop.at(node.iter), variable, key, value, known)
    if new is None:
        if key is None or not _is_namespace(node.iter):
            return None
        return _fix_in_body(loop, node, variable, key, moved, statement, known, fits)
    title = f"Rebuild the container: {' '.join(new.text.split())}"
    if any(outlives(loop, name) for name in names_in(node.target)):
        edits = (insert_above(loop, new.text), remove_statement(loop.at(statement)))
        return Fix(title, Safety.UNSAFE, edits)
    reused = [loop.at(each) for each in (*parts, node.iter)]
    edit = loop.replace(below_comments(loop, new.text, reused))
    return Fix(title, Safety.SAFE if new.safe else Safety.UNSAFE, (edit,))


def _zip_fix(
    loop: Place, node: ast.For, variable: str, container: Place, moved: str, known: Known
) -> Fix | None:
    """Rebuilds one of several containers above the loop, which goes through the others still."""
    outer = _outer_loop(container)
    new = None if outer is not None else refilled(container, variable, None, moved, known)
    statement, test = _moving(loop, node, moved)
    if new is None or statement is None or test is not None or node.orelse:
        return None
    if _needs_loop(node, statement, variable) or not can_hold(
        loop, [_value(statement)], {variable}
    ):
        return None
    title = f"Rebuild the container: {new.text}"
    if len(node.body) == 1 and not any(outlives(loop, each) for each in names_in(node.target)):
        reused = [loop.at(_value(statement))]
        edit = loop.replace(below_comments(loop, new.text, reused))
        return Fix(title, Safety.UNSAFE, (edit,))
    edits = (insert_above(loop, new.text), remove_statement(loop.at(statement)))
    return Fix(title, Safety.UNSAFE, edits)


def _needs_loop(node: ast.For, statement: ast.stmt, variable: str) -> bool:
    """Whether what moves reads a name that the loop binds: it cannot stand above it."""
    return any(stores(node, name) for name in names_in(_value(statement)) - {variable})


def _value(statement: ast.stmt) -> ast.AST:
    """What moves, in a statement that does."""
    return statement.value if isinstance(statement, ast.Assign | ast.Expr) else statement


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
    name = getattr(_gone_through(iterable.node), "id", None)
    loops = (node for node in iterable.ancestors() if isinstance(node, ast.For))
    outer = (node for node in loops if node is not iterable.parent)
    return next((node for node in outer if name in names_in(node.target)), None)


def _gone_through(iterated: ast.AST) -> ast.AST:
    return gone_through(iterated) if isinstance(iterated, ast.expr) else iterated


def _kept(
    loop: Place, node: ast.For, variable: str, value: str, outer: ast.For, known: Known
) -> Fix | None:
    """Moves what a container holds that another loop yields: the values of a dict in place, a list
    where the rest of that loop's body reads it."""
    if outlives(loop, variable):
        return None
    text = loop.at(gone_through(node.iter)).text
    called = node.iter.func if isinstance(node.iter, ast.Call) else None
    if isinstance(called, ast.Attribute) and called.attr == "values":
        key = fresh_letter({variable} | words(value), "k")
        moved = f"{{{key}: {value} for {key}, {variable} in {text}.items()}}"
        new_text: str | None = f"{text}.update({moved})"
    else:
        end = loop.at(outer).range.end
        reads = any(each.range.start < end for each in loads_behind(loop, text))
        new = refilled(loop.at(node.iter), variable, None, value, known) if reads else None
        new_text = None if new is None else new.text
    if new_text is None:
        return None
    edit = loop.replace(below_comments(loop, new_text, [loop.at(node.iter)]))
    return Fix(f"Store the results: {new_text}", Safety.UNSAFE, (edit,))


def _is_namespace(iterable: ast.expr) -> bool:
    """`vars(x).items()`: each call of `vars` gives the same dict."""
    match iterable:
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="vars"), args=[_]))):
            return True
    return False


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
    known: Known,
    fits: bool,
) -> Fix | None:
    if key is not None and isinstance(node.iter, ast.Call):
        container = _indexed(loop, node.iter, known)
        if container is None:
            return None
        new_text = f"{variable} = {container}[{key}] = {moved}"
        edit = loop.at(statement).replace(new_text)
        return Fix(f"Store the result: {new_text}", Safety.UNSAFE, (edit,))
    outer = _outer_loop(loop.at(node.iter))
    if outer is not None or not fits or _needs_loop(node, statement, variable):
        return None
    new = refilled(loop.at(node.iter), variable, key, moved, known)
    if new is None:
        return None
    edits = (insert_above(loop, new.text), remove_statement(loop.at(statement)))
    return Fix(f"Rebuild the container: {new.text}", Safety.UNSAFE, edits)


def _indexed(loop: Place, iterable: ast.Call, known: Known) -> str | None:
    """The container that the key or index of `items()` or `enumerate(…)` belongs to, where it takes
    other items."""
    func = iterable.func
    if isinstance(func, ast.Attribute) and func.attr == "items":
        return loop.at(func.value).text
    if not isinstance(func, ast.Name) or func.id != "enumerate" or len(iterable.args) != 1:
        return None
    container = loop.at(iterable.args[0])
    fixed = isinstance(container.node, ast.Call) or known.kind_of(container) in _WITHOUT_ITEMS
    return None if fixed else container.text


_WITHOUT_ITEMS = ("tuple", "named tuple", "tensor")
"""What keeps the items that it has, and what makes its rows anew."""
