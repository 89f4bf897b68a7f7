"""What the text of a loop shows of waits: calls, tests and masks for which the host needs the value
of a tensor, if it is one."""

from __future__ import annotations

import ast
import re

_READING = re.compile(
    r"print|float|int|bool|complex|str|repr|round|format|write|warn|warning|info|debug|log"
    r"|set_postfix|set_description|nonzero|argwhere|unique\w*|masked_select|bincount|histc"
    r"|repeat_interleave|where|equal|allclose|is_nonzero"
)
"""Calls that wait for a tensor."""
_ASKING = re.compile(
    r"any|all|sum|max|min|mean|norm|isnan|isinf|isfinite|eq|ne|gt|lt|ge|le|abs|item|count_nonzero"
)
"""Calls for whose results a test waits."""
_MASK = re.compile(r"mask|keep|valid|cond|sel|flag|where|idx|inds|indices|pos|neg")
_TESTS = (ast.If, ast.While, ast.IfExp, ast.Assert)
_NUMBERS = ("len", "range", "group", "sqrt")


def name_of(node: ast.expr) -> str:
    """The last name of `a.b.c`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def counters_of(loop: ast.AST) -> frozenset[str]:
    """The name that counts the turns of a loop over `range(n)` or `enumerate(xs)`."""
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
        return frozenset()
    if name_of(loop.iter.func) not in ("range", "enumerate"):
        return frozenset()
    target = loop.target
    first = target.elts[0] if isinstance(target, ast.Tuple | ast.List) else target
    return frozenset({name_of(first)})


def may_wait(node: ast.AST, counters: frozenset[str]) -> bool:
    """Whether a node of a loop may wait, what is below it left out."""
    match node:
        case ast.FormattedValue(value=value):
            return _may_be_tensor(value, counters)
        case ast.Subscript(slice=index):
            return _may_be_mask(index)
        case ast.Call():
            return _reads(node, counters)
    return isinstance(node, _TESTS) and _asks(node.test)


def _reads(call: ast.Call, counters: frozenset[str]) -> bool:
    function, name = call.func, name_of(call.func)
    if _READING.fullmatch(name) is None:
        return False
    if name == "where":
        return len(call.args) == 1
    given = [*call.args, *(each.value for each in call.keywords)]
    method = isinstance(function, ast.Attribute) and not isinstance(function.value, ast.Constant)
    return (method and not given) or any(_may_be_tensor(each, counters) for each in given)


def _may_be_tensor(value: ast.expr, counters: frozenset[str]) -> bool:
    """Whether an expression is more than numbers and words that count."""
    match value:
        case ast.Constant():
            return False
        case ast.Name(id=name):
            return name not in counters
        case ast.BinOp(left=left, right=right):
            return _may_be_tensor(left, counters) or _may_be_tensor(right, counters)
        case ast.Call(func=function) if name_of(function) in _NUMBERS:
            return False
        case ast.JoinedStr(values=parts):
            return any(_may_be_tensor(part, counters) for part in parts)
        case ast.FormattedValue(value=inner):
            return _may_be_tensor(inner, counters)
    return True


def _asks(test: ast.expr) -> bool:
    """Whether a test may ask for the value of a tensor."""
    return any(
        _orders(node)
        if isinstance(node, ast.Compare)
        else isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and _ASKING.fullmatch(node.func.attr) is not None
        for node in ast.walk(test)
    )


def _orders(test: ast.Compare) -> bool:
    """Whether a comparison is one of measures rather than of counts: `iou / total > 0.5`."""
    if not isinstance(test.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        return False
    sides = (test.left, *test.comparators)
    return any(
        isinstance(each, ast.BinOp)
        or (isinstance(each, ast.Constant) and isinstance(each.value, float))
        for each in sides
    )


def _may_be_mask(index: ast.expr) -> bool:
    """Whether what something is indexed with may be a mask: the host waits to know its size."""
    if isinstance(index, ast.Tuple):
        return any(map(_may_be_mask, index.elts))
    if isinstance(index, ast.Name):
        return _MASK.search(index.id) is not None
    masks = (ast.BitAnd, ast.BitOr, ast.Invert)
    return isinstance(index, ast.Compare) or isinstance(getattr(index, "op", None), masks)
