"""Code that is meant to raise, or may: a test of an error is right as it is, and so is what an
exception handler makes good."""

from __future__ import annotations

import ast

from device_lens.fixes.names import names_in
from device_lens.fixes.place import Place
from device_lens.syntax.names import last_name

_EXPECTING = ("raises", "assertRaises", "assertRaisesRegex")
_FAILING = ("fail",)
_MARKS = ("xfail", "expectedFailure")
_REMEDIES = ("cpu", "to", "cuda", "detach")
_CAUGHT = ("Exception", "BaseException", "RuntimeError", "TypeError")
_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)


def is_meant_to_raise(place: Place) -> bool:
    """Whether a place is in a block, call or function that says that an error is expected, or in
    one whose exception handler moves or detaches what the place reads."""
    inner: ast.AST = place.node
    for node in place.ancestors():
        if isinstance(node, ast.With | ast.AsyncWith):
            if any(_calls(item.context_expr, (*_EXPECTING, "suppress")) for item in node.items):
                return True
        elif isinstance(node, ast.Try):
            if inner in node.body and (_fails_otherwise(node) or _makes_good(node, inner)):
                return True
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if any(_name(mark) in _MARKS for mark in node.decorator_list):
                return True
        elif _calls(node, _EXPECTING):
            return True
        inner = node
    return False


def asks_for_method(place: Place) -> bool:
    """Whether a place tries a method of what may have none: a handler gets the AttributeError,
    which it names, or gets everything that this one statement raises."""
    inner: ast.AST = place.node
    for node in place.ancestors():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return False
        if isinstance(node, ast.Try) and inner in node.body:
            alone = len(node.body) == 1 and isinstance(inner, _SIMPLE)
            if any(_gets_attribute_error(handler.type, alone) for handler in node.handlers):
                return True
        if isinstance(node, ast.With) and any(
            _calls(item.context_expr, ("suppress",)) for item in node.items
        ):
            return True
        inner = node
    return False


def _gets_attribute_error(kind: ast.expr | None, alone: bool) -> bool:
    if isinstance(kind, ast.Tuple):
        return any(_gets_attribute_error(each, alone) for each in kind.elts)
    if kind is None:
        return alone
    return _name(kind) == "AttributeError" or (
        alone and _name(kind) in ("Exception", "BaseException")
    )


def _fails_otherwise(node: ast.Try) -> bool:
    """Whether a test fails if nothing is raised."""
    last = (node.orelse or node.body)[-1]
    if isinstance(last, ast.Assert):
        return isinstance(last.test, ast.Constant) and not last.test.value
    if isinstance(last, ast.Raise):
        return last.exc is not None and _name(last.exc) == "AssertionError"
    return isinstance(last, ast.Expr) and _calls(last.value, _FAILING)


def _makes_good(node: ast.Try, statement: ast.AST) -> bool:
    """Whether a handler of what a simple statement may raise moves or detaches what that reads."""
    read = names_in(statement) if isinstance(statement, _SIMPLE) else set()
    return any(
        isinstance(each, ast.Attribute)
        and each.attr in _REMEDIES
        and not read.isdisjoint(names_in(each.value))
        for handler in node.handlers
        if _catches(handler.type)
        for line in handler.body
        for each in ast.walk(line)
    )


def _catches(kind: ast.expr | None) -> bool:
    """Whether a handler of this type gets what PyTorch raises of devices."""
    if isinstance(kind, ast.Tuple):
        return any(map(_catches, kind.elts))
    return kind is None or _name(kind) in _CAUGHT


def _calls(node: ast.AST, names: tuple[str, ...]) -> bool:
    return isinstance(node, ast.Call) and _name(node) in names


def _name(node: ast.expr) -> str:
    """`raises` of `pytest.raises` and of `pytest.raises(…)`."""
    return last_name(node.func if isinstance(node, ast.Call) else node)
