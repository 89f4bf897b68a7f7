"""Whether a class uses a plain list or dict that it keeps as a container of PyTorch's can be used,
which is no list and no dict: `nn.ModuleList` has no `index`, and nothing can be joined to it from
the left."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from device_lens.fixes.place import Place
from device_lens.syntax.names import is_own_attribute, last_name

_METHODS = {
    "ModuleList": frozenset("append extend insert pop".split()),
    "ParameterList": frozenset("append extend".split()),
    "ModuleDict": frozenset("clear items keys pop update values".split()),
    "ParameterDict": frozenset(
        "clear copy get items keys pop popitem setdefault update values".split()
    ),
}
"""What the containers (PyTorch 2.13) have of a list's or dict's methods."""
GOING_THROUGH = frozenset(
    "len enumerate zip iter list tuple reversed sorted map filter sum any all min max set next "
    "dict bool print repr str id chain Sequential ModuleList ParameterList ModuleDict "
    "ParameterDict".split()
)
"""Calls that take whatever can be gone through, with a length perhaps."""
OF_TENSORS = frozenset("cat stack concat concatenate hstack vstack dstack block_diag".split())
"""Calls that take a list or tuple of tensors, and nothing else."""
_OF_SEQUENCES = frozenset({"sample", "isinstance", "type"})
"""Calls that take a list where they take one, or ask whether it is one."""


def fit(assignment: Place, attribute: str, container: str) -> bool | None:
    """Whether all uses of an attribute in the file are such as the container knows; None where the
    text does not tell of some, as of one that is handed on."""
    if _asks_by_name(assignment.owner):
        return False
    uses = (each for each in places_of(assignment, attribute) if _reads(each.node))
    found = {_use(each, container) for each in uses}
    return False if False in found else None if None in found else True


_PLAIN = frozenset("list tuple dict set deque OrderedDict defaultdict Sequence Mapping".split())


def _asks_by_name(owner: ast.ClassDef | None) -> bool:
    """Whether a method that reads attributes by names which are not written asks what it finds
    whether it is a list or dict: `isinstance(getattr(self, name), list)`."""
    for method in getattr(owner, "body", ()):
        nodes = list(ast.walk(method))
        if any(map(_reads_by_name, nodes)) and any(map(_asks_for_plain, nodes)):
            return True
    return False


def _reads_by_name(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id="self"), name, *_]):
            return not isinstance(name, ast.Constant)
        case ast.Call(func=ast.Name(id="vars"), args=[ast.Name(id="self")]):
            return True
        case ast.Attribute(value=ast.Name(id="self"), attr="__dict__"):
            return True
    return False


def _asks_for_plain(node: ast.AST) -> bool:
    """`isinstance(x, (list, tuple))`, `type(x) is list`."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
            pass
        case ast.Compare(left=ast.Call(func=ast.Name(id="type")), comparators=[kinds]):
            pass
        case _:
            return False
    each = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
    return any(last_name(kind) in _PLAIN for kind in each)


def places_of(assignment: Place, attribute: str) -> Iterator[Place]:
    """The places that name the attribute: of `self` those of the class alone."""
    own = set() if assignment.owner is None else set(ast.walk(assignment.owner))
    for chunk in assignment.source.chunks:
        if attribute not in chunk.text:
            continue
        newest = assignment.source.newest(chunk)
        for statement in newest.body:
            for node in ast.walk(statement):
                if not isinstance(node, ast.Attribute) or node.attr != attribute:
                    continue
                if node in own or not is_own_attribute(node):
                    yield Place(assignment.source, newest, node)


def _reads(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Load)


def _use(place: Place, container: str) -> bool | None:
    node, parent = place.node, place.parent
    match parent:
        case ast.For() | ast.AsyncFor() | ast.comprehension() | ast.Starred() | ast.Subscript():
            return True
        case ast.Attribute(attr=name):
            return name in _METHODS[container] and _fits(name, place.at(parent).parent)
        case ast.BinOp(left=left, op=ast.Add()):
            return container == "ModuleList" and left is node
        case ast.BinOp():
            return False
        case ast.Call(func=called):
            return _is_taken_by(last_name(called), container)
        case ast.Compare(ops=[ast.In() | ast.NotIn()]):
            return True
        case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return True
        case ast.If() | ast.While() | ast.UnaryOp(op=ast.Not()) | ast.BoolOp() | ast.Assert():
            return True
    return None


def _fits(method: str, called: ast.AST | None) -> bool:
    """Whether a method takes what it is given; of a list or a dict it takes more."""
    if method == "pop":
        return isinstance(called, ast.Call) and len(called.args) == 1
    if method == "update":
        return isinstance(called, ast.Call) and not called.keywords
    return True


def _is_taken_by(name: str, container: str) -> bool | None:
    if name == "reversed" and container == "ModuleDict":
        return False
    if name in GOING_THROUGH:
        return True
    if name in _OF_SEQUENCES or (name in OF_TENSORS and container == "ParameterList"):
        return False
    return None
