"""What the text of a loop shows of waits: calls, tests and masks for which the host needs the value
of a tensor, if it is one."""

from __future__ import annotations

import ast
import re

from device_lens.interpreter.plain_names import Plain
from device_lens.syntax.names import last_name
from device_lens.syntax.walking import walk

_READING = re.compile(
    r"print|float|int|bool|complex|str|repr|round|format|write|warn|warning|info|debug|log"
    r"|set_postfix|set_description|nonzero|argwhere|unique\w*|masked_select|bincount|histc"
    r"|repeat_interleave|where|equal|allclose|is_nonzero"
)
"""Calls that wait for a tensor."""
_OF_ITSELF = re.compile(r"nonzero|argwhere|unique\w*|bincount|histc|masked_select")
"""Those of them that wait for what they are methods of, whatever they are given."""
_ASKING = re.compile(
    r"any|all|sum|max|min|mean|norm|isnan|isinf|isfinite|eq|ne|gt|lt|ge|le|abs|item|count_nonzero"
)
"""Calls for whose results a test waits."""
_MASK = re.compile(r"mask|keep|valid|cond|sel|flag|where|idx|inds|indices|pos|neg")
_TESTS = (ast.If, ast.While, ast.IfExp, ast.Assert)
WAITING = frozenset((ast.FormattedValue, ast.Subscript, ast.Call, *_TESTS))
"""The types of the nodes that may wait."""


def may_wait(node: ast.AST, plain: Plain) -> bool:
    """Whether a node of a loop may wait, what is below it and what is `plain` left out."""
    match node:
        case ast.FormattedValue(value=value):
            return not plain(value)
        case ast.Subscript(slice=index):
            return _may_be_mask(index) and not plain(index)
        case ast.Call():
            return _reads(node, plain)
    if isinstance(node, ast.While) and _compares(node.test, plain):
        return True
    return isinstance(node, _TESTS) and _asks(node.test, plain)


def _compares(test: ast.expr, plain: Plain) -> bool:
    """Whether a loop goes on as long as one thing is less than another: `while t < end`."""
    return isinstance(test, ast.Compare) and _is_order(test) and not plain(test)


def _reads(call: ast.Call, plain: Plain) -> bool:
    function, name = call.func, last_name(call.func)
    if _READING.fullmatch(name) is None:
        return False
    if name == "where":
        return len(call.args) == 1
    given = [*call.args, *(each.value for each in call.keywords)]
    if isinstance(function, ast.Attribute) and not plain(function.value):
        return not given or _OF_ITSELF.fullmatch(name) is not None or not all(map(plain, given))
    return not all(map(plain, given))


def _asks(test: ast.expr, plain: Plain) -> bool:
    """Whether a test may ask for the value of a tensor."""
    return any(
        _orders(node) and not plain(node)
        if isinstance(node, ast.Compare)
        else isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and _ASKING.fullmatch(node.func.attr) is not None
        and not plain(node.func.value)
        for node in walk(test)
    )


def _orders(test: ast.Compare) -> bool:
    """Whether a comparison is one of measures rather than of counts: `iou / total > 0.5`."""
    if not _is_order(test):
        return False
    sides = (test.left, *test.comparators)
    return any(
        isinstance(each, ast.BinOp)
        or (isinstance(each, ast.Constant) and isinstance(each.value, float))
        for each in sides
    )


def _is_order(test: ast.Compare) -> bool:
    return isinstance(test.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)


def _may_be_mask(index: ast.expr) -> bool:
    """Whether what something is indexed with may be a mask: the host waits to know its size."""
    if isinstance(index, ast.Tuple):
        return any(map(_may_be_mask, index.elts))
    if isinstance(index, ast.Name):
        return _MASK.search(index.id) is not None
    masks = (ast.BitAnd, ast.BitOr, ast.Invert)
    return isinstance(index, ast.Compare) or isinstance(getattr(index, "op", None), masks)
