"""Code that is meant to raise, or may: a test of an error is right as it is, and so is what an
exception handler makes good, or shows."""

from __future__ import annotations

import ast

from device_lens.fixes.place import Place
from device_lens.rules.handlers import SIMPLE, makes_good, shows
from device_lens.syntax.names import last_name

_EXPECTING = ("raises", "assertRaises", "assertRaisesRegex")
_FAILING = ("fail",)
_MARKS = ("xfail", "expectedFailure")


def is_meant_to_raise(place: Place) -> bool:
    """Whether a place is in a block, call or function that says that an error is expected, or in
    one whose exception handler moves or detaches what the place reads, or shows the error."""
    inner: ast.AST = place.node
    for node in place.ancestors():
        if isinstance(node, ast.With | ast.AsyncWith):
            if any(_calls(item.context_expr, (*_EXPECTING, "suppress")) for item in node.items):
                return True
        elif isinstance(node, ast.Try):
            if inner in node.body and (
                _fails_otherwise(node) or makes_good(node, inner) or shows(place, node, inner)
            ):
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
            alone = len(node.body) == 1 and isinstance(inner, SIMPLE)
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


def _calls(node: ast.AST, names: tuple[str, ...]) -> bool:
    return isinstance(node, ast.Call) and _name(node) in names


def _name(node: ast.expr) -> str:
    """`raises` of `pytest.raises` and of `pytest.raises(…)`."""
    return last_name(node.func if isinstance(node, ast.Call) else node)
