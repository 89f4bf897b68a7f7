"""Which names of a text may share memory, and into which of them a loop writes.

Told by the text alone: a view, an item or a container shares with what it is made of, the result of
any other call does not. A name is known by its text (`x`, `self.mean`); items belong to what holds
them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from device_lens.syntax.gathering import gather, holds_statements, statements_of
from device_lens.syntax.in_place import (
    asks_in_place,
    is_function_in_place,
    is_in_place,
    maker_of,
    makes_in_place,
)
from device_lens.syntax.names import is_own_attribute, last_name, set_by_call
from device_lens.syntax.pairing import parts_of
from device_lens.syntax.walking import walk


@dataclass(frozen=True, slots=True)
class Defined:
    """A function or class of a file, with the class whose method it is. An object of a class is
    known by what runs where it is called, and a module that works in place by the call that makes
    it."""

    node: ast.AST
    owner: ast.ClassDef | None = None


Definitions = Mapping[str, Defined]
"""The functions, classes and callable objects of a file by name, methods included."""
_DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_OWN = "self."
MOVED = "<moved>"
"""The name of the result of a call that is asked about."""

_VIEWS = frozenset(
    """view reshape flatten unflatten squeeze unsqueeze t transpose permute movedim swapaxes expand
    expand_as view_as narrow select diagonal unfold chunk split tensor_split unbind detach
    contiguous to cpu cuda float double half bfloat16 long int type type_as numpy pin_memory
    values items get pop copy ravel real imag swapdims state_dict parameters buffers""".split()
)
"""Methods whose result may be the memory of what they are called on."""
_WRAPPERS = frozenset("from_numpy as_tensor asarray frombuffer atleast_1d atleast_2d".split())
_PASSERS = frozenset("zip enumerate list tuple reversed iter next sorted dict set map".split())
"""Builtins whose result holds what they are given."""
_OF_MEMORY = frozenset("data T mT H mH real imag flat".split())
_NO_MEMORY = frozenset("shape dtype device ndim layout is_cuda grad requires_grad".split())
ADDERS = frozenset("append appendleft insert add update setdefault extend".split())
"""Methods that put what they are given into a container."""
_FILLERS = frozenset("fill put itemset partition sort resize".split())
"""Methods that write into an array."""
_FILLING = frozenset("copyto put place putmask fill_diagonal shuffle readinto".split())
"""Calls that write into the array that they are given first."""
_TRAINED = frozenset({"Parameter", "ParameterList", "from_pretrained"})
"""Calls that make what they are given parameters, which an optimizer writes."""
_SETTERS = frozenset("requires_grad data".split())
"""Attributes of a tensor that make another one of it."""


def definitions(body: Sequence[ast.AST]) -> dict[str, Defined]:
    """The functions, classes, methods and callable objects that statements define, by name."""
    found = _defined(body)
    for statement in body:
        for name, maker, writes in gather(statement, "_made_objects", _made, holds_statements):
            called = Defined(maker) if writes else _called(maker, found)
            if called is not None:
                found.setdefault(name, called)
    return found


def _made(node: ast.AST) -> Iterator[tuple[str, ast.Call, bool]]:
    """The names and own attributes to which an assignment gives what a call makes, and whether that
    is a module that works in place."""
    for target, value in _pairs(node):
        maker = maker_of(value)
        if maker is not None and (isinstance(target, ast.Name) or is_own_attribute(target)):
            yield last_name(target), maker, makes_in_place(maker)


def _pairs(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """The targets of an assignment with what each gets, or what `setattr` sets."""
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call) and (by_call := set_by_call(call)) is not None:
        yield by_call, call.args[2]
    if not isinstance(node, ast.Assign):
        return
    for target in node.targets:
        if isinstance(target, ast.Tuple | ast.List):
            yield from zip(target.elts, parts_of(target.elts, node.value), strict=True)
        else:
            yield target, node.value


def _defined(body: Iterable[ast.AST], owner: ast.ClassDef | None = None) -> dict[str, Defined]:
    found: dict[str, Defined] = {}
    for statement in body:
        if isinstance(statement, _DEFINING):
            found[statement.name] = Defined(statement, owner)
        if isinstance(statement, ast.ClassDef):
            found |= _defined(statement.body, statement)
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = (each for each in statements_of(statement) if isinstance(each, ast.FunctionDef))
            found |= {each.name: Defined(each) for each in inner if each is not statement}
    return found


def _called(maker: ast.Call, known: Definitions) -> Defined | None:
    """What runs where the object of a class that a call makes is called."""
    made = known.get(last_name(maker.func))
    if made is None or not isinstance(made.node, ast.ClassDef):
        return None
    methods = (each for each in made.node.body if isinstance(each, ast.FunctionDef))
    found = next((each for each in methods if each.name in ("forward", "__call__")), None)
    return None if found is None else Defined(found, made.node)


def names_of(node: ast.AST | None, moved: ast.AST | None = None) -> Iterator[str]:
    """The names whose memory the value of an expression may share. `moved` is a call whose result
    is new, known as `MOVED`."""
    if node is None or node is moved:
        yield from () if node is None else (MOVED,)
    elif isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        if node.attr in _OF_MEMORY:
            yield from names_of(node.value, moved)
        elif node.attr not in _NO_MEMORY:
            yield ast.unparse(node)
    elif isinstance(node, ast.Call):
        yield from _names_of_call(node, moved)
    else:
        for part in _parts(node):
            yield from names_of(part, moved)


_LISTS = (ast.List, ast.Tuple, ast.ListComp)


def _parts(node: ast.AST) -> Iterable[ast.AST | None]:
    """The expressions of which the value of another one may be the value, or hold it."""
    match node:
        case ast.Starred(value=value) | ast.Subscript(value=value) | ast.NamedExpr(value=value):
            return (value,)
        case ast.Tuple(elts=values) | ast.List(elts=values) | ast.Set(elts=values):
            return values
        case ast.Dict(values=values) | ast.BoolOp(values=values):
            return values
        case ast.IfExp(body=body, orelse=orelse):
            return (body, orelse)
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult(), right=right):
            return (left, right) if isinstance(left, _LISTS) or isinstance(right, _LISTS) else ()
        case ast.ListComp(elt=elt) | ast.GeneratorExp(elt=elt) | ast.SetComp(elt=elt):
            return (elt,)
        case ast.DictComp(value=value):
            return (value,)
    return ()


def _names_of_call(call: ast.Call, moved: ast.AST | None) -> Iterator[str]:
    function = call.func
    if isinstance(function, ast.Attribute):
        if function.attr in _VIEWS or is_in_place(function.attr):
            yield from names_of(function.value, moved)
        passes = function.attr in _WRAPPERS
    else:
        passes = isinstance(function, ast.Name) and function.id in _PASSERS | _WRAPPERS
    if passes or _names_class(last_name(function)) or is_function_in_place(function):
        for argument in (*call.args, *(each.value for each in call.keywords)):
            yield from names_of(argument, moved)


def _names_class(name: str) -> bool:
    """Whether a name is such as classes have: `State`, not `G`, as a generator may be called."""
    return name[:1].isupper() and any(map(str.islower, name))


def sharing(
    names: Iterable[str], nodes: Iterable[ast.AST], moved: ast.AST | None = None
) -> set[str]:
    """The names that may share memory with these, by what the nodes of a scope bind."""
    read, keeps = partial(_bound, moved=moved), partial(_is_apart, moved=moved)
    bound = [group for node in nodes for group in gather(node, "_groups", read, keeps=keeps)]
    found = set(names)
    grown = True
    while grown:
        before = len(found)
        for group in bound:
            if not found.isdisjoint(group):
                found |= group
        grown = len(found) > before
    return found


def _is_apart(statement: ast.AST, moved: ast.AST | None) -> bool:
    """Whether a statement surely has no such call in it, by their lines."""
    line, first = getattr(moved, "lineno", None), getattr(statement, "lineno", 0)
    return line is None or not first <= line <= (getattr(statement, "end_lineno", None) or line)


def shared_attributes(names: Iterable[str], owner: ast.ClassDef) -> set[str]:
    """The attributes of `self` that may share memory with those among some names, by what the
    methods of a class bind."""
    own = {each for each in names if each.startswith(_OWN)}
    found = sharing(own, owner.body) if own else own
    return {each for each in found if each.startswith(_OWN)}


def _bound(node: ast.AST, moved: ast.AST | None) -> Iterator[set[str]]:
    """The names that a node makes share memory."""
    targets: list[ast.expr] = []
    value: ast.AST | None = None
    match node:
        case ast.Assign():
            targets, value = node.targets, node.value
            if isinstance(value, ast.Tuple):
                for target in targets:
                    if isinstance(target, ast.Tuple) and len(target.elts) == len(value.elts):
                        for one, other in zip(target.elts, value.elts, strict=True):
                            yield {*names_of(one), *names_of(other, moved)}
                        return
        case ast.AnnAssign(target=target) | ast.NamedExpr(target=target):
            targets, value = [target], node.value
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            targets = [target]
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            targets = [target]
        case ast.Call(func=ast.Name(id="setattr"), args=[_, _, given]):
            by_call = set_by_call(node)
            if by_call is None:
                return
            targets, value = [by_call], given
        case ast.Call(func=ast.Attribute(attr=attr, value=holder)) if attr in ADDERS:
            held = (name for each in node.args for name in names_of(each, moved))
            yield {*names_of(holder, moved), *held}
            return
        case _:
            return
    yield {*names_of(value, moved), *(name for each in targets for name in names_of(each))}


def written(roots: Iterable[ast.AST], known: Definitions, moved: ast.AST | None = None) -> set[str]:
    """The names into whose memory nodes write: by an assignment to an item, `x += …`, a method such
    as `add_`, `out=`, `inplace=True`, or a function of `known` that does so with what it is
    given."""
    return {
        name
        for root in roots
        for node in walk(root)
        for place in _written(node, known)
        for name in names_of(place, moved)
    }


def _written(node: ast.AST, known: Definitions) -> Iterator[ast.AST]:
    """The expressions whose values a node writes into."""
    match node:
        case ast.AugAssign(target=target):
            yield target
        case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
            yield value
        case ast.Attribute(value=value, attr=attr, ctx=ast.Store()) if attr in _SETTERS:
            yield value
        case ast.keyword(arg="out", value=value):
            yield value
        case ast.Call():
            yield from _written_by_call(node, known)


def _written_by_call(call: ast.Call, known: Definitions) -> Iterator[ast.AST]:
    function = call.func
    by_call = set_by_call(call)
    if by_call is not None and by_call.attr in _SETTERS:
        yield by_call.value
    if isinstance(function, ast.Attribute):
        if is_in_place(function.attr) or function.attr in _FILLERS:
            yield function.value
        if function.attr in _FILLING:
            yield from call.args[:1]
    if is_function_in_place(function):
        yield from call.args[:1]
    name = last_name(function)
    if name in _TRAINED or asks_in_place(call, function):
        yield from call.args
    elif name in known:
        yield from _given_to_writer(call, known[name].node, known)
        yield from _written_elsewhere(call, known[name])


def _given_to_writer(call: ast.Call, definition: ast.AST, known: Definitions) -> Iterator[ast.AST]:
    """The arguments that a function of the file writes into; of a class, all, where it writes into
    anything."""
    if isinstance(definition, ast.Call):
        yield from call.args[:1]
        return
    if isinstance(definition, ast.ClassDef):
        if written(definition.body, {}):
            yield from (*call.args, *(each.value for each in call.keywords))
        return
    assert isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef)
    own = [each.arg for each in (*definition.args.posonlyargs, *definition.args.args)]
    changed = sharing(written(definition.body, {}), definition.body)
    changed |= _written_by_modules(definition.body, known)
    bound = own[1:] if own[:1] == ["self"] else own
    for name, argument in zip(bound, call.args, strict=False):
        if name in changed:
            yield argument
    for keyword in call.keywords:
        if keyword.arg in changed:
            yield keyword.value


def _written_by_modules(body: Iterable[ast.AST], known: Definitions) -> set[str]:
    """The names that modules which work in place are called with before anything else gives the
    names another value."""
    nodes = [node for each in body for node in walk(each)]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    stores = [
        (target.id, node)
        for node in nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    return {
        name
        for call in calls
        if (defined := known.get(last_name(call.func))) and isinstance(defined.node, ast.Call)
        for name in names_of(call.args[0] if call.args else None)
        if not any(each == name and node.lineno < call.lineno for each, node in stores)
    }


def _written_elsewhere(call: ast.Call, defined: Defined) -> Iterator[ast.AST]:
    """What a function of the file writes into besides what it is given: names of the file, and as a
    method attributes of what it is called on, with those that share memory with them."""
    if not isinstance(defined.node, ast.FunctionDef | ast.AsyncFunctionDef):
        return
    body, function = defined.node.body, call.func
    nodes = [node for each in body for node in walk(each)]
    shared = {
        name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names
    }
    stored = [each for each in nodes if isinstance(getattr(each, "ctx", None), ast.Store)]
    yield from (each for each in stored if isinstance(each, ast.Name) and each.id in shared)
    attributes = [each for each in stored if isinstance(each, ast.Attribute)]
    attributes += [each for each in map(set_by_call, nodes) if each is not None]
    yield from (each for each in attributes if not ast.unparse(each).startswith(_OWN))
    changed = written(body, {}) | {ast.unparse(each) for each in attributes}
    names = {each for each in changed if "." not in each}
    if names:
        bound = {each.arg for each in ast.walk(defined.node.args) if isinstance(each, ast.arg)}
        bound |= {each.id for each in stored if isinstance(each, ast.Name)} - shared
        yield from (ast.Name(each, ast.Load()) for each in names - bound)
    if defined.owner is None:
        return
    by_method = isinstance(function, ast.Attribute) and function.attr == defined.node.name
    owner = function.value if by_method and isinstance(function, ast.Attribute) else function
    for each in shared_attributes(changed, defined.owner):
        yield ast.Attribute(owner, each.removeprefix(_OWN), ast.Load())
