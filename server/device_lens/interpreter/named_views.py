"""Views of a tensor that have a name of their own: `row = rows[i]`, `for row in rows`. What is
written into one is written into the tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from device_lens.domain.values import Tensor
from device_lens.interpreter.graph_flow import arguments
from device_lens.syntax.gathering import gather
from device_lens.syntax.names import last_name
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine
    from device_lens.syntax.chunk import Chunk

Place = tuple[int, int, int]

_VIEWING = frozenset(
    "view view_as select narrow unsqueeze squeeze transpose swapaxes swapdims movedim moveaxis t "
    "permute diagonal".split()
)
"""Methods that give a view of the same data."""
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class Part(NamedTuple):
    """A part of what an expression stands for: an item, or a view. `item`: what is taken of it,
    None where all of it, or, with `each`, one item after the other by a loop."""

    whole: ast.expr
    item: ast.expr | None
    each: bool = False


class _Bound(NamedTuple):
    """A name where it is bound: to a part of something, to something else (None), or, with
    `again`, to what `name += x` makes of it, which is the same view."""

    node: ast.Name
    part: Part | None
    again: bool = False


def part_at(node: ast.expr | None, frame: Frame) -> Part | None:
    """The part that an expression which is written into stands for: as it is written, or what it
    names. None where it can not be looked at once more."""
    if isinstance(node, ast.Name):
        return _named(node, frame)
    if node is None or not is_place(node):
        return None
    return _taken(node)


def kept_in(machine: Machine, node: ast.expr, frame: Frame) -> ast.expr | None:
    """What keeps what is written into an expression: of a view, the tensor that it is of, and the
    expression itself of anything else. None where that tensor has no name, or where a loop goes
    through it, which ends with it."""
    part = part_at(node, frame)
    whole = None if part is None else machine.evaluate(part.whole, frame)
    if part is None or type(whole) is not Tensor:
        return node
    if isinstance(node, ast.Name):
        view = machine.evaluate(node, frame)
        if type(view) is Tensor and not may_view(view, whole):
            return node
    if part.each or not isinstance(part.whole, ast.Name):
        return None
    return kept_in(machine, part.whole, frame)


def may_view(view: Tensor, whole: Tensor) -> bool:
    """Whether a tensor may be a view of another: it began as that did, and is where that is."""
    first = view.trail and view.trail.first
    return first is (whole.trail and whole.trail.first) and view.device == whole.device


def views_of(nodes: Iterable[ast.AST]) -> frozenset[tuple[str, str]]:
    """The names that some code gives to views, with what these are of."""
    found = (bound for node in nodes for bound in _bindings(node))
    return frozenset((each.node.id, ast.dump(each.part.whole)) for each in found if each.part)


def is_place(part: ast.expr) -> bool:
    """Whether an expression is an item of a name or an attribute, or a view of it, of another one
    perhaps: it can be looked at once more."""
    inner: ast.expr | None = part
    while isinstance(inner, ast.Subscript | ast.Call):
        given = [inner.slice] if isinstance(inner, ast.Subscript) else arguments(inner)
        if any(_runs(node) for each in given for node in walk(each)):
            return False
        if isinstance(inner, ast.Call) and last_name(inner.func) not in _VIEWING:
            return False
        inner = taken_from(inner)
    is_held = isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name)
    return inner is not part and (is_held or isinstance(inner, ast.Name))


def taken_from(node: ast.AST | None) -> ast.expr | None:
    """What a method is called on, or an item is taken of."""
    called = node.func if isinstance(node, ast.Call) else node
    return called.value if isinstance(called, ast.Attribute | ast.Subscript) else None


def _taken(node: ast.expr) -> Part | None:
    whole = taken_from(node)
    index = node.slice if isinstance(node, ast.Subscript) else None
    return None if whole is None else Part(whole, index)


def _runs(node: ast.AST) -> bool:
    return isinstance(node, ast.Call | ast.NamedExpr | ast.Await)


def _named(name: ast.Name, frame: Frame) -> Part | None:
    """The part that a local name stands for, which is bound at one place alone, ahead of this one,
    with nothing bound in between of which that is a part. At the top level of a file that is the
    last place of an earlier chunk: what is bound between the two is seen by what it makes."""
    known = _bindings_around(frame)
    own = [place for place, each in known if each.node.id == name.id and not each.again]
    part = next((each.part for _, each in known if each.node.id == name.id and each.part), None)
    here = _place(frame.chunk, name)
    if not own and frame.function is None:
        return _named_before(name, frame)
    if part is None or len(own) != 1 or not own[0] < here or _is_given(name, frame):
        return None
    roots = {each.id for each in walk(part.whole) if isinstance(each, ast.Name)}
    since = (each.node.id for place, each in known if own[0] < place < here and not each.again)
    return part if roots.isdisjoint((name.id, *since)) else None


def _named_before(name: ast.Name, frame: Frame) -> Part | None:
    """The part that a name stands for which an earlier chunk of the file binds last."""
    found: Part | None = None
    for chunk in frame.namespace.file.chunks:
        if chunk is frame.chunk or chunk.lineage is frame.chunk.lineage:
            return found
        for each in sorted(_bound_in(chunk.body), key=_where):
            if each.node.id == name.id and not each.again:
                found = each.part
    return None


def _where(bound: _Bound) -> tuple[int, int]:
    return bound.node.lineno, bound.node.col_offset


def _is_given(name: ast.Name, frame: Frame) -> bool:
    """Whether a function is given a value under that name."""
    run = None if frame.function is None else frame.function.node
    return run is not None and any(
        isinstance(each, ast.arg) and each.arg == name.id for each in walk(run.args)
    )


def _bindings_around(frame: Frame) -> list[tuple[Place, _Bound]]:
    """What the function binds, or the chunk of the top level of the file, each once."""
    run = None if frame.function is None else frame.function.node
    if isinstance(run, ast.Lambda):
        return []
    body = frame.chunk.body if run is None else run.body
    return [(_place(frame.chunk, each.node), each) for each in _bound_in(body)]


def _bound_in(body: Iterable[ast.stmt]) -> Iterable[_Bound]:
    """What statements bind, each name once where it stands."""
    found: dict[ast.Name, _Bound] = {}
    for statement in body:
        for bound in reversed(gather(statement, "_bound_within", _bindings, _is_of_scope)):
            found[bound.node] = bound
    return found.values()


def _is_of_scope(node: ast.AST) -> bool:
    return not isinstance(node, _SCOPES)


def _bindings(node: ast.AST) -> Iterable[_Bound]:
    """What a node binds by itself, ahead of the names in it."""
    match node:
        case ast.Assign(targets=[ast.Name() as target], value=value) if is_place(value):
            return (_Bound(target, _taken(value)),)
        case ast.For(target=target, iter=source):
            return [
                _Bound(name, Part(whole, None, True))
                for name, whole in _gone_through(target, source)
            ]
        case ast.AugAssign(target=ast.Name() as target):
            return (_Bound(target, None, True),)
        case ast.Name(ctx=ast.Store()):
            return (_Bound(node, None),)
    return ()


def _gone_through(target: ast.expr, source: ast.expr) -> Iterator[tuple[ast.Name, ast.expr]]:
    """The names to which a loop gives one row after the other, with what these are rows of."""
    match target, source:
        case ast.Name(), ast.Name() | ast.Attribute(value=ast.Name()):
            yield target, source
        case ast.Tuple(elts=[_, item]), ast.Call(func=ast.Name(id="enumerate"), args=[whole]):
            yield from _gone_through(item, whole)
        case ast.Tuple(elts=items), ast.Call(func=ast.Name(id="zip"), args=wholes):
            for item, whole in zip(items, wholes, strict=False):
                yield from _gone_through(item, whole)


def _place(chunk: Chunk, node: ast.expr) -> Place:
    """Where a node stands in its file."""
    return chunk.first_line, node.lineno, node.col_offset
