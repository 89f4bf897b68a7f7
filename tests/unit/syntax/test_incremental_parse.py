"""A file parsed after an edit equals the same text parsed from nothing."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from device_lens.syntax import building, recovery, retyping
from device_lens.syntax.quiet import parse_text
from device_lens.syntax.source import SourceFile, parse

PIECES = [
    "x = 1", "y = f(x,", "  z)", "def f(a):", "    return a", "class A:", "    def g(self):",
    "        '''doc'''", "        x = (", '        """', "        return self", "if x:", "else:",
    "elif y:", "    pass", "try:", "except E:", "finally:", "@dec", "@dec(", "# note", "    # in",
    "", "\\", "    \\", "x = 1 \\", "; y = 2", "'''", '"""', "import os", "for i in y:", ")", "\f",
    "async def h():", "    await x", "with a as b:", "match x:", "    case 1:", "        é = '😀'",
    "\ufeffx", "\0", "lambda: (", "return 1", "  odd", "\tx = 1", "[a", "for b in c]", "} {",
]  # fmt: skip
LINES = st.lists(st.sampled_from(PIECES), max_size=12)
EDITS = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 30), LINES), max_size=4)
ENDS = st.sampled_from(["\n", "\n", "\r\n", "\r"])


def _picture(file: SourceFile) -> list[Any]:
    """All that a file says."""
    return [
        file.problems,
        file.inside_out,
        [
            (
                start,
                chunk.text,
                chunk.omitted,
                [ast.dump(statement) for statement in chunk.body],
                [file.range(chunk, node) for one in chunk.body for node in ast.walk(one)],
            )
            for start, chunk in zip(file.starts, file.chunks, strict=True)
        ],
    ]


@settings(max_examples=300, deadline=None)
@given(LINES, EDITS, ENDS)
def test_edits_equal_a_fresh_parse(
    lines: list[str], edits: list[tuple[int, int, list[str]]], end: str
) -> None:
    text = end.join(lines)
    file = parse("a.py", text)
    for at, removed, added in edits:
        at %= len(text) + 1
        text = text[:at] + end.join(added) + text[at + removed :]
        file = parse("a.py", text, file)
        assert _picture(file) == _picture(parse("a.py", text))
        assert len(set(map(id, file.chunks))) == len(file.chunks)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\\\n# note\nx = 1\nx = 1", "\\\n# note\nx = 1\n= 1"),
        ("x = 1 \\\n\n# note", "x = 1 \\\n\n\\# note"),
    ],
    ids=["a backslash that joins a comment", "a backslash that joins a blank line"],
)
def test_a_line_that_no_longer_parses_parts_no_other(before: str, after: str) -> None:
    edited = parse("a.py", after, parse("a.py", before))
    assert _picture(edited) == _picture(parse("a.py", after))
    assert [chunk.omitted for chunk in edited.chunks] == [(), ((0, 1),)]


SMALL = """\
import os


def f(x):
    return x


class A:
    def g(self):
        return 1


z = 3
"""


def test_an_edit_keeps_the_other_chunks() -> None:
    old = parse("a.py", SMALL)
    new = parse("a.py", SMALL.replace("return x", "return x + 1\n    # more"), old)
    assert new.chunks[0] is old.chunks[0]
    assert new.chunks[1] is not old.chunks[1]
    assert new.chunks[2:] == old.chunks[2:]
    assert new.starts[2] == old.starts[2] + 1


def test_ranges_follow_a_chunk_that_moved() -> None:
    old = parse("a.py", SMALL)
    new = parse("a.py", "# a\n\n" + SMALL, old)
    assert new.chunks == old.chunks
    (statement,) = new.chunks[-1].body
    assert new.text_of(new.range(new.chunks[-1], statement)) == "z = 3"
    assert old.range(old.chunks[-1], statement).start.line == 12
    assert new.range(new.chunks[-1], statement).start.line == 14


def test_a_broken_edit_keeps_the_other_chunks() -> None:
    old = parse("a.py", SMALL)
    new = parse("a.py", SMALL.replace("return x", "return (x"), old)
    assert [mine is theirs for mine, theirs in zip(new.chunks, old.chunks, strict=True)] == [
        True, False, True, True,
    ]  # fmt: skip
    mended = parse("a.py", SMALL, new)
    assert mended.problems == ()


def test_chunks_of_a_moved_function_are_kept() -> None:
    first, rest = "def f():\n    return 1\n", "x = 1\n\ny = 2\n"
    old = parse("a.py", first + rest)
    new = parse("a.py", rest + first, old)
    assert set(map(id, new.chunks)) == set(map(id, old.chunks))


def test_other_line_ends_keep_every_chunk() -> None:
    old = parse("a.py", SMALL)
    new = parse("a.py", SMALL.replace("\n", "\r\n"), old)
    assert new.chunks == old.chunks
    assert new.text.count("\r\n") == SMALL.count("\n")


def test_the_same_text_is_the_same_file() -> None:
    old = parse("a.py", SMALL)
    assert parse("a.py", SMALL, old) is old


