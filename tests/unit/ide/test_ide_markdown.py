"""Text of a program never becomes markup."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from device_lens.ide.markdown import code, plain, prose, spaced, table

NASTY = st.text(st.sampled_from("ab`*_[](){}<>|\\#!~ \n\r\t"), max_size=40)


@given(NASTY)
def test_a_code_span_holds_its_text(text: str) -> None:
    found = code(text)
    shown = " ".join(text.split())
    if not shown:
        assert found == ""
        return
    fence = re.match(r"`+", found)
    assert fence is not None
    length = len(found) - len(found.lstrip("`"))
    inside = found[length:-length]
    assert found.endswith("`" * length)
    assert inside.strip(" ") == shown
    assert not re.search(rf"(?<!`)`{{{length}}}(?!`)", inside)


@given(NASTY)
def test_plain_text_has_no_live_markup(text: str) -> None:
    live = re.sub(r"\\.", "", plain(text))
    assert not re.search(r"[`*_\[\](){}<>|#!~\\]", live)


@given(NASTY)
def test_prose_keeps_markup_inside_code_spans(text: str) -> None:
    # As Markdown reads: from the left, an escaped backtick opens no span.
    outside = re.sub(r"\\.|(`+)(?!`).*?(?<!`)\1(?!`)", "", prose(text))
    assert not re.search(r"[*\[\]<>]", outside)


def test_prose_shows_code() -> None:
    assert prose("is made by `torch.randn`") == "is made by `torch.randn`"


def test_a_table_has_its_values_side_by_side() -> None:
    assert table([("a", "1"), ("b", "2")]) == "| a | b |\n| :-- | :-- |\n| 1 | 2 |"
    assert table([]) == ""


def test_room_is_made_in_tables_alone() -> None:
    text = "`a | b`\n\n" + table([("a", "1"), ("b", "2")])
    assert spaced(text).splitlines() == [
        "`a | b`",
        "",
        "| a&nbsp;&nbsp;&nbsp; | b |",
        "| :-- | :-- |",
        "| 1&nbsp;&nbsp;&nbsp; | 2 |",
    ]
