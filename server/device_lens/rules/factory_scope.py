"""Whether a factory without `device=` is the cause of a mismatch, or only where data begins.

At the top of a script, in a dataset or as a field's default, a factory makes data or constants,
which live on the host until they are moved: there the missing move is the cause. In a function
that works on tensors, the factory could have followed them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import TypeGuard

from device_lens.domain.trail import Trail
from device_lens.fixes.blocks import block_of
from device_lens.fixes.factories import RANDOM, short_name
from device_lens.fixes.place import FUNCTIONS, Place
from device_lens.rules.set_up_order import runs_in_set_up
from device_lens.syntax.gathering import gather

_DATA = RANDOM | {"from_numpy", "frombuffer", "load"}
"""Factories whose tensors stand for data rather than for a part of the computation."""
_BATCHING = re.compile(r"Dataset$|DataLoader$")
_SIZES = ("shape", "size", "dim", "ndim", "numel")
_HOST_METHODS = ("__getitem__", "__getitems__", "__iter__", "__next__", "__len__")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_HOST_WORD = re.compile("collat(e|ed|or|ors|er|ers|ion)|augment(ed|er|ers|ation|ations)?|datasets?")
_OF_IMAGES = re.compile("transforms?")
"""What such a word stands for depends on what follows: `transform_points` moves points."""
_TRANSFORMED = frozenset("fn func image images img sample data batch".split())

_OF_DATA = re.compile(
    "datasets|(data_?)?transforms|augmentations?|(data_?)?collat(ors?|e)|data_?loaders?"
)


def is_cause(factory: Place, conflict: Place, name: str) -> bool:
    """Whether the factory call `factory` explains a conflict at `conflict`."""
    if _feeds_batches(factory):
        return False
    maker = factory.function
    is_data = short_name(name) in _DATA
    if maker is None:
        return factory.owner is None and conflict.function is None and not is_data
    if not isinstance(maker, FUNCTIONS) or serves_data(factory, maker):
        return False
    return not is_data or bool(maker.args.args or maker.args.kwonlyargs)


def _feeds_batches(factory: Place) -> bool:
    """Whether what the factory makes is given to a dataset or loader, at once or by its name:
    batches move after they are made."""
    statement = factory.statement.node
    if any(_BATCHING.search(name) for name in _called(factory.ancestors())):
        return True
    if not isinstance(statement, ast.Assign):
        return False
    names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
    return any(
        name in names
        for other in block_of(factory.statement)
        for name in gather(other, "_names_given_to_batches", _given_to_batches)
    )


def _given_to_batches(node: ast.AST) -> Iterable[str]:
    """The names that a node gives to a dataset or loader."""
    given = node.args if isinstance(node, ast.Call) else ()
    names = [each.id for each in given if isinstance(each, ast.Name)]
    return names if names and any(_BATCHING.search(name) for name in _called([node])) else ()


def _called(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """What the calls among the nodes call, as it is written."""
    for node in nodes:
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


def serves_data(
    factory: Place, function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
) -> bool:
    """Whether the function belongs to a dataset, a transform or a collate function."""
    if isinstance(function, ast.Lambda):
        around = factory.at(function)
        if any(map(_is_of_host, _names_of(around))):
            return True
        maker = around.function
        return isinstance(maker, FUNCTIONS) and serves_data(around, maker)
    owner = factory.owner
    if owner is None:
        return _is_of_host(function.name)
    bases = [ast.unparse(base) for base in owner.bases]
    if any(map(_is_of_host, bases)):
        return True
    if _is_module(owner, bases):
        return False
    names = (function.name, owner.name)
    return function.name in _HOST_METHODS or any(map(_is_of_host, names))


def _is_module(owner: ast.ClassDef, bases: list[str]) -> bool:
    """Whether a class is a module by its bases or its `forward`: a network works where its input
    is, whatever it is called."""
    has_forward = any(getattr(each, "name", None) == "forward" for each in owner.body)
    return has_forward or any(base.endswith("Module") for base in bases)


def _is_of_host(name: str) -> bool:
    """Whether what has a name prepares data, by the words in it: `TrainTransform`, `collate_fn`,
    but no `Transformer`."""
    words = [word.lower() for word in _WORD.findall(name)]
    return any(
        _HOST_WORD.fullmatch(word)
        or (_OF_IMAGES.fullmatch(word) and _TRANSFORMED.issuperset(words[at + 1 :][:1]))
        for at, word in enumerate(words)
    )


def _names_of(function: Place) -> Iterator[str]:
    """What a lambda is known by: the name that it is assigned to, and what it is given to, as it is
    written."""
    for node in function.ancestors():
        if isinstance(node, ast.keyword):
            yield node.arg or ""
        elif isinstance(node, ast.Call):
            yield ast.unparse(node.func)
        elif isinstance(node, ast.Assign):
            yield from (ast.unparse(target) for target in node.targets)
        if isinstance(node, (ast.stmt, *FUNCTIONS)):
            return


def is_of_data(path: str) -> bool:
    """Whether a file is for the data, by its name or by that of its folder."""
    return any(_OF_DATA.fullmatch(part.partition(".")[0]) for part in path.split("/")[-2:])


def is_module_constant(factory: Place, conflict: Place, stray: str) -> bool:
    """Whether the factory makes a tensor in the body of an `nn.Module` class, which its methods
    read as `self.NAME`."""
    owner = factory.owner
    if owner is None or factory.function is not None or owner is not conflict.owner:
        return False
    return stray.startswith("self.") and any(
        ast.unparse(base).endswith("Module") for base in owner.bases
    )


def cached_factory(assignment: Place, trail: Trail | None) -> Trail | None:
    """The step in which a factory made what a method keeps in an attribute: a cache, which is made
    anew where the inputs are at hand. What sets the object up has none at hand."""
    if trail is None or sets_up(assignment):
        return None
    first = trail.first
    node = first.site.node
    if first.kind != "created" or not isinstance(node, ast.Call):
        return None
    if first.site.path == assignment.path:
        made = Place(assignment.source, first.site.chunk, node)
        if made.owner is assignment.owner and sets_up(made):
            return None
    if any(each.arg in ("device", None) for each in node.keywords):
        return None
    return first


def sets_up(place: Place) -> bool:
    """Whether a place is in no method, or in one that runs while its object is made."""
    function, owner = place.function, place.owner
    if not isinstance(function, ast.FunctionDef):
        return True
    return owner is not None and runs_in_set_up(function, owner)


def tries_out(factory: Place) -> bool:
    """Whether a method of a module runs that module for nothing but a look at its output, which it
    asserts something of or prints."""
    method, owner = factory.function, factory.owner
    if owner is None or not isinstance(method, ast.FunctionDef) or not method.args.args:
        return False
    me = method.args.args[0].arg
    runs = [node for node in ast.walk(method) if _runs(node, me)]
    if not runs or any(_gives_out(node) for node in ast.walk(method)):
        return False
    names = set()
    for statement in method.body:
        if isinstance(statement, ast.Assign) and statement.value in runs:
            names |= {node.id for node in ast.walk(statement.targets[0]) if _is_name(node)}
    looked_at = {id(inner) for node in ast.walk(method) if _looks(node) for inner in ast.walk(node)}
    return all(
        id(node) in looked_at
        for node in ast.walk(method)
        if _is_name(node) and node.id in names and isinstance(node.ctx, ast.Load)
    )


def _runs(node: ast.AST, me: str) -> bool:
    """`self(x)` or `self.forward(x)`."""
    return isinstance(node, ast.Call) and ast.unparse(node.func) in (me, f"{me}.forward")


def _gives_out(node: ast.AST) -> bool:
    if isinstance(node, ast.Return):
        return node.value is not None
    return isinstance(node, ast.Yield | ast.YieldFrom)


def _is_name(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name)


def _looks(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) == "print"
    return isinstance(node, ast.Assert) or (isinstance(node, ast.Attribute) and node.attr in _SIZES)
