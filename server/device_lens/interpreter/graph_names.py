"""The names whose values an expression, a loop or a call hands on with their graphs."""

from __future__ import annotations

import ast
from typing import Any

from device_lens.domain.heap import Instance, contents
from device_lens.interpreter import scan
from device_lens.interpreter.graph_flow import DROP, arguments
from device_lens.syntax.names import last_name
from device_lens.syntax.walking import walk

_COPIES = frozenset(
    "cpu cuda to float double half clone mean sum squeeze unsqueeze view reshape flatten".split()
)
"""Methods whose result keeps the graph of what it is taken from."""

_ONE_BY_ONE = frozenset("len enumerate zip reversed list tuple sorted iter filter".split())
"""Builtins whose result goes through what they are given."""


def operands(node: Any) -> set[str]:
    """The names whose values an expression adds, scales or copies, those in other calls left
    out. `output["loss"]` is a name of its own."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return {ast.unparse(node)} if isinstance(node.value, ast.Name) else set()
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return operands(node.func.value) if node.func.attr in _COPIES else set()
    if isinstance(node, ast.BinOp):
        return operands(node.left) | operands(node.right)
    if isinstance(node, ast.UnaryOp):
        return operands(node.operand)
    return set()


def taken_of(value: ast.expr) -> set[str]:
    """The name of that of which an expression is an item, or of which a method makes it."""
    while not isinstance(value, ast.Name):
        match value:
            case ast.Subscript(value=whole) | ast.Call(func=ast.Attribute(value=whole)):
                value = whole
            case _:
                return set()
    return {value.id}


def terms(run: Any, totals: set[str]) -> set[str]:
    """Totals with what a run adds up to them: the backward pass of `loss = first + second` is that
    of both."""
    found = set(totals)
    for node in walk(run):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp()):
                found |= operands(node.value) if name in totals else set()
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add()):
                found |= operands(node.value) if name in totals else set()
    return found


def started_from(node: ast.Call) -> set[str]:
    """The names of `loss.backward()`, `scaler.scale(loss).backward()`, `engine.backward(loss)`."""
    assert isinstance(node.func, ast.Attribute)
    value = node.func.value
    if node.args:
        return operands(node.args[0])
    if isinstance(value, ast.Call) and value.args:
        return operands(value.args[0])
    return operands(value)


def parts_of(value: ast.expr) -> list[ast.expr]:
    """The items that a list, tuple, dict or object is written with; else the value itself."""
    if isinstance(value, ast.List | ast.Tuple):
        return value.elts
    if isinstance(value, ast.Call) and _makes(value):
        return [*value.args, *(each.value for each in value.keywords)]
    return value.values if isinstance(value, ast.Dict) else [value]


def only_item(value: ast.expr) -> ast.expr | None:
    """The item of a list or tuple that is written with one."""
    match value:
        case ast.List(elts=[item]) | ast.Tuple(elts=[item]) if not isinstance(item, ast.Starred):
            return item
    return None


def given_to(call: Any) -> list[ast.expr]:
    """The arguments of a call, the items of a list or tuple apart."""
    found: list[ast.expr] = []
    for argument in arguments(call) if isinstance(call, ast.Call) else ():
        found += argument.elts if isinstance(argument, ast.List | ast.Tuple) else [argument]
    return found


def iterated(loop: Any, names: set[str]) -> set[str]:
    """The names that a loop goes through, where its target holds one of these."""
    if not isinstance(loop, ast.For) or not any(
        isinstance(each, ast.Name) and each.id in names for each in walk(loop.target)
    ):
        return set()
    return set[str]().union(*map(operands, _gone_through(loop.iter)))


def _gone_through(value: ast.expr) -> list[ast.expr]:
    """What a loop over an expression goes through: the items that it is written with, else it."""
    match value:
        case ast.Call(args=[_, *_] as given):
            return [each for argument in given for each in _gone_through(argument)]
        case ast.Call(func=ast.Attribute(value=inner, attr="items" | "values")):
            return _gone_through(inner)
        case ast.Dict(values=items) | ast.List(elts=items) | ast.Tuple(elts=items):
            return items
    return [value]


def gone_through(value: ast.expr) -> list[ast.expr]:
    """What a loop over an expression goes through one by one, by itself or by its numbers: `xs` of
    `zip(xs, ys)`, `enumerate(xs)`, `range(len(xs))` and `range(xs.size(0))`."""
    match value:
        case ast.Call(func=ast.Name(id="range"), args=[ast.Call(func=ast.Name(id="len"))]):
            return gone_through(value.args[0])
        case ast.Call(func=ast.Name(id="range"), args=[ast.expr() as count]) if sized := _measured(
            count
        ):
            return [sized]
        case ast.Call(func=ast.Name(id=name), args=given) if name in _ONE_BY_ONE:
            return [each for argument in given for each in gone_through(argument)]
        case ast.Call(func=ast.Attribute(value=inner, attr="items" | "values")):
            return [inner]
    return [value]


def _measured(count: ast.expr) -> ast.expr | None:
    """The tensor whose length along some side a number is."""
    match count:
        case ast.Call(func=ast.Attribute(value=tensor, attr="size"), args=[_]):
            return tensor
        case ast.Subscript(value=ast.Attribute(value=tensor, attr="shape")):
            return tensor
    return None


def container_of(value: ast.expr) -> ast.expr:
    """What an expression takes an item of, of an item perhaps; itself where it takes none."""
    while True:
        match value:
            case ast.Subscript(value=whole):
                value = whole
            case ast.Call(func=ast.Attribute(value=whole, attr="setdefault")):
                value = whole
            case _:
                return value


def part_of(value: ast.expr, run: Any) -> ast.Name | None:
    """The name, which a run does not bind, of what an expression takes an item of."""
    node = container_of(value)
    if node is value or not isinstance(node, ast.Name) or node.id in scan.loop_info(run).names:
        return None
    return node


def hands_on(value: ast.expr, part: Any) -> bool:
    """Whether an expression is computed from a part of it, with the part's graph."""
    inner: ast.expr | None = value
    while inner is not None and inner is not part:
        match inner:
            case ast.Call(func=ast.Attribute(value=receiver, attr=method), args=given):
                inside = next((each for each in given if _is_in(part, each)), None)
                inner = inside or (None if method in DROP else receiver)
            case ast.Call(args=given):
                inner = next((each for each in given if _is_in(part, each)), None)
            case ast.BinOp(left=left, right=right):
                inner = left if _is_in(part, left) else right
            case ast.UnaryOp(operand=operand):
                inner = operand
            case _:
                inner = None
    return inner is part


def _is_in(part: Any, node: ast.expr) -> bool:
    return any(each is part for each in walk(node))


def held_in(value: Any, made: ast.expr) -> list[Any]:
    """What a tuple, list or dict holds, or an object that is made where it is put away."""
    if type(value) is Instance and _makes(made):
        return list(value.fields.values())
    return contents(value)


def _makes(node: ast.expr) -> bool:
    """Whether an expression calls a class, by its name."""
    return isinstance(node, ast.Call) and last_name(node.func)[:1].isupper()
