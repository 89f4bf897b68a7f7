"""What is read of a function stays with its statements."""

from __future__ import annotations

import ast

from device_lens.fixes.names import deleted_names, is_local, stored_attributes, stored_names
from device_lens.syntax.splicing import forget_answers

TEXT = """
def f(a, *, b=(c := 1)):
    global g
    x = [i for i in a]
    for y in a:
        try:
            z.w = y
        except ValueError as error:
            del x
        match a:
            case [first]:
                v = first
    def inner(p):
        q = p
        del q
    return lambda r: (s := r)
"""


def _function(text: str = TEXT) -> ast.FunctionDef:
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    return function


def test_what_is_read_of_all_nodes() -> None:
    function = _function()
    for _ in range(2):  # the second time what is remembered answers
        assert stored_names(function) == {*"cxyvqs", "i"}
        assert stored_attributes(function) == {"w"}
        assert deleted_names(function) == {"x"}
        bound = {name for name in "abcgixyzvpqrs" if is_local(function, name)}
        assert bound == {*"abcgixyv"}


def test_another_block_is_read_anew() -> None:
    function = _function()
    assert "new" not in stored_names(function)
    loop = function.body[2]
    assert isinstance(loop, ast.For)
    loop.body += ast.parse("new = 1").body
    forget_answers(loop)
    forget_answers(function)
    assert {"new", "x"} <= stored_names(function)


def test_hundreds_of_branches() -> None:
    branches = "".join(f"    elif n == {i}:\n        x{i} = 1\n" for i in range(900))
    function = _function(f"def f(n):\n    if n < 0:\n        pass\n{branches}")
    assert "x899" in stored_names(function)
    assert is_local(function, "x899")
