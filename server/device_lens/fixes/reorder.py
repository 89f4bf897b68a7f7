"""Moves a statement behind, or before, the one that it depends on."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from device_lens.fixes.blocks import block_of, move_above, move_below
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.names import loads
from device_lens.fixes.place import FUNCTIONS, Place
from device_lens.syntax.import_statements import bound_names
from device_lens.syntax.names import is_own_attribute, last_name, root_name, set_by_call


def put_below(statement: Place, anchor: Place, title: str) -> Fix | None:
    """Moves a statement below another one of the same block, or what that stands in, where nothing
    in between reads what it binds."""
    block = block_of(statement)
    anchor = _around(anchor, block) or anchor
    first, last = _positions(statement, anchor)
    if first is None or last is None or first >= last:
        return None
    bound = {ast.unparse(each) for each in _set_in(statement.node)}
    between = block[first + 1 : last + 1]
    if any(_reads(node, bound) for each in between for node in ast.walk(each)):
        return None
    own = {each.partition(".")[2] for each in bound if each.startswith("self.")}
    if own and any(_may_read(statement.owner, each, own) for each in between):
        return None
    edits = move_below(statement, anchor)
    return Fix(title, Safety.UNSAFE, edits) if edits else None


def _reads(node: ast.AST, bound: set[str]) -> bool:
    """Whether a node reads one of some names, attributes and items."""
    is_one = isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and not _is_store(node)
    return is_one and ast.unparse(node) in bound


def _may_read(owner: ast.ClassDef | None, statement: ast.stmt, names: set[str]) -> bool:
    """Whether a statement calls a method of its object that may read attributes of these names:
    one that names them, calls others, or is not the class's own."""
    body = [] if owner is None else owner.body
    methods = {each.name: each for each in body if isinstance(each, _METHODS)}
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and is_own_attribute(node.func):
            method = methods.get(node.func.attr)
            parts = () if method is None else ast.walk(method)
            read = {each.attr for each in parts if is_own_attribute(each)}
            if method is None or not read.isdisjoint((*names, *methods)):
                return True
    return False


_METHODS = (ast.FunctionDef, ast.AsyncFunctionDef)


def put_before(statement: Place, anchor: Place, title: Callable[[Place], str]) -> Fix | None:
    """Moves a call that stands by itself, or `model = model.to(…)`, above an earlier statement of
    the same block, where nothing from there on binds or sets a part of what it names. With what
    stands around the anchor there, or calls the function that it is in; and with a test around
    the call. Not above what runs the model. `title` is given the statement that it goes above."""
    test = statement.parent
    wholes = [statement]
    if isinstance(test, ast.If) and test.body == [statement.node] and not test.orelse:
        wholes.append(statement.at(test))
    for whole in wholes if _can_go_first(statement.node) else ():
        block = block_of(whole)
        before = _around(anchor, block) or _caller(anchor, whole, block) or anchor.statement
        first, last = _positions(before, whole)
        if first is None or last is None or first >= last:
            continue
        between = block[first + 1 : last]
        if _is_bound(whole.node, block[first:last]) or _runs_in(between, statement):
            return None
        edits = move_above(whole, before)
        return Fix(title(before), Safety.UNSAFE, edits) if edits else None
    return None


def _can_go_first(statement: ast.AST) -> bool:
    """Whether a statement is a call, of which the result is the object that it is called on where
    it is kept."""
    match statement:
        case ast.Expr():
            return True
        case ast.Assign(targets=[target], value=ast.Call(func=ast.Attribute(value=moved))):
            return ast.unparse(target) == ast.unparse(moved)
    return False


def _runs_in(others: list[ast.stmt], move: Place) -> bool:
    """Whether other statements run a model where it was before its move, or hand it to a function
    that may: what they give it is there too, unless they ask the model where."""
    call = getattr(move.node, "value", None)
    function = call.func if isinstance(call, ast.Call) else None
    if not isinstance(function, ast.Attribute):
        return False
    moved = ast.unparse(function.value)
    own = {function.value.attr} if is_own_attribute(function.value) else set()
    if own and any(_may_read(move.owner, each, own) for each in others):
        return True
    nodes = (node for each in others for node in ast.walk(each))
    return any(isinstance(node, ast.Call) and _runs(node, moved) for node in nodes)


def _runs(call: ast.Call, moved: str) -> bool:
    given = list(_given([call]))
    if ast.unparse(call.func) in (moved, f"{moved}.forward"):
        return not any(_names(part, moved) for one in given for part in ast.walk(one))
    name = last_name(call.func)
    may_run = name[:1].islower() and name not in _ASKING
    return may_run and any(_names(one, moved) for one in given)


def _names(node: ast.AST, text: str) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) == text


_ASKING = ("print", "len", "id", "isinstance", "hasattr", "getattr", "repr", "str")


