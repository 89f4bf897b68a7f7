"""What begins anew in each iteration: sums and lists that keep the graphs of one step."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from device_lens.interpreter import scan
from device_lens.interpreter.full_names import is_torch
from device_lens.interpreter.graph_names import container_of
from device_lens.interpreter.graph_sharing import read_with_graph
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame

_PARTS = frozenset("split chunk unbind tensor_split split_with_sizes".split())
"""Functions whose result is the parts of one tensor."""


_FEW = 8
"""Steps whose graphs may be kept together."""


@dataclass(frozen=True, slots=True)
class _Assigned:
    """An assignment in a loop or function: the names that it binds, and those that it reads with
    their graphs.
    `first`: the name that is None before it, in the first iteration only (`if total is None:`)."""

    bound: frozenset[str | None]
    read: frozenset[str]
    first: str | None
    line: int


_ASSIGNED = "_assigned_within"
"""The entry of a node under which its assignments are kept, for as long as the node lives."""


def starts_anew(run: Any, accumulator: str) -> bool:
    """Whether a loop's own iterations, or the calls of a function, begin the sum or list, or cut it
    off from its graph: it keeps the graphs of one."""
    base = base_of(accumulator)
    return any(
        base in each.bound and base not in each.read and each.first != base
        for each in _assigned(run)
    )


def carries_on(run: Any, name: str) -> bool:
    """Whether a loop computes a name of what it was in the iteration before: `h = cell(x, h)`."""
    binding = [each for each in _assigned(run) if name in each.bound]
    if not binding or (isinstance(run, ast.For) and name in scan.names_bound(run.target)):
        return False
    return name in min(binding, key=lambda each: each.line).read


def targets_in(run: Any) -> frozenset[str]:
    """The names that a loop, and the loops within a loop or function, give one item after the
    other."""
    loops = (each for each in walk(run) if isinstance(each, ast.For))
    return frozenset(name for each in loops for name in scan.names_bound(each.target))


def _assigned(run: Any) -> tuple[_Assigned, ...]:
    known: tuple[_Assigned, ...] | None = run.__dict__.get(_ASSIGNED)
    if known is None:
        first = {id(each): name for node in walk(run) for name, each in _begun_once(node)}
        seldom = {id(each) for node in walk(run) for each in _begun_seldom(node)}
        known = run.__dict__[_ASSIGNED] = tuple(
            _Assigned(
                _bound(node),
                frozenset(read_with_graph(node.value)),
                first.get(id(node)),
                node.lineno,
            )
            for node in walk(run)
            if isinstance(node, ast.Assign) and id(node) not in seldom
        ) + tuple(map(_cut_off, filter(_cuts_off, walk(run))))
    return known


def _cuts_off(node: ast.AST) -> bool:
    """Whether this is `total.detach_()`."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr="detach_")):
            return True
    return False


def _cut_off(node: Any) -> _Assigned:
    return _Assigned(frozenset((node.func.value.id,)), frozenset(), None, node.lineno)


def _begun_once(node: ast.AST) -> list[tuple[str, ast.stmt]]:
    """What `if average is None:` runs, in the first iteration only, with that name."""
    match node:
        case ast.If(test=ast.Compare(left=ast.Name(id=name), ops=[ast.Is()])):
            return [(name, each) for each in node.body]
    return []


def _begun_seldom(node: ast.AST) -> list[ast.stmt]:
    """What `if step % 100 == 99:` sets to a number or an empty list: by then it has the graphs of
    all these steps. Where the optimizer steps there too, they are one step of the training."""
    match node:
        case (
            ast.If(test=ast.Compare(left=left), body=body)
            | ast.If(test=ast.UnaryOp(op=ast.Not(), operand=left), body=body)
        ) if _is_of_turns(left):
            if not any(_is_of_training(part) for each in body for part in walk(each)):
                return [each for each in body if isinstance(each, ast.Assign) and _is_empty(each)]
    return []


def _is_of_turns(node: ast.expr) -> bool:
    """Whether this is the rest of a division by more than a few."""
    match node:
        case ast.BinOp(op=ast.Mod(), right=ast.Constant(value=int(count))):
            return count > _FEW
        case ast.BinOp(op=ast.Mod()):
            return True
    return False


def _is_empty(node: ast.Assign) -> bool:
    return isinstance(node.value, ast.Constant) or (
        isinstance(node.value, ast.List) and not node.value.elts
    )


def is_of_one_step(loops: list[Any], accumulator: str) -> bool:
    """Whether one of some loops around a place, outermost first, begins the sum or list in each of
    its iterations, which is a step of the training: it runs the backward pass or the optimizer
    around the loops within. The list keeps what that step needs anyway, or what its backward pass
    has freed."""
    for loop, inner in pairwise(loops):
        if starts_anew(loop, accumulator) and _trains_around(loop, inner):
            return True
    return False


