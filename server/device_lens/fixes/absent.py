"""Whether a value may be None, or no tensor, where a loop begins that need not run at all."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from device_lens.fixes.bindings import may_be_none
from device_lens.fixes.bound_value import bound_value
from device_lens.fixes.names import is_local, own_nodes
from device_lens.fixes.place import FUNCTIONS, Place
from device_lens.syntax.names import last_name
from device_lens.syntax.pairing import parts_of
from device_lens.syntax.walking import walk

_GETTERS = {"get": 1, "pop": 2, "getattr": 3, "next": 2}
"""Calls that give None, or what they are given for it, where there is nothing: how many arguments
they have then. `d.pop(k)` and `next(it)` raise instead."""
_DEEP = 4
"""Through how many names a value is followed."""


def may_be_absent(receiver: Place, loop: Place) -> bool:
    """Whether a name or attribute may be None where the loop does not run, by what binds it and by
    how it is declared. A test of it around the loop, or one above that leaves, settles it."""
    return any(
        _may_be_none(receiver.at(node), _DEEP)
        for node in walk(receiver.node)
        if _is_reference(node) and not _is_settled(ast.unparse(node), loop)
    )


def _is_reference(node: ast.AST) -> bool:
    return isinstance(node, ast.Name | ast.Attribute)


def _may_be_none(reader: Place, deep: int) -> bool:
    if deep == 0:
        return False
    node = reader.node
    assert isinstance(node, ast.expr)
    if may_be_none(reader, ast.unparse(node)) or _is_declared_so(reader):
        return True
    last = bound_value(reader)
    values = _bound_to(reader) if last is None else [last]
    return any(_gives_none(each, deep) for each in values)


def _bound_to(reader: Place) -> Iterator[Place]:
    """What a name is bound to in the scope that it belongs to, or an attribute of any object in the
    file's classes."""
    node = reader.node
    if isinstance(node, ast.Attribute):
        own = reader.owner if ast.unparse(node).startswith("self.") else None
        roots: Iterable[ast.AST] = reader.top_level if own is None else (own,)
        nodes = (each for root in roots for each in walk(root))
        yield from _values(reader, nodes, node.attr, ast.Attribute)
    elif isinstance(node, ast.Name):
        function = next(
            (each for each in reader.ancestors() if _binds(each, node.id)),
            None,
        )
        if function is not None:
            yield from _values(reader, own_nodes(function), node.id, ast.Name)
        else:
            inside = (each for root in reader.top_level for each in _outside(root, node.id))
            yield from _values(reader, inside, node.id, ast.Name)


def _binds(function: ast.AST, name: str) -> bool:
    if not isinstance(function, FUNCTIONS) or not is_local(function, name):
        return False
    declared = (each for each in own_nodes(function) if isinstance(each, ast.Global))
    return not any(name in each.names for each in declared)


def _outside(statement: ast.AST, name: str) -> Iterator[ast.AST]:
    """The nodes of a statement at top level, those of functions left out that have a name of their
    own."""
    pending = [statement]
    while pending:
        node = pending.pop()
        if not _binds(node, name):
            yield node
            pending += ast.iter_child_nodes(node)


def _values(
    reader: Place, nodes: Iterable[ast.AST], name: str, kind: type[ast.expr]
) -> Iterator[Place]:
    for node in nodes:
        if not isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            inner = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
            given = parts_of(inner, node.value) if inner[:1] != [target] else [node.value]
            for each, value in zip(inner, given, strict=True):
                if isinstance(each, kind) and last_name(each) == name and value is not None:
                    yield reader.at(value)


def _gives_none(value: Place, deep: int) -> bool:
    """Whether an expression may give None; `a and b` may give what is no tensor."""
    match value.node:
        case ast.Constant(value=None) | ast.BoolOp(op=ast.And()):
            return True
        case ast.IfExp(body=body, orelse=orelse):
            return any(_gives_none(value.at(each), deep) for each in (body, orelse))
        case ast.BoolOp(values=[*_, last]):
            return _gives_none(value.at(last), deep)
        case ast.Call(func=function, args=args, keywords=keywords):
            name = last_name(function)
            given = [*args, *(each.value for each in keywords)]
            most = _GETTERS.get(name)
            if most is not None:
                short = name == "get" and len(given) == most
                return short or (len(given) >= most and _is_none(given[-1]))
            return _answers_none(value, name)
        case ast.Name() | ast.Attribute() if _is_local_name(value):
            return _may_be_none(value, deep - 1)
    return False


