"""What a parsed file promises, whatever the text."""

from __future__ import annotations

import ast
import gc
import warnings
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import device_lens.syntax
from device_lens.syntax.position import Position, span
from device_lens.syntax.source import parse

SOURCES = sorted(Path(device_lens.syntax.__file__).parent.rglob("*.py"))


@given(st.text(st.sampled_from("ax=1()[]{}\"'\\\n\r\f\t :#@,.é\u2028\0\ufeff\ud800"), max_size=60))
@example("\ufeffx = 1\n")
@example("(" * 500)
@example("-" * 200_000 + "1")
@example("x = " + "1" * 10_000)
@example("\ud800 = '\ud800'\n")
@example('"""' * 3)
@example("if x:\n\\\n  y\n")
def test_any_text_is_parsed_without_an_exception(text: str) -> None:
    file = parse("a.py", text)
    assert len(file.chunks) == len(file.starts)
    line = 0
    for start, chunk in zip(file.starts, file.chunks, strict=True):
        assert start >= line
        assert chunk.text == "\n".join(file.lines.lines[start : start + chunk.line_count])
        line = start + chunk.line_count
    for problem in file.problems:
        assert 0 <= problem.range.start.line <= problem.range.end.line < len(file.lines.lines)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_chunks_hold_the_same_tree_as_the_file(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    file = parse(str(path), text)
    whole = ast.parse(text)
    body = [statement for chunk in file.chunks for statement in chunk.body]
    assert [ast.dump(one) for one in body] == [ast.dump(one) for one in whole.body]
    for chunk in file.chunks:
        for statement in chunk.body:
            expected = ast.get_source_segment(text, statement)
            assert file.text_of(file.range(chunk, statement)) == expected


def test_ranges_count_characters() -> None:
    text = "é = 'ü'; y = f(é, b=é)\n"
    file = parse("a.py", text)
    (chunk,) = file.chunks
    call = chunk.body[1]
    assert isinstance(call, ast.Assign)
    assert isinstance(call.value, ast.Call)
    assert file.text_of(file.range(chunk, call.value)) == "f(é, b=é)"
    assert file.text_of(file.range(chunk, call.value.keywords[0])) == "b=é"
    assert file.range(chunk, call.value.args[0]) == span(0, 15, 0, 16)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end(end: str) -> None:
    text = end.join(["x = 1", "", "def f():", "    '''a", "b'''", "    return 2", ""])
    file = parse("a.py", text)
    assert file.starts == (0, 2)
    assert file.problems == ()
    assert file.text_of(file.range(file.chunks[1], file.chunks[1].body[0])).endswith("return 2")


def test_a_byte_order_mark_takes_a_column() -> None:
    file = parse("a.py", "\ufeffx = 1\n")
    assert file.problems == ()
    assert file.range(file.chunks[0], file.chunks[0].body[0]) == span(0, 1, 0, 6)


def test_form_feeds_and_line_separators_end_no_line() -> None:
    file = parse("a.py", "x = '\u2028'\n\fy = 2\n")
    assert file.starts == (0, 1)
    assert file.range(file.chunks[1], file.chunks[1].body[0]) == span(1, 1, 1, 6)


def test_a_null_byte_is_a_problem_of_its_statement() -> None:
    file = parse("a.py", "x = 1\ny = '\0'\nz = 3\n")
    assert [len(chunk.body) for chunk in file.chunks] == [1, 1, 1]
    assert [problem.range for problem in file.problems] == [span(1, 5, 1, 6)]


def test_deep_nesting_is_a_problem_of_its_statement() -> None:
    file = parse("a.py", "x = 1\ny = " + "(" * 5000 + ")" * 5000 + "\nz = 3\n")
    assert [chunk.problem is None for chunk in file.chunks] == [True, False, True]


def test_statements_that_share_a_line_share_a_chunk() -> None:
    file = parse("a.py", "a = '''\n'''; b = 1; \\\nc = 2\nd = 3\n")
    assert file.starts == (0, 3)
    assert len(file.chunks[0].body) == 3
    assert file.chunk_at(2) is file.chunks[0]


def test_equal_statements_are_different_chunks() -> None:
    file = parse("a.py", "f()\nf()\n")
    assert file.chunks[0] is not file.chunks[1]
    assert file.range(file.chunks[1], file.chunks[1].body[0]).start == Position(1, 0)


def test_comments_between_statements_belong_to_no_chunk() -> None:
    file = parse("a.py", "x = 1\n# note\n\n@dec\ndef f(): pass\n")
    assert file.chunk_at(1) is None
    assert file.chunk_at(3) is file.chunks[1]
    assert file.chunk_at(99) is None


def test_parsing_leaves_collector_and_warnings_as_they_were() -> None:
    for enabled in (True, False):
        (gc.enable if enabled else gc.disable)()
        try:
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                parse("a.py", "x = '\\d' is 1\n")
            assert gc.isenabled() is enabled
            assert seen == []
        finally:
            gc.enable()
