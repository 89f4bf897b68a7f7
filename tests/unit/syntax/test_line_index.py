"""Lines, offsets and the ways to count columns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device_lens.syntax.position import (
    Encoding,
    LineIndex,
    Position,
    column_of_byte,
    column_of_units,
    span,
    units_of_column,
)

TEXT = st.text(st.sampled_from("ab \t\r\n\f\x0b\x1c\x85\u2028é😀\ud800\0#"), max_size=40) | st.text(
    max_size=40
)
ENCODINGS: list[Encoding] = ["utf-8", "utf-16", "utf-32"]


@given(TEXT, st.integers(-2, 50))
def test_an_offset_comes_back_except_inside_a_line_end(text: str, offset: int) -> None:
    index = LineIndex(text)
    back = index.offset(index.position(offset))
    inside = min(max(offset, 0), len(text))
    assert back == (inside - 1 if text[inside - 1 : inside + 1] == "\r\n" else inside)


@given(TEXT)
def test_lines_and_ends_make_up_the_text(text: str) -> None:
    index = LineIndex(text)
    assert len(index.starts) == len(index.lines)
    for number, (start, line) in enumerate(zip(index.starts, index.lines, strict=True)):
        assert text[start : start + len(line)] == line
        assert "\n" not in line
        assert "\r" not in line
        assert index.offset(Position(number, len(line) + 9)) == start + len(line)
    assert index.slice(span(0, 0, index.end.line, index.end.column)) == text


@pytest.mark.parametrize("char", ["\f", "\x0b", "\x1c", "\x1d", "\x85", "\u2028", "\u2029"])
def test_only_carriage_return_and_line_feed_end_a_line(char: str) -> None:
    assert LineIndex(f"a{char}b").lines == [f"a{char}b"]
    assert LineIndex(f"a\rb\r\nc\nd{char}").lines == ["a", "b", "c", f"d{char}"]


@given(TEXT.map(lambda text: LineIndex(text).lines[0]), st.sampled_from(ENCODINGS))
def test_columns_survive_every_encoding(line: str, encoding: Encoding) -> None:
    for column in range(len(line) + 1):
        units = units_of_column(line, column, encoding)
        assert column_of_units(line, units, encoding) == column
    whole = len(line.encode(f"{encoding}-le" if encoding != "utf-8" else encoding, "surrogatepass"))
    assert units_of_column(line, len(line), encoding) == whole // (int(encoding[4:]) // 8)


def test_inside_a_character_is_its_start() -> None:
    assert column_of_units("a😀b", 2, "utf-16") == 1
    assert column_of_units("a😀b", 3, "utf-8") == 1
    assert column_of_byte("é=1", 2) == 1
    assert column_of_byte("é=1", 99) == 3
    assert column_of_byte("\ud800é=1", 5) == 2


def test_positions_outside_the_text_are_clamped() -> None:
    index = LineIndex("ab\ncd")
    assert index.offset(Position(9, 0)) == 5
    assert index.offset(Position(-1, 5)) == 0
    assert index.position(99) == Position(1, 2)
    assert index.line(7) == ""


def test_ranges_cover_and_contain() -> None:
    outer, inner = span(1, 0, 4, 2), span(1, 0, 2, 9)
    assert outer.covers(inner)
    assert not inner.covers(outer)
    assert Position(4, 2) in outer
    assert Position(4, 3) not in outer
    assert inner.shifted(2) == span(3, 0, 4, 9)


def test_columns_of_a_long_line_are_those_of_its_short_parts() -> None:
    part = "é😀a\ud800 "
    line = part * 400
    width = len(part.encode("utf-8", "surrogatepass"))
    for byte in range(width + 1):
        assert column_of_byte(line, 7 * width + byte) == 7 * len(part) + column_of_byte(part, byte)
    assert column_of_byte(line, -1) == 0
    assert column_of_byte(line, 10**6) == len(line)