TYPED = [
    "x = f(y)", "if x: y = 1", "# note", "", "return x", "x = (1,", "'''doc'''", "for i in y:",
    "    pass", "é = 'ü'; y = é", "@dec", "def h(a): return a", "else:", "y = '''", "global x",
]  # fmt: skip
NESTED = """\
class A(B):
    x = 1

    @property
    def first(self, a=1):
        \"\"\"Doc.\"\"\"
        y = self.x
        for i in y:
            if i:
                y = i
            else:
                y = 2
        return y

    def second(self):
        try:
            self.first()
        except E as error:
            raise
        finally:
            pass
        with self as z:
            z = 'é', z
        return z


def third(a, *, b=2):
    while a:
        a = b

        def inner():
            return a

        b = inner()
    return b
"""
KEYS = st.lists(
    st.tuples(st.integers(0, 40), st.sampled_from(TYPED), st.integers(0, 3), st.integers(1, 5)),
    max_size=6,
)


@settings(max_examples=200, deadline=None)
@given(KEYS)
def test_typing_in_functions_equals_a_fresh_parse(keys: list[tuple[int, str, int, int]]) -> None:
    lines = NESTED.split("\n")
    file = parse("a.py", NESTED)
    for at, typed, removed, step in keys:
        at %= len(lines)
        indent = len(lines[at]) - len(lines[at].lstrip())
        lines[at : at + removed] = [""]
        for end in range(0, len(typed) + step, step):
            lines[at] = " " * indent + typed[:end]
            text = "\n".join(lines)
            file = parse("a.py", text, file)
            assert _picture(file) == _picture(parse("a.py", text))


def test_statements_around_an_edit_stay_the_nodes_that_they_are() -> None:
    before = parse("a.py", NESTED)
    first, second = before.chunks[0].body[0].body[1:3]
    loop, last = first.body[2], first.body[3]
    longer = NESTED.replace(
        "                y = i\n", "                y = i\n                z = y\n"
    )
    after = parse("a.py", longer, before)
    new, other = after.chunks[0].body[0].body[1:3]
    assert new is not first
    assert (new.body[2], new.body[3], other) == (loop, last, second)
    assert after.range(after.chunks[0], last).start.line == 13
    assert [name.id for name in (each.targets[0] for each in loop.body[0].body)] == ["y", "z"]


def test_a_decorator_that_comes_makes_another_function() -> None:
    before = parse("a.py", NESTED)
    text = NESTED.replace("        def inner", "        @b\n        def inner").replace(
        "\n\n      ", "\n      "
    )
    after = parse("a.py", text, before)
    assert _picture(after) == _picture(parse("a.py", text))


def test_a_version_that_gave_its_nodes_away_is_parsed_anew() -> None:
    before = parse("a.py", NESTED)
    parse("a.py", NESTED.replace("y = 2", "y = 3"), before)
    again = parse("a.py", NESTED.replace("y = 2", "y = 44"), before)
    assert _picture(again) == _picture(parse("a.py", NESTED.replace("y = 2", "y = 44")))


@pytest.mark.parametrize("typed", ["new = f(1, 'a')", "if i: y = [i", "for j in y: k = j"])
@pytest.mark.parametrize(
    "above", ["                y = i", "        y = self.x", "            raise"]
)
def test_what_is_typed_in_a_function_is_all_that_is_read(
    monkeypatch: pytest.MonkeyPatch, above: str, typed: str
) -> None:
    read: list[str] = []

    def noted(text: str) -> object:
        read.append(text)
        return parse_text(text)

    file = parse("a.py", NESTED)
    for module in (building, recovery, retyping):
        monkeypatch.setattr(module, "parse_text", noted)
    indent = above[: len(above) - len(above.lstrip())]
    for end in range(len(typed) + 1):
        text = NESTED.replace(above, f"{above}\n{indent}{typed[:end]}")
        file = parse("a.py", text, file)
        assert max(map(len, read), default=0) < 60
    monkeypatch.undo()
    assert _picture(file) == _picture(parse("a.py", text))


def test_what_is_broken_behind_a_decorator_is_read_with_it() -> None:
    text = "class A:\n    def f(self):\n        pass\n        @dec\n        {}\n\n\nx = 1\n"
    file = parse("a.py", text.format(""))
    for typed in ("d", "de", "def", "def ", "def h", "def h(", "def h(a", "def h(a): return a"):
        file = parse("a.py", text.format(typed), file)
        assert _picture(file) == _picture(parse("a.py", text.format(typed)))


def test_a_letter_that_changes_nothing_of_what_is_read_leaves_the_statement() -> None:
    text = "def f(x):\n    y = x\n    z = x.to({}\n    return y, z\n"
    before = parse("a.py", text.format("'cu"))
    statement = before.chunks[0].body[0].body[1]
    after = parse("a.py", text.format("'cud"), before)
    assert after.chunks[0].body[0].body[1] is statement
    splice = after.chunks[0].splice
    assert splice is not None
    assert (splice.removed, splice.added) == (0, 0)
