"""A file parsed after an edit equals the same text parsed from nothing."""

from __future__ import annotations

import ast
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

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
