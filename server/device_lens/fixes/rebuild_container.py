"""A loop that moves its variable → a container of moved tensors."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from device_lens.fixes.blocks import insert_above, remove_statement
from device_lens.fixes.comments import below_comments
from device_lens.fixes.comprehension import as_condition, can_hold
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.loop_names import outlives
from device_lens.fixes.names import loads_behind, stores
from device_lens.fixes.place import Place
from device_lens.fixes.refill import OBJECT, Known, is_plain, refilled
from device_lens.syntax.names import names_in
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
    found = _Loop(loop, node, variable, key, moved, statement, does_more, known)
    if outer is not None or does_more or not fits:
        if key is not None and isinstance(node.iter, ast.Call):
            return _stored(found)
        return _rebuilt_above(found) if fits else None
    new = refilled(loop.at(node.iter), variable, key, value, known)
    if new is None:
        return _stored(found) if key is not None and _is_namespace(node.iter) else None
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
    """Moves what a container holds that another loop yields: in place, where whoever has it gets
    the moved tensors, or by the name, where the rest of that loop's body reads it. What a loader
    yields nobody has besides."""
    if outlives(loop, variable):
        return None
    iterable = loop.at(node.iter)
    end = loop.at(outer).range.end
    behind = loads_behind(loop, loop.at(gone_through(node.iter)).text)
    reads = any(each.range.start < end for each in behind)
    around = _kinds_around(outer, loop, known)
    rebinds = reads and _LOADER in around
    in_place = replace(known, settable=False)
    new = refilled(iterable, variable, None, value, known if rebinds else in_place)
    safe = new is not None and new.safe and not around.isdisjoint(_OF_PROGRAM)
    if new is None and reads:
        new = refilled(iterable, variable, None, value, known)
    if new is None:
        return None
    edit = loop.replace(below_comments(loop, new.text, [iterable]))
    safety = Safety.SAFE if safe else Safety.UNSAFE
    return Fix(f"Store the results: {new.text}", safety, (edit,))


def _kinds_around(outer: ast.For, loop: Place, known: Known) -> set[str | None]:
    """What a loop goes through is called, by its numbers or keys perhaps."""
    return {known.kind_of(loop.at(each)) for each in (outer.iter, gone_through(outer.iter))}


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


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop over a container that moves one of its variables."""

    place: Place
    node: ast.For
    variable: str
    key: str | None
    moved: str
    statement: ast.stmt
    """What moves it."""
    does_more: bool
    known: Known


def _stored(loop: _Loop) -> Fix | None:
    """Puts what is moved into the container, by the key or index at hand."""
    container = _indexed(loop)
    if container is None:
        return None
    new_text = f"{loop.variable} = {container.text}[{loop.key}] = {loop.moved}"
    edit = loop.place.at(loop.statement).replace(new_text)
    known = loop.known.kind_of(container) not in (None, OBJECT) and is_plain(container)
    binds = isinstance(loop.statement, ast.Assign) or not outlives(loop.place, loop.variable)
    outer = _outer_loop(loop.place.at(loop.node.iter))
    around = _OF_PROGRAM if outer is None else _kinds_around(outer, loop.place, loop.known)
    safe = known and binds and not loop.does_more and not _OF_PROGRAM.isdisjoint(around)
    return Fix(f"Store the result: {new_text}", Safety.SAFE if safe else Safety.UNSAFE, (edit,))


def _indexed(loop: _Loop) -> Place | None:
    """The container that the key or index of `items()` or `enumerate(…)` belongs to, where it takes
    other items."""
    match loop.node.iter:
        case ast.Call(func=ast.Attribute(value=owner, attr="items")):
            return loop.place.at(owner)
        case ast.Call(func=ast.Name(id="enumerate"), args=[first], keywords=[]):
            container = loop.place.at(first)
            fixed = isinstance(first, ast.Call) or loop.known.kind_of(container) in _WITHOUT_ITEMS
            return None if fixed else container
    return None


def _rebuilt_above(loop: _Loop) -> Fix | None:
    """Rebuilds the container above a loop that does more."""
    iterable = loop.place.at(loop.node.iter)
    if _outer_loop(iterable) is not None:
        return None
    if _needs_loop(loop.node, loop.statement, loop.variable):
        return None
    new = refilled(iterable, loop.variable, loop.key, loop.moved, loop.known)
    if new is None:
        return None
    statement = loop.place.at(loop.statement)
    edits = (insert_above(loop.place, new.text), remove_statement(statement))
    return Fix(f"Rebuild the container: {new.text}", Safety.UNSAFE, edits)


_LOADER = "dataloader"
_OF_PROGRAM = frozenset({"list", "tuple", "dict", _LOADER})
"""What yields containers that are the program's to change: an optimizer's state is not."""
_WITHOUT_ITEMS = ("tuple", "named tuple", "tensor")
"""What keeps the items that it has, and what makes its rows anew."""
