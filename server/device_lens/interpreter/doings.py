"""What the text of a function may do to what it is given: which attributes it moves or makes anew,
and what it hands on. The answers are kept with the nodes, for as long as these live."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from device_lens.syntax.gathering import Asked, always, gather, never
from device_lens.syntax.names import last_name, root_name
from device_lens.syntax.statements import child_statements
from device_lens.syntax.walking import walk

_DOINGS = "_doings"
_MOVED_IN = "_moved_in"
_MOVES_OWN = "_moves_own_parts"
"""The entries of a node under which answers are kept, for as long as the node lives."""
CHANGERS = frozenset("apply setattr register_buffer".split())
"""Methods and functions that put another value into what they are called of."""
MOVERS = CHANGERS | frozenset("to cuda cpu xpu mtia to_empty".split())
"""Those, and what moves a module in place."""
ONLY_READ = frozenset(
    "print len isinstance id type str repr getattr hasattr list tuple sum".split()
)
"""Functions that leave what they are given where it is."""


class Doings(NamedTuple):
    """What a function may do to its arguments."""

    moved: frozenset[str] | None
    """The attributes that it puts elsewhere; None where it moves nothing in place."""
    handed: frozenset[str]
    """The parameters that it gives to calls whose results it drops, which may move them."""
    hands_on: bool
    """Whether it hands arguments on to any call."""
    receivers: frozenset[str]
    """The names that it moves."""
    remade: frozenset[str]
    """The attributes that it makes anew."""
    own_calls: frozenset[str]
    """The methods that it calls of its own object."""
    dispatches: bool
    """Whether it calls what an object has under a name that it is told, as trainers call their
    callbacks: that may do anything to the object that it is a method of."""


def what_it_does(node: Any) -> Doings:
    """What a function may do, told from its own text alone."""
    known: Doings | None = node.__dict__.get(_DOINGS)
    if known is None:
        known = node.__dict__[_DOINGS] = _told(node, _Text.of(node))
    return known


def moved_by(node: Any) -> frozenset[str] | None:
    """The attributes that a function puts elsewhere, what it hands on included; None where it
    moves nothing in place."""
    doings = what_it_does(node)
    return frozenset() if doings.moved is None and doings.handed else doings.moved


class _Text(NamedTuple):
    """What is looked at in a function, from one walk through it."""

    calls: list[ast.Call]
    assignments: list[ast.Assign]
    bound: list[ast.Name]
    """The names that are bound or deleted."""
    given_on: Sequence[str]
    """The names that are given to calls which may do more than read them."""

    @classmethod
    def of(cls, node: ast.AST) -> _Text:
        keeps = _keeping(node)
        text = cls([], [], [], gather(node, "_names_given_on", _given_on, keeps=keeps))
        for each in gather(node, "_told_by", _telling, keeps=keeps):
            if isinstance(each, ast.Call):
                text.calls.append(each)
            elif isinstance(each, ast.Assign):
                text.assignments.append(each)
            else:
                text.bound.append(each)
        return text


def _keeping(function: Any) -> Asked:
    """What is read of a statement stays with it in functions that somebody edits, of which another
    version was looked at before: of all functions that are called it would take much room."""
    body = getattr(function, "body", ())
    statements = body if isinstance(body, list) else ()
    return always if any(_MOVED_IN in each.__dict__ for each in statements) else never


def _telling(node: ast.AST) -> tuple[ast.Call | ast.Assign | ast.Name, ...]:
    """A node, if it is looked at."""
    if isinstance(node, ast.Call | ast.Assign):
        return (node,)
    return (node,) if isinstance(node, ast.Name) and type(node.ctx) is not ast.Load else ()


def _told(node: Any, text: _Text) -> Doings:
    arguments = frozenset(each.arg for each in (*node.args.args, *node.args.kwonlyargs))
    moved, handed = _moves(node, arguments, _made(text))
    return Doings(
        moved,
        handed,
        not arguments.isdisjoint(text.given_on),
        _receivers(text),
        _remade(text),
        _own_calls(text, first_parameter(node)),
        _dispatches(text),
    )


def first_parameter(node: Any) -> str:
    """The name of a function's first parameter."""
    names = (*node.args.posonlyargs, *node.args.args)
    return names[0].arg if names else ""


def _own_calls(text: _Text, first: str) -> frozenset[str]:
    """The methods that a method calls of its own object."""
    called = [call.func for call in text.calls]
    return frozenset(
        each.attr if isinstance(each, ast.Attribute) else "__call__"
        for each in called
        if getattr(each.value if isinstance(each, ast.Attribute) else each, "id", None) == first
    )


def _dispatches(text: _Text) -> bool:
    """Whether a function calls what `getattr` gave it for a name that is no constant."""
    taken = {
        target.id
        for each in text.assignments
        if _is_asked_by_name(each.value)
        for target in each.targets
        if isinstance(target, ast.Name)
    }
    called = [call.func for call in text.calls]
    return any(_is_asked_by_name(each) or getattr(each, "id", None) in taken for each in called)


def _is_asked_by_name(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Name(id="getattr"), args=[_, name, *_]):
            return not isinstance(name, ast.Constant)
    return False


def _remade(text: _Text) -> frozenset[str]:
    """The attributes that a function gives what a call makes of them: `self.mask = on(self.mask)`.
    The call may move them, whatever its name is."""
    return frozenset(
        target.attr
        for each in text.assignments
        for target in each.targets
        if isinstance(target, ast.Attribute) and _is_given(each.value, target)
    )


