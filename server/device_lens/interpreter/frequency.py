"""How often a place is reached: in which loop that runs per batch or per step, or only now and
then in one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from device_lens.domain.heap import ListObject
from device_lens.domain.trail import Site
from device_lens.domain.values import TupleValue
from device_lens.interpreter.facts import Loop, Repeated
from device_lens.interpreter.intervals import is_now_and_then
from device_lens.interpreter.scan import own_nodes
from device_lens.syntax.names import names_in
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine

_MOST_CALLS = 6


def repeated_by(machine: Machine, node: Any, frame: Frame) -> Repeated | None:
    """The loop that runs often and by calls a place of another function on each iteration, where
    none of the functions on the way has a loop of its own over more than a handful: what such a one
    does beside its loop it does once for many steps."""
    inner = frame
    way: list[tuple[Any, Frame]] = [(node, frame)]
    while not any(each.hot for each in inner.loops):
        call, caller = inner.call_site, inner.parent
        if call is None or caller is None or len(way) > _MOST_CALLS or _has_own_pace(inner):
            return None
        way.append((call, caller))
        inner = caller
    record = next(each for each in reversed(inner.loops) if each.hot)
    call, _ = way[-1]
    if len(way) == 1 or interval_guarded(call, inner):
        return None
    for place, each in way[:-1]:
        if each.function is None or is_now_and_then(place, each.function.node, each):
            return None
    site = Site(inner.namespace.path, record.chunk, record.node)
    calls = tuple(machine.site(place, each) for place, each in way[:0:-1])
    return Repeated(Loop(site, record.trip_count, True), calls)


def _has_own_pace(frame: Frame) -> bool:
    """Whether the function of a frame has a loop over more than a handful, gives its values one by
    one to another, or has its answers kept by a decorator such as `functools.cache`."""
    node = frame.function.node if frame.function is not None else None
    if node is None or frame.yields is not None:
        return True
    if isinstance(node, ast.Lambda):
        return False
    known: list[ast.stmt] | None = node.__dict__.get(_LOOPS)
    if known is None:
        own = own_nodes(node.body)
        known = [each for each in own if isinstance(each, ast.For | ast.AsyncFor | ast.While)]
        known += [each for each in node.decorator_list if "cache" in ast.unparse(each)]
        node.__dict__[_LOOPS] = known
    return not all(isinstance(each, ast.For) and _is_of_few(each.iter, frame) for each in known)


_LOOPS = "_loops_of_its_own"
"""The entry of a function under which what may give it a pace of its own is kept."""
FEW = 10
"""Turns of a loop that are a handful."""
_VIEWS = frozenset("items keys values".split())
_PARTS = frozenset(
    "parameters named_parameters modules named_modules children named_children buffers".split()
)
_AROUND = frozenset("enumerate zip reversed sorted list tuple".split())


def _is_of_few(node: ast.expr, frame: Frame) -> bool:
    """Whether a loop goes over a handful of things: those that are written out, the entries of a
    dict, the parts of a module, or what its caller gives it, if that is written out."""
    match node:
        case ast.Tuple() | ast.List() | ast.Set() | ast.Dict():
            return True
        case ast.Name(id=name):
            value = frame.scope.names.get(name)
            if not isinstance(value, ListObject | TupleValue):
                return False
            return getattr(value, "rest", None) is None and len(value.items) <= FEW
        case ast.Call(func=ast.Attribute(attr=name), args=[]):
            return name in _VIEWS or name in _PARTS
        case ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int(count))]):
            return count <= FEW
        case ast.Call(func=ast.Name(id=name), args=args) if name in _AROUND:
            return any(_is_of_few(each, frame) for each in args)
    return False


def interval_guarded(node: Any, frame: Frame) -> bool:
    """Whether the place is reached only now and then in the loop that runs often: under an `if`
    that tests a remainder (`step % 100 == 0`), or for one iteration (`step == 0`), or how much a
    list has that is emptied there, or once in an epoch. Loops over a handful of things inside of
    that one change nothing about it."""
    for record in reversed(frame.loops):
        if _runs_by_epoch(record.node, node) or is_now_and_then(node, record.node, frame):
            return True
        if record.hot:
            return False
    return False


def _runs_by_epoch(loop: Any, node: Any) -> bool:
    """A loop over epochs, as its variable says, whose steps are those of another loop; or one that
    counts, where another loop inside of it, which the node is not in, is what trains."""
    if isinstance(loop, ast.comprehension):
        return False
    inner = list(_inside(loop))
    loops = [each for each in inner if isinstance(each, ast.For | ast.While)]
    if any("epoch" in name.lower() for name in names_in(getattr(loop, "target", None))):
        return bool(loops) or not any(map(_trains, inner))
    return _counts(loop) and any(
        any(map(_trains, walk(each))) and not any(node is other for other in walk(each))
        for each in loops
    )


def _trains(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "backward"


def _counts(loop: Any) -> bool:
    """Whether a loop runs over numbers rather than over data."""
    if isinstance(loop, ast.While):
        return True
    called = loop.iter.func if isinstance(loop.iter, ast.Call) else None
    return isinstance(called, ast.Name) and called.id in ("range", "trange")


def _inside(loop: Any) -> Iterator[ast.AST]:
    for statement in loop.body:
        yield from walk(statement)
