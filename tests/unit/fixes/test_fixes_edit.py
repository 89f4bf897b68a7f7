"""Edits applied to a text."""

from __future__ import annotations

import pytest

from device_lens.fixes.edit import Edit, OverlapError, apply_edits, follower
from device_lens.syntax.position import Position, span


def test_edits_count_in_the_text_as_it_was() -> None:
    edits = [Edit("a.py", span(1, 0, 1, 1), "xyz"), Edit("a.py", span(0, 0, 0, 1), "")]
    assert apply_edits("ab\r\ncd", edits) == "b\r\nxyzd"


def test_insertions_at_one_place_keep_their_order() -> None:
    edits = [Edit("a.py", span(0, 1, 0, 1), "1"), Edit("a.py", span(0, 1, 0, 1), "2")]
    assert apply_edits("ab", edits) == "a12b"


def test_columns_are_characters() -> None:
    assert apply_edits("é😀x", [Edit("a.py", span(0, 2, 0, 3), "y")]) == "é😀y"


def test_overlapping_edits_are_refused() -> None:
    edits = [Edit("a.py", span(0, 0, 0, 2), "1"), Edit("a.py", span(0, 1, 0, 3), "2")]
    with pytest.raises(OverlapError):
        apply_edits("abcd", edits)


@pytest.mark.parametrize(
    ("edit", "before", "after"),
    [
        (Edit("a.py", span(0, 0, 0, 0), "12"), 3, 5),
        (Edit("a.py", span(0, 1, 0, 2), ""), 3, 2),
        (Edit("a.py", span(0, 2, 0, 5), "1"), 3, 2),
        (Edit("a.py", span(0, 3, 0, 4), "123"), 3, 3),
        (Edit("a.py", span(0, 4, 0, 5), "123"), 3, 3),
    ],
    ids=["inserted before", "deleted before", "replaced around", "replaced at", "behind"],
)
def test_follower(edit: Edit, before: int, after: int) -> None:
    assert follower("abcdef", [edit])(Position(0, before)) == after
