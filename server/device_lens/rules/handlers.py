"""What exception handlers do about what PyTorch raises of devices: make it good, or show it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from device_lens.fixes.place import FUNCTIONS, Place
from device_lens.syntax.names import last_name, names_in

SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)
_REMEDIES = ("cpu", "to", "cuda", "detach")
_OF_DEVICES = ("RuntimeError", "TypeError")
_ANY = ("Exception", "BaseException")
_GOING_ON = (ast.Raise, ast.Continue, ast.Break)
_OTHER_ERROR = "memory"
"""What the text of a handler says that is there for another error."""


def makes_good(node: ast.Try, statement: ast.AST) -> bool:
    """Whether a handler of what a simple statement may raise moves or detaches what that reads, or
    the items of it."""
    read = names_in(statement) if isinstance(statement, SIMPLE) else set()
    for handler in node.handlers:
        if not _catches(handler.type, (*_OF_DEVICES, *_ANY)):
            continue
        parts = _parts(handler.body)
        items = {
            name
            for each in parts
            if isinstance(each, ast.For | ast.comprehension)
            and not read.isdisjoint(names_in(each.iter))
            for name in names_in(each.target)
        }
        if any(
            isinstance(each, ast.Attribute)
            and each.attr in _REMEDIES
            and not names_in(each.value).isdisjoint(read | items)
            for each in parts
        ):
            return True
    return False


def shows(place: Place, node: ast.Try, statement: ast.AST) -> bool:
    """Whether the program raises an error to show it: a handler prints or examines what a statement
    raises, of which nobody needs the value. Who gets any exception rather goes on without it."""
    if not isinstance(statement, ast.Expr | ast.Assign):
        return False
    behind = [*node.body[node.body.index(statement) + 1 :], *node.orelse]
    if not all(map(_says, behind)):
        return False
    is_shown = any(
        handler.type is not None and _catches(handler.type, _OF_DEVICES) and _is_about_it(handler)
        for handler in node.handlers
    )
    return is_shown and not any(_is_needed(place, node, name) for name in _bound(statement))


def _is_about_it(handler: ast.ExceptHandler) -> bool:
    """Whether a handler does nothing but say something, or looks at the error that it gets, and
    does not give it on."""
    parts = _parts(handler.body)
    for each in parts:
        if isinstance(each, _GOING_ON):
            return False
        if isinstance(each, ast.Constant) and _OTHER_ERROR in str(each.value):
            return False
    looks = any(isinstance(each, ast.Name) and each.id == handler.name for each in parts)
    return looks or all(map(_says, handler.body))


def _is_needed(place: Place, node: ast.Try, name: str) -> bool:
    """Whether what is below a `try` reads a name before it is bound anew."""
    for statement in _below(place, node):
        found = [each for each in ast.walk(statement) if isinstance(each, ast.Name)]
        mine = [each for each in found if each.id == name]
        bound = [each.lineno for each in mine if isinstance(each.ctx, ast.Store)]
        read = [each.lineno for each in mine if not isinstance(each.ctx, ast.Store)]
        if mine:
            return bool(read) and min(read) <= min(bound, default=min(read))
    return False


def _below(place: Place, node: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a function, or of the file's top level, that are behind one of them, from
    the inner blocks out."""
    inner = node
    for outer in place.at(node).ancestors():
        for _, block in ast.iter_fields(outer):
            if isinstance(block, list) and inner in block:
                yield from block[block.index(inner) + 1 :]
        if isinstance(outer, FUNCTIONS):
            return
        inner = outer
    top = place.top_level
    yield from top[top.index(inner) + 1 :] if inner in top else ()


def _bound(statement: ast.Expr | ast.Assign) -> Iterator[str]:
    """The names that an assignment binds; what it writes elsewhere counts as its first name."""
    for target in statement.targets if isinstance(statement, ast.Assign) else ():
        for each in ast.walk(target):
            if isinstance(each, ast.Name):
                yield each.id


def _says(statement: ast.AST) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and last_name(call.func) == "print"


def _parts(block: Iterable[ast.AST]) -> list[ast.AST]:
    return [each for statement in block for each in ast.walk(statement)]


def _catches(kind: ast.expr | None, caught: tuple[str, ...]) -> bool:
    """Whether a handler of this type gets errors of these."""
    if isinstance(kind, ast.Tuple):
        return any(_catches(each, caught) for each in kind.elts)
    return kind is None or last_name(kind) in caught
