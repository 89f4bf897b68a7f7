"""Text that does not parse loses only the broken statement."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from device_lens.syntax.source import parse

CASES = {
    "half-typed call in a method": (
        """
        class A(nn.Module):
            def f(self, x):
                y = x.to(
                return y

            def g(self):
                return 1
        """,
        """
        class A(nn.Module):

            def f(self, x):
                y = ...
                return y

            def g(self):
                return 1
        """,
    ),
    "half-typed attribute": (
        "def f(x):\n    x.\n    return x\n",
        "def f(x):\n    pass\n    return x",
    ),
    "try without except": (
        "def f(x):\n    try:\n        y = x.cuda()\n    return y\n",
        "def f(x):\n    if 1:\n        y = x.cuda()\n    return y",
    ),
    "broken clause": (
        "if a:\n    b()\nelif :\n    c()\nelse:\n    d()\n",
        "if a:\n    b()\nelse:\n    d()",
    ),
    "broken except, kept finally": (
        "try:\n    a()\nexcept (:\n    b()\nfinally:\n    c()\n",
        "try:\n    a()\nfinally:\n    c()",
    ),
    "header without block": (
        "def f(x):\n    for i in x:\n    return x\n",
        "def f(x):\n    for i in x:\n        pass\n    return x",
    ),
    "definition without block": (
        "class A:\n    a = 1\n\n    @property\n    def f(self):\n",
        "class A:\n    a = 1\n    f = ...",
    ),
    "decorators stay on sound definitions": (
        "class A:\n    @property\n    def f(self):\n        return 1\n    x = = 2\n",
        "class A:\n\n    @property\n    def f(self):\n        return 1\n    x = ...",
    ),
    "broken decorator": ("@dec(\ndef f():\n    return 1\n", "def f():\n    return 1"),
    "unclosed bracket at top level": (
        "x = foo(a,\n        b\ny = 3\nz = bar(y)\ndef g():\n    return 1\n",
        "x = ...\ny = 3\nz = bar(y)\ndef g():\n    return 1",
    ),
    "unclosed string in a method, with strings behind": (
        '''
        class A:
            def f(self):
                """doc
                return 1

            def g(self):
                """other"""
                return 2

        def h():
            """third"""
            return 3
        ''',
        '''
        class A:

            def f(self):
                pass
                return 1

            def g(self):
                """other"""
                return 2
        def h():
            """third"""
            return 3
        ''',
    ),
    "broken case": (
        "match x:\n    case 1:\n        a = (\n    case [:\n        b()\n    case 3:\n        c\n",
        "match x:\n    case 1:\n        a = ...\n    case 3:\n        c",
    ),
    "wrong indentation": (
        "def f():\n        x = 1\n    y = 2\n        z = 3\nw = 4\n",
        "def f():\n    x = 1\nw = 4",
    ),
    "missing colon": ("def f(x):\n    if x\n        y = 1\n    return x\n",
                      "def f(x):\n    pass\n    return x"),
    "unknown names are bound to nothing known": (
        "a, b.c = = 1\nd: int = (\n", "a, b.c = ...\nd = ..."
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_remains(name: str) -> None:
    text, expected = map(dedent, CASES[name])
    file = parse("a.py", text)
    remains = [ast.unparse(one) for chunk in file.chunks for one in chunk.body]
    assert remains == [ast.unparse(one) for one in ast.parse(expected).body]
    assert file.problems


@pytest.mark.parametrize("name", CASES)
def test_what_remains_stays_in_place(name: str) -> None:
    text = dedent(CASES[name][0])
    file = parse("a.py", text)
    for chunk in file.chunks:
        left_out = {line for start, stop in chunk.omitted for line in range(start, stop)}
        for statement in chunk.body:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and chunk.range(node).start.line not in left_out:
                    assert file.text_of(file.range(chunk, node)) == node.id


def test_left_out_lines_are_named() -> None:
    file = parse("a.py", "x = 1\ndef f(x):\n    x.to(\n    return x\n")
    assert file.chunks[1].omitted == ((1, 2),)
    assert file.problems[0].range.start.line == 2


def test_newer_syntax_is_a_problem_of_its_statement() -> None:
    file = parse("a.py", "x = 1\nwith (yield) = 3:\n    pass\ny = 2\n")
    assert [chunk.problem is None for chunk in file.chunks] == [True, False, True]


def test_messages_name_no_line() -> None:
    file = parse("a.py", "x = 1\n\nclass A:\nz = (1]\n")
    assert all(" line " not in problem.message for problem in file.problems)


@pytest.mark.parametrize("text", ["@", "if x:", "x =", "def f(", "é =", "for i in y:\n\nx = ("])
def test_what_stands_for_broken_code_lies_within_its_line(text: str) -> None:
    file = parse("a.py", text)
    for chunk in file.chunks:
        for node in (each for one in chunk.body for each in ast.walk(one)):
            if isinstance(node, ast.stmt | ast.expr):
                where = file.range(chunk, node)
                for place in (where.start, where.end):
                    assert place.line < len(file.lines.lines)
                    assert place.column <= len(file.lines.line(place.line))
