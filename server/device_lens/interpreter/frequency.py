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
from device_lens.interpreter.scan import own_nodes
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
    functions = ((place, each.function) for place, each in way[:-1])
    if any(each is None or _is_now_and_then(place, each.node) for place, each in functions):
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


_OUTER = (ast.Global, ast.Nonlocal)
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
        if _runs_by_epoch(record.node, node) or _is_now_and_then(node, record.node):
            return True
        if record.hot:
            return False
    return False


def _is_now_and_then(node: Any, loop: Any) -> bool:
    """Whether a test of the loop's count, or of that of a list which begins anew there, or of
    what is kept from then on, stands between the loop and the node."""
    counters = _names(getattr(loop, "target", None))
    for outer in walk(loop):
        if not isinstance(outer, ast.If):
            continue
        if (
            not _tests_step(outer.test, counters)
            and not _empties_what_it_counts(outer)
            and not _keeps_what_it_misses(outer, loop)
        ):
            continue
        if any(inner is node for part in outer.body for inner in walk(part)):
            return True
    return False


def _keeps_what_it_misses(outer: ast.If, run: Any) -> bool:
    """`if seen is None: seen = x.to(device)`, where that is a name of the function or module around
    what runs, or an attribute: nothing is missing the next time."""
    match outer.test:
        case ast.Compare(left=missed, ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            pass
        case ast.UnaryOp(op=ast.Not(), operand=missed):
            pass
        case _:
            return False
    if isinstance(missed, ast.Name):
        outer_names = (each.names for each in walk(run) if isinstance(each, _OUTER))
        if not any(missed.id in names for names in outer_names):
            return False
    elif not isinstance(missed, ast.Attribute):
        return False
    text = ast.unparse(missed)
    return any(
        ast.unparse(target) == text
        for statement in outer.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
    )


def _runs_by_epoch(loop: Any, node: Any) -> bool:
    """A loop over epochs, as its variable says, whose steps are those of another loop; or one that
    counts, where another loop inside of it, which the node is not in, is what trains."""
    if isinstance(loop, ast.comprehension):
        return False
    inner = list(_inside(loop))
    loops = [each for each in inner if isinstance(each, ast.For | ast.While)]
    if any("epoch" in name.lower() for name in _names(getattr(loop, "target", None))):
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


def _names(target: Any) -> set[str]:
    return set() if target is None else {n.id for n in walk(target) if isinstance(n, ast.Name)}


def _tests_step(test: ast.expr, counters: set[str]) -> bool:
    return _tests_remainder(test) or any(
        isinstance(node, ast.Compare)
        and isinstance(node.ops[0], ast.Eq)
        and isinstance(node.left, ast.Name)
        and node.left.id in counters
        for node in walk(test)
    )


def _tests_remainder(test: ast.expr) -> bool:
    return any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) for node in walk(test))


def _empties_what_it_counts(branch: ast.If) -> bool:
    """`if len(kept) == 100: …; kept.clear()`."""
    counted = {
        ast.unparse(node.left.args[0])
        for node in walk(branch.test)
        if isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Call)
        and getattr(node.left.func, "id", "") == "len"
        and len(node.left.args) == 1
        and not _is_of_one(node.comparators[0])
    }
    inside = (node for part in branch.body for node in walk(part)) if counted else ()
    return any(not counted.isdisjoint(_emptied(node)) for node in inside)


def _is_of_one(count: ast.expr) -> bool:
    """Whether so many there are after one turn."""
    return isinstance(count, ast.Constant) and count.value in (0, 1)


def _emptied(node: ast.AST) -> list[str]:
    """The lists that a node leaves empty."""
    match node:
        case ast.Call(func=ast.Attribute(value=whole, attr="clear"), args=[]):
            return [ast.unparse(whole)]
        case ast.Assign(targets=targets, value=ast.List(elts=[]) | ast.Call(args=[])):
            return list(map(ast.unparse, targets))
        case ast.Delete(targets=[ast.Subscript(value=whole, slice=ast.Slice(None, None))]):
            return [ast.unparse(whole)]
    return []
