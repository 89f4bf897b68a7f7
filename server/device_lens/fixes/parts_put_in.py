"""What is put into a plain list or dict that a module keeps: a container of PyTorch's takes nothing
but modules or parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from device_lens.fixes.bound_value import bound_value
from device_lens.fixes.container_uses import places_of
from device_lens.fixes.names import loads
from device_lens.fixes.place import Place
from device_lens.syntax.import_statements import bound_names
from device_lens.syntax.names import is_own_attribute, last_name, root_name
from device_lens.syntax.walking import walk

_PUTTING = frozenset({"append", "add", "insert", "setdefault"})
_PUTTING_ALL = frozenset({"extend", "update"})
_NO_PARTS = (
    ast.Lambda,
    ast.Tuple,
    ast.List,
    ast.Dict,
    ast.Set,
    ast.ListComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.JoinedStr,
    ast.Compare,
)


def takes_other_things(assignment: Place, value: ast.expr, attribute: str) -> bool:
    """Whether the file is seen to put a function, a number or another container into what an
    attribute is set to."""
    held = list(_elements(value))
    if isinstance(value, ast.Name):
        made = bound_value(assignment.at(value))
        held += [] if made is None else _elements(made.node)
        held += _put_by(assignment, value.id)
    for use in places_of(assignment, attribute):
        held += _put_at(use)
        match use.parent:
            case ast.Assign(targets=[ast.Name(id=name)], value=same) if same is use.node:
                held += _put_by(use, name)
    return any(_is_no_part(each, assignment) for each in held)


def _put_by(place: Place, name: str) -> Iterator[ast.expr]:
    """What the function puts in where the container has a local name."""
    function = place.function
    for node in loads(function, name) if function is not None else ():
        yield from _put_at(place.at(node))


def _put_at(use: Place) -> Iterator[ast.expr]:
    """What a place that names the container puts into it."""
    parent = use.parent
    outer = None if parent is None else use.at(parent).parent
    match parent, outer:
        case ast.Attribute(attr=method), ast.Call(func=called, args=[*_, last]) if called is parent:
            if method in _PUTTING:
                yield last
            elif method in _PUTTING_ALL:
                yield from _elements(last)
        case ast.Subscript(ctx=ast.Store()), ast.Assign(value=value):
            yield value
        case ast.AugAssign(target=target, value=value), _ if target is use.node:
            yield from _elements(value)


def _elements(container: ast.AST) -> Iterator[ast.expr]:
    """What a written container holds."""
    match container:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            yield from elements
        case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element):
            yield element
        case ast.Dict(values=values):
            yield from values
        case ast.DictComp(value=value):
            yield value
        case ast.BinOp(left=left, right=right):
            yield from _elements(left)
            yield from _elements(right)
        case ast.IfExp(body=body, orelse=other):
            yield from _elements(body)
            yield from _elements(other)
        case ast.Call(args=[only], keywords=[]):
            yield from _elements(only)


def _is_no_part(value: ast.expr, place: Place) -> bool:
    match value:
        case ast.Constant(value=None):
            return False
        case ast.Constant():
            return True
        case ast.IfExp(body=body, orelse=other):
            return _is_no_part(body, place) or _is_no_part(other, place)
        case ast.Call(func=called):
            return last_name(called) == "partial"
        case ast.Name(id=name):
            return any(_defines(each, name) for each in _statements(place))
        case ast.Attribute(attr=name):
            if is_own_attribute(value):
                return any(_defines(each, name) for each in getattr(place.owner, "body", ()))
            return name[:1].islower() and _is_imported(place, root_name(value))
    return isinstance(value, _NO_PARTS)


def _statements(place: Place) -> Iterator[ast.AST]:
    """The statements at the top level, and the nodes of the function around."""
    yield from place.top_level
    if place.function is not None:
        yield from walk(place.function)


def _defines(node: ast.AST, name: str) -> bool:
    """Whether a statement defines a function of that name; what a property gives is not known."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    return node.name == name and not node.decorator_list


def _is_imported(place: Place, name: str) -> bool:
    """Whether a name is that of a module which the file imports, as far as the text tells."""
    return any(name == bound for each in place.top_level for _, bound in bound_names(each))