def _trains_around(loop: Any, inner: Any) -> bool:
    within = {id(node) for node in walk(inner)}
    return any(_is_of_training(node) for node in walk(loop) if id(node) not in within)


def _is_of_training(node: ast.AST) -> bool:
    function = node.func if isinstance(node, ast.Call) else None
    if not isinstance(function, ast.Attribute):
        return False
    is_step = function.attr == "step" and "optim" in ast.unparse(function.value).lower()
    return is_step or function.attr == "backward"


def _bound(node: ast.Assign) -> frozenset[str | None]:
    return frozenset(name for target in node.targets for name in scan.names_bound(target))


def has_backward(loop: Any) -> bool:
    """Whether the text of a loop runs a backward pass."""
    calls = (each.func for each in walk(loop) if isinstance(each, ast.Call))
    return any(isinstance(func, ast.Attribute) and func.attr == "backward" for func in calls)


@lru_cache(1_024)
def base_of(text: str) -> str | None:
    """The local name that holds the sum or list; None for an attribute, which outlives it."""
    node = container_of(ast.parse(text, mode="eval").body)
    return node.id if isinstance(node, ast.Name) else None


def joined(value: ast.expr, frame: Frame) -> tuple[str, list[ast.expr]]:
    """What an expression adds up or puts together. A total that begins with what it is first given
    does so in one case of a conditional expression, and adds up in the other."""
    if isinstance(value, ast.IfExp):
        form, parts = joined(value.orelse, frame)
        return (form, parts) if parts else joined(value.body, frame)
    if isinstance(value, ast.BinOp):
        return _calculated(value)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.args:
        first = value.args[0]
        puts = value.func.attr in ("cat", "concat", "concatenate", "hstack", "vstack")
        if puts and isinstance(first, ast.List | ast.Tuple):
            return "collect", first.elts
        if value.func.attr in _TOGETHER:
            return _TOGETHER[value.func.attr], _two_of(value.func, value.args, frame)
    return "", []


_TOGETHER = {
    "add": "sum",
    **dict.fromkeys("max min maximum minimum fmax fmin lerp".split(), "collect"),
}
"""Functions, and methods, whose result has the graphs of two tensors."""


def _calculated(value: ast.BinOp) -> tuple[str, list[ast.expr]]:
    """What an expression adds up, and perhaps scales then: `(average * i + loss) / (i + 1)`."""
    if isinstance(value.op, ast.Add):
        return "sum", [value.left, value.right]
    if isinstance(value.op, ast.Div | ast.Mult):
        sides = (value.left, value.right) if isinstance(value.op, ast.Mult) else (value.left,)
        for side in sides:
            if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Add):
                return "sum", [side.left, side.right]
    return "", []


def _two_of(function: ast.Attribute, given: list[ast.expr], frame: Frame) -> list[ast.expr]:
    """`torch.add(a, b)`, `a.add(b)`: the two."""
    if isinstance(function.value, ast.Name) and is_torch(function.value.id, frame):
        return given[:2]
    return [function.value, given[0]]


_IN_PLACE = {"add_": "sum", "lerp_": "collect"}


def taken_in_place(call: ast.Call) -> tuple[str, ast.expr] | None:
    """What a method adds to a tensor that has a name: `total.add_(loss)`, and, once it is scaled,
    `average.mul_(0.9).add_(loss)`."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _IN_PLACE:
        return None
    holder = call.func.value
    while isinstance(holder, ast.Call) and isinstance(holder.func, ast.Attribute):
        if holder.func.attr not in _SCALING:
            return None
        holder = holder.func.value
    is_apart = isinstance(holder, ast.Attribute) and holder.attr in ("data", "grad")
    return None if is_apart else (_IN_PLACE[call.func.attr], holder)


_SCALING = ("mul", "mul_", "div", "div_")


def is_of(part: ast.expr, accumulator: str) -> bool:
    """Whether a term is the total, which a running average scales, or what `get` finds of it."""
    while isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult | ast.Div):
        if isinstance(part.op, ast.Mult) and ast.unparse(part.right) == accumulator:
            return True
        part = part.left
    while isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
        if part.func.attr not in _SCALING:
            break
        part = part.func.value
    match part:
        case ast.Call(func=ast.Attribute(value=whole, attr="get"), args=[key, *_]):
            return f"{ast.unparse(whole)}[{ast.unparse(key)}]" == accumulator
    return ast.unparse(part) == accumulator


def is_literal(loop: Any) -> bool:
    """Whether a loop goes through what its own text lists: the parts of one step."""
    return isinstance(loop, ast.For) and isinstance(loop.iter, ast.List | ast.Tuple)


def is_of_parts(loop: Any) -> bool:
    """Whether a loop goes through the parts of one tensor, which one step needs together."""
    if not isinstance(loop, ast.For):
        return False
    value = loop.iter
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.args:
        value = value.args[0]
    function = value.func if isinstance(value, ast.Call) else None
    return isinstance(function, ast.Attribute) and function.attr in _PARTS
