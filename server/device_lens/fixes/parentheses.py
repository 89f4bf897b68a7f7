"""Parentheses around an expression: those that are there are used, those that would be needless
go."""

from __future__ import annotations

import ast

from device_lens.fixes.edit import Edit
from device_lens.fixes.place import Place
from device_lens.syntax.position import Range

_BLANK = " \t\r\n"
_OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Await)
_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)


def parentheses_of(place: Place) -> Range | None:
    """The innermost pair of parentheses right around an expression, where it is the expression's
    own: not that of the call whose only argument it is."""
    lines = place.source.lines
    start, end = lines.offset(place.range.start), lines.offset(place.range.end)
    pairs: list[tuple[int, int]] = []
    while True:
        while start > 0 and lines.text[start - 1] in _BLANK:
            start -= 1
        while end < len(lines.text) and lines.text[end] in _BLANK:
            end += 1
        if lines.text[start - 1 : start] != "(" or lines.text[end : end + 1] != ")":
            break
        start, end = start - 1, end + 1
        pairs.append((start, end))
    if len(pairs) <= _is_only_argument(place):
        return None
    return Range(lines.position(pairs[0][0]), lines.position(pairs[0][1]))


def _is_only_argument(place: Place) -> bool:
    match place.parent:
        case ast.Call(args=[only], keywords=[]) | ast.ClassDef(bases=[only], keywords=[]):
            return only is place.node
    return False


def without_suffix(call: Place, receiver: Place, suffix: Range) -> tuple[Edit, ...]:
    """Leaves of `receiver.method(…)` the receiver, without parentheses where it needs none. Empty
    where a comment would be lost."""
    gone = call.source.text_of(suffix)
    if "\n" in gone and "#" in gone:
        return ()
    own = parentheses_of(receiver)
    if own is None or not _stands_bare(call, receiver):
        return (call.edit(suffix, ""),)
    before, behind = Range(own.start, receiver.range.start), Range(receiver.range.end, suffix.end)
    return call.edit(before, ""), call.edit(behind, "")


def _stands_bare(call: Place, receiver: Place) -> bool:
    """Whether an operation means the same without parentheses where the call stands."""
    if not isinstance(receiver.node, _OPERATIONS):
        return False
    if isinstance(call.parent, ast.Call | ast.keyword):
        return getattr(call.parent, "func", None) is not call.node
    one_line = call.range.start.line == call.range.end.line
    return one_line and isinstance(call.parent, _STATEMENTS)