def _is_given(value: ast.expr, place: ast.Attribute) -> bool:
    """Whether a call in an expression is given what an attribute holds."""
    return any(
        isinstance(given, ast.Attribute)
        and given.attr == place.attr
        and ast.unparse(given) == ast.unparse(place)
        for call in walk(value)
        if isinstance(call, ast.Call)
        for given in (*call.args, *(keyword.value for keyword in call.keywords))
    )


def _receivers(text: _Text) -> frozenset[str]:
    """The names of which a function calls what moves a module in place, whatever it does with the
    result (`return model.to(device)`)."""
    called = [call.func for call in text.calls]
    return frozenset(
        each.value.id
        for each in called
        if isinstance(each, ast.Attribute)
        and each.attr in MOVERS
        and isinstance(each.value, ast.Name)
    )


def _given_on(node: ast.AST) -> Iterable[str]:
    """The names that a node gives to a call which may do more than read them."""
    if not isinstance(node, ast.Call) or getattr(node.func, "id", "") in ONLY_READ:
        return ()
    values = (*node.args, *(keyword.value for keyword in node.keywords))
    return [each.id for each in values if isinstance(each, ast.Name)]


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Every statement inside a node."""
    for each in child_statements(node):
        yield each
        yield from _statements(each)


def _places_moved(node: ast.stmt) -> list[ast.expr]:
    """The attributes and items that a statement assigns something moved to, and those that it gives
    other data."""
    if not isinstance(node, ast.Assign):
        return []
    places: list[ast.expr] = [
        each for each in node.targets if isinstance(each, ast.Attribute | ast.Subscript)
    ]
    given_data = [
        each.value for each in places if isinstance(each, ast.Attribute) and each.attr == "data"
    ]
    if given_data and not isinstance(node.value, ast.Constant):
        return given_data
    moves = places and any(
        isinstance(each, ast.Call) and getattr(each.func, "attr", "") in MOVERS
        for each in walk(node.value)
    )
    return places if moves else []


def _is_in_place(node: ast.stmt) -> bool:
    """Whether a statement is a call that moves its receiver."""
    call = node.value if isinstance(node, ast.Expr) else None
    function = call.func if isinstance(call, ast.Call) else None
    return isinstance(function, ast.Attribute) and function.attr in MOVERS


def moves_own_parts(node: Any) -> bool:
    """Whether a method has a statement that moves what its object has: `self.body.to(device)`."""
    if isinstance(node, ast.Lambda):
        return False
    first = first_parameter(node)
    known: bool | None = node.__dict__.get(_MOVES_OWN)
    if known is None:
        known = node.__dict__[_MOVES_OWN] = any(
            _is_in_place(each) and root_name(each.value.func.value) == first  # type: ignore[attr-defined]
            for each in _statements(node)
        )
    return known


def _handed_on(node: ast.stmt, names: frozenset[str]) -> set[str]:
    """The parameters that a statement gives to a function whose result nobody takes."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or isinstance(call.func, ast.Attribute):
        return set()
    if getattr(call.func, "id", "") in ONLY_READ:
        return set()
    values = (*call.args, *(keyword.value for keyword in call.keywords))
    return {each.id for each in values if isinstance(each, ast.Name)} & names


def _moves(
    node: Any, names: frozenset[str], made: frozenset[str]
) -> tuple[frozenset[str] | None, frozenset[str]]:
    """The attributes that a function puts elsewhere, None where it moves nothing in place; and the
    parameters that it gives to calls whose results it drops, which may move them."""
    body = [] if isinstance(node, ast.Lambda) else node.body
    each = [_moved_in(statement, names, made) for statement in body]
    in_place = any(moves for moves, _, _ in each)
    places = frozenset().union(*(attributes for _, attributes, _ in each))
    given = frozenset().union(*(handed for _, _, handed in each))
    return places if in_place else None, given


def _made(text: _Text) -> frozenset[str]:
    """The names that a function binds to new tensors or new objects of some class, and to nothing
    else."""
    made: set[ast.AST] = set()
    for each in text.assignments:
        match each.value:
            case ast.Call(func=function) if _makes_anew(last_name(function)):
                made.update(target for target in each.targets if isinstance(target, ast.Name))
    others = {each.id for each in text.bound if each not in made}
    return frozenset(each.id for each in text.bound if each.id not in others)


def _makes_anew(name: str) -> bool:
    return name[:1].isupper() or name in _NEW_TENSORS


_NEW_TENSORS = frozenset(
    """clone zeros ones empty full zeros_like ones_like empty_like full_like rand randn randint
    rand_like randn_like arange cat stack new_zeros new_ones new_empty new_full""".split()
)
"""Functions and methods that give a tensor of its own: what is put into that is copied."""

Moved = tuple[bool, frozenset[str], frozenset[str]]
"""Whether a statement moves anything in place, which attributes it puts elsewhere, and which
parameters it hands on for what that does."""


def _moved_in(node: ast.stmt, names: frozenset[str], made: frozenset[str]) -> Moved:
    """What a statement of a function does that has some parameters; what is `made` in the function
    is left out. Remembered with it, since typing leaves most as they are."""
    known: tuple[Any, Moved] | None = node.__dict__.get(_MOVED_IN)
    if known is None or known[0] != (names, made):
        inner = [node, *_statements(node)]
        moved = (place for each in inner for place in _places_moved(each))
        places = [place for place in moved if root_name(place) not in made]
        in_place = bool(places) or any(map(_is_in_place, inner))
        attributes = frozenset(each.attr for each in places if isinstance(each, ast.Attribute))
        handed = frozenset().union(*(_handed_on(each, names) for each in inner))
        known = node.__dict__[_MOVED_IN] = (names, made), (in_place, attributes, handed)
    return known[1]