def _is_bound(statement: ast.AST, others: list[ast.stmt]) -> bool:
    """Whether other statements bind a name that one reads, or set a part of what that stands for.
    What calls something else than a question for a device counts as well in a test."""
    if isinstance(statement, ast.If):
        calls = (each for each in ast.walk(statement.test) if isinstance(each, ast.Call))
        if any(last_name(each.func) != "is_available" for each in calls):
            return True
    own = [each for each in ast.walk(statement) if isinstance(each, ast.expr)]
    read = {_owner(each) for each in own}
    names = {each.id for each in own if isinstance(each, ast.Name)}
    if any(_defines(each, names) or _may_set(each, _asked(own)) for each in others):
        return True
    nodes = (node for each in others for node in _set_in(each))
    if any(isinstance(each, ast.Call) and is_own_attribute(each.func) for each in own):
        return any(root_name(node) == "self" or _owner(node) in read for node in nodes)
    return any(_owner(node) in read for node in nodes)


def _defines(statement: ast.stmt, names: set[str]) -> bool:
    """Whether a statement defines or imports one of some names."""
    for node in ast.walk(statement):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if node.name in names:
                return True
        elif isinstance(node, ast.Import | ast.ImportFrom) and not names.isdisjoint(
            bound for _, bound in bound_names(node)
        ):
            return True
    return False


def _asked(expressions: list[ast.expr]) -> set[str]:
    """The names of what calls among the expressions are given parts of: `args` in
    `model.to(args.device)`."""
    given = _given(expressions)
    return {root_name(each) for each in given if isinstance(each, ast.Attribute | ast.Subscript)}


def _given(nodes: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """The arguments of calls."""
    for node in nodes:
        if isinstance(node, ast.Call):
            yield from (*node.args, *(each.value for each in node.keywords))


def _may_set(statement: ast.stmt, names: set[str]) -> bool:
    """Whether a statement hands something of these names to a call, which may set a part of it."""
    given = _given(ast.walk(statement)) if names else ()
    return any(isinstance(each, ast.Name) and each.id in names for each in given)


def _owner(node: ast.AST) -> str:
    """What an expression is a part of: a name, or an attribute of `self`."""
    while isinstance(node, ast.Attribute | ast.Subscript) and not is_own_attribute(node):
        node = node.value
    return ast.unparse(node) if isinstance(node, ast.Attribute | ast.Name) else ""


def _around(place: Place, block: list[ast.stmt]) -> Place | None:
    """The statement of a block that a place is in, and runs with."""
    for node in (place.node, *place.ancestors()):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            return None
        if any(node is each for each in block):
            return place.at(node)
    return None


def _caller(place: Place, later: Place, block: list[ast.stmt]) -> Place | None:
    """The first statement of a block that calls the function which a place is in, or names what
    that is kept in."""
    name, owner = getattr(place.function, "name", ""), place.owner
    finds = _calls
    if name == "__init__" and owner is not None:
        name = owner.name
    match place.function, place.statement.node:
        case ast.Lambda(), ast.Assign(targets=[ast.Name(id=name)]):
            finds = _loads
    for each in block if name else ():
        if not isinstance(each, (*FUNCTIONS, ast.ClassDef)) and finds(each, name):
            chunks = (chunk for chunk in later.source.chunks if each in chunk.body)
            return Place(later.source, next(chunks, later.chunk), each)
    return None


def _calls(statement: ast.stmt, name: str) -> bool:
    calls = (node for node in ast.walk(statement) if isinstance(node, ast.Call))
    return any(last_name(each.func) == name for each in calls)


def _loads(statement: ast.stmt, name: str) -> bool:
    return bool(loads(statement, name))


def put_above(statement: Place, anchor: Place, title: str) -> Fix | None:
    """Moves a statement above another one of the same block, where nothing from there on binds what
    it names."""
    first, last = _positions(anchor, statement)
    block = block_of(statement)
    if first is None or last is None or _is_bound(statement.node, block[first:last]):
        return None
    edits = move_above(statement, anchor)
    return Fix(title, Safety.UNSAFE, edits) if edits else None


def _positions(statement: Place, anchor: Place) -> tuple[int | None, int | None]:
    """The numbers of two statements in their common block."""
    block = _common_block(statement, anchor)
    numbers = {id(node): number for number, node in enumerate(block)}
    return numbers.get(id(statement.node)), numbers.get(id(anchor.node))


def _common_block(statement: Place, anchor: Place) -> list[ast.stmt]:
    block = block_of(statement)
    return block if any(node is anchor.node for node in block) else []


def _set_in(statement: ast.AST) -> Iterator[ast.AST]:
    """The names, attributes and items that a statement sets, by `setattr` too."""
    for node in ast.walk(statement):
        by_call = set_by_call(node)
        if by_call is not None:
            yield by_call
        elif _is_store(node):
            yield node


def _is_store(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store)