def _is_local_name(value: Place) -> bool:
    return isinstance(value.node, ast.Name) or ast.unparse(value.node).startswith("self.")


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _answers_none(value: Place, name: str) -> bool:
    """Whether a function of the file returns None in some case."""
    for statement in value.top_level:
        for each in walk(statement):
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name == name:
                returns = [node for node in own_nodes(each) if isinstance(node, ast.Return)]
                if any(node.value is None or _is_none(node.value) for node in returns):
                    return True
                if any(isinstance(node.value, ast.IfExp) and _names_none(node) for node in returns):
                    return True
    return False


def _names_none(node: ast.AST) -> bool:
    return any(isinstance(each, ast.expr) and _is_none(each) for each in walk(node))


def _is_declared_so(reader: Place) -> bool:
    """Whether a parameter is declared as one that may be None: `Optional[Tensor]`."""
    node, function = reader.node, reader.function
    arguments = getattr(function, "args", None)
    if not isinstance(node, ast.Name) or not isinstance(arguments, ast.arguments):
        return False
    return any(
        each.arg == node.id and each.annotation is not None and _allows_none(each.annotation)
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    )


def _allows_none(annotation: ast.expr) -> bool:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return "Optional" in annotation.value or "None" in annotation.value
    return _names_none(annotation) or any(
        isinstance(each, ast.Name | ast.Attribute) and last_name(each) == "Optional"
        for each in walk(annotation)
    )


def _is_settled(text: str, loop: Place) -> bool:
    """Whether the loop stands under a test of the value, or behind one that leaves, or gives it
    another value, where it is None."""
    child: ast.AST = loop.node
    for node in loop.ancestors():
        if isinstance(node, ast.If):
            asked = _asks_for(node.test, text)
            if asked is not None and asked == any(child is each for each in node.body):
                return True
        if any(_settles(each, text) for each in before(node, child)):
            return True
        if isinstance(node, FUNCTIONS):
            return False
        child = node
    return any(_settles(each, text) for each in _above(loop.top_level, child))


def before(node: ast.AST, child: ast.AST) -> list[ast.stmt]:
    """The statements before one in its block of a node."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and any(each is child for each in block):
            return _above(block, child)
    return []


def _above(block: list[ast.stmt], child: ast.AST) -> list[ast.stmt]:
    index = next((i for i, each in enumerate(block) if each is child), 0)
    return block[:index]


def _settles(statement: ast.stmt, text: str) -> bool:
    if isinstance(statement, ast.Assert):
        return _asks_for(statement.test, text) is True
    if not isinstance(statement, ast.If) or _asks_for(statement.test, text) is not False:
        return False
    last = statement.body[-1]
    if isinstance(last, ast.Return | ast.Raise | ast.Continue | ast.Break):
        return True
    return any(
        isinstance(each, ast.Assign) and text in map(ast.unparse, each.targets)
        for each in statement.body
    )


def _asks_for(test: ast.expr, text: str) -> bool | None:
    """True for a test that holds only where a value is there (`x is not None`, `x`), False for one
    that holds where it is not; None for others."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            asked = _asks_for(operand, text)
            return None if asked is None else not asked
        case ast.BoolOp(op=ast.And(), values=values):
            return True if any(_asks_for(each, text) is True for each in values) else None
        case ast.Compare(left=left, ops=[op], comparators=[ast.Constant(value=None)]):
            if ast.unparse(left) != text or not isinstance(op, ast.Is | ast.IsNot):
                return None
            return isinstance(op, ast.IsNot)
        case ast.Call(func=ast.Name(id="isinstance"), args=[asked_of, _]):
            return True if ast.unparse(asked_of) == text else None
    return True if ast.unparse(test) == text else None
