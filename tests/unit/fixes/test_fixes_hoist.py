"""Loop-invariant transfers, taken above their loops."""

from __future__ import annotations

import ast

import pytest
from fix_snippets import expected, find, rewritten

from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.hoist import hoist
from device_lens.syntax.source import SourceFile

LOOPS = (ast.For, ast.While)


def _hoisted(text: str, call: str = "w.to(d)", loop: str = "", newline: str = "\n") -> str | None:
    def rewrite(source: SourceFile) -> Fix | None:
        found = find(source, call, ast.Call)
        loops = [node for node in found.ancestors() if isinstance(node, LOOPS)]
        texts = [(found.at(node).text, node) for node in loops]
        outer = next(node for text, node in reversed(texts) if text.startswith(loop))
        return hoist(found, found.at(outer), Safety.SAFE)

    return rewritten(text, rewrite, newline=newline)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_inline_transfer_gets_a_name(newline: str) -> None:
    before = """\
    def f(xs, w, d):
        # over all
        for x in xs:  # each
            g(x, w.to(d))  # weighted
    """
    after = """\
    def f(xs, w, d):
        # over all
        w_on_device = w.to(d)
        for x in xs:  # each
            g(x, w_on_device)  # weighted
    """
    assert _hoisted(before, newline=newline) == expected(after, newline)


def test_statement_moves_with_its_comments() -> None:
    before = """\
    while n < 5:
    \tfirst()
    \t# upload once
    \txb = w.to(d)  # whole set
    \tf(xb)
    """
    after = """\
    # upload once
    xb = w.to(d)  # whole set
    while n < 5:
    \tfirst()
    \tf(xb)
    """
    assert _hoisted(before) == expected(after)


def test_goes_above_the_outermost_loop_given() -> None:
    before = """\
    if a:
        for e in es:
            with g():
                for x in xs:
                    y = w.to(d)
                    f(x, y)
    """
    after = """\
    if a:
        y = w.to(d)
        for e in es:
            with g():
                for x in xs:
                    f(x, y)
    """
    assert _hoisted(before) == expected(after)


def test_stays_below_the_loop_that_it_depends_on() -> None:
    before = "for w in ws:\n    for x in xs:\n        f(x, w.to(d))\n"
    after = "for w in ws:\n    w_on_device = w.to(d)\n    for x in xs:\n        f(x, w_on_device)\n"
    assert _hoisted(before, loop="for x") == after


def test_the_only_statement_of_a_loop_leaves_pass() -> None:
    assert _hoisted("for x in xs:\n    y = w.to(d)\n") == "y = w.to(d)\nfor x in xs:\n    pass\n"


def test_a_target_that_is_read_earlier_in_the_loop_is_kept() -> None:
    before = "for x in xs:\n    f(y)\n    y = w.to(d)\n"
    after = "w_on_device = w.to(d)\nfor x in xs:\n    f(y)\n    y = w_on_device\n"
    assert _hoisted(before) == after


def test_a_taken_name_is_not_used_again() -> None:
    before = "w_on_device = 1\nfor x in xs:\n    f(w.to(d))\n"
    after = "w_on_device = 1\nw_on_device_2 = w.to(d)\nfor x in xs:\n    f(w_on_device_2)\n"
    assert _hoisted(before) == after


@pytest.mark.parametrize(
    "body",
    [
        "y = w.to(d)\n    y += x",
        "y = w.to(d)\n    y[0] = x",
        "y = w.to(d)\n    y.add_(x)",
        "y = w.to(d)\n    torch.add(x, x, out=y)",
        "if x:\n        f(w.to(d))",
        "f(x and w.to(d))",
        "f(lambda: w.to(d))",
        "pass\nelse:\n    f(w.to(d))",
    ],
)
def test_not_hoisted(body: str) -> None:
    assert _hoisted(f"for x in xs:\n    {body}\n") is None
