"""The statement around a place, and a file's habits."""

from __future__ import annotations

import ast

from device_lens.syntax.newlines import indent_unit, leading_space
from device_lens.syntax.position import Position, span
from device_lens.syntax.source import parse
from device_lens.syntax.statements import (
    enclosing_statement,
    innermost_statement,
    suppression_scope,
)

TEXT = """\
x = 1

@dec
def f(
    a,
):
    # note
    for i in a:
        g(i,
          i)
    try:
        h()
    except E:
        k()
    match a:
        case 1:
            m()
if a: b()
"""


def test_innermost_statement() -> None:
    file = parse("a.py", TEXT)
    assert enclosing_statement(file, Position(9, 11)) == span(8, 8, 9, 12)
    assert enclosing_statement(file, Position(13, 9)) == span(13, 8, 13, 11)
    assert enclosing_statement(file, Position(16, 12)) == span(16, 12, 16, 15)
    assert enclosing_statement(file, Position(1, 0)) is None
    assert enclosing_statement(file, span(0, 4, 0, 5)) == span(0, 0, 0, 5)


def test_headers() -> None:
    file = parse("a.py", TEXT)
    function = innermost_statement(file, Position(4, 5))
    assert function is not None
    assert isinstance(function.node, ast.FunctionDef)
    assert function.range == span(2, 0, 16, 15)
    assert function.header == span(2, 0, 5, 2)
    assert suppression_scope(file, Position(7, 8)) == span(7, 4, 7, 15)
    assert suppression_scope(file, Position(17, 3)) == span(17, 0, 17, 6)
    assert suppression_scope(file, Position(17, 7)) == span(17, 6, 17, 9)
    assert suppression_scope(file, span(1, 0, 1, 0)) == span(1, 0, 1, 0)


def test_parents() -> None:
    found = innermost_statement(parse("a.py", TEXT), Position(8, 9))
    assert found is not None
    assert [type(parent) for parent in found.parents] == [ast.FunctionDef, ast.For]


def test_indentation_unit() -> None:
    assert indent_unit(["if x:", "  y", "  if z:", "    w"]) == "  "
    assert indent_unit(["if x:", "\ty"]) == "\t"
    assert indent_unit(["f(", "        a)", "if x:  # c", "   y"]) == "   "
    assert indent_unit(["x = 1"]) == "    "
    assert leading_space("\t  x ") == "\t  "
