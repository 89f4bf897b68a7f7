"""Comments that speak to Device Lens."""

from __future__ import annotations

from device_lens.syntax.position import span
from device_lens.syntax.source import parse
from device_lens.syntax.suppressions import Suppressions


def _suppressions(text: str) -> Suppressions:
    return parse("a.py", text).suppressions


def test_on_the_line_itself() -> None:
    found = _suppressions("x.to(d)  # device-lens: ignore[discarded-transfer, b]\n")
    hit = found.find("discarded-transfer", span(0, 0, 0, 7))
    assert hit is found.all[0]
    assert hit.range == span(0, 9, 0, 53)
    assert [(one.name, one.range) for one in hit.rules] == [
        ("discarded-transfer", span(0, 31, 0, 49)),
        ("b", span(0, 51, 0, 52)),
    ]
    assert found.find("other", span(0, 0, 0, 7)) is None


def test_on_the_last_line_or_alone_above() -> None:
    text = """\
f(
  a,  # device-lens: ignore[x]
)  # device-lens: ignore[y]
# device-lens: ignore
g()
"""
    found = _suppressions(text)
    call = span(0, 0, 2, 1)
    assert found.find("y", call) is not None
    assert found.find("x", call) is None
    assert found.find("anything", span(4, 0, 4, 3)) is found.all[2]


def test_a_comment_beside_code_does_not_speak_of_the_next_line() -> None:
    found = _suppressions("f()  # device-lens: ignore\ng()\n")
    assert found.find("x", span(1, 0, 1, 3)) is None


def test_strings_are_no_comments() -> None:
    text = """\
x = '# device-lens: ignore'
'''
# device-lens: ignore
'''
y = f'''{1}
# device-lens: ignore'''
"""
    assert _suppressions(text).all == ()


def test_after_another_comment() -> None:
    found = _suppressions("f(x)  # noqa # device-lens: ignore[a]  because\n")
    assert found.all[0].range == span(0, 13, 0, 37)


def test_whole_file_only_before_the_first_statement() -> None:
    text = "'''Docs.'''\n# device-lens: ignore-file[a]\nx = 1\n# device-lens: ignore-file[b]\n"
    found = _suppressions(text)
    assert [one.rules[0].name for one in found.all] == ["a"]
    assert found.find("a", span(2, 0, 2, 5)) is found.all[0]
    assert found.find("b", span(2, 0, 2, 5)) is None


def test_empty_brackets_silence_nothing() -> None:
    found = _suppressions("f()  # device-lens: ignore[]\n")
    assert found.all[0].rules == ()
    assert found.find("a", span(0, 0, 0, 3)) is None


def test_words_that_only_begin_alike_are_ignored() -> None:
    text = "# device-lens: ignored\n# device-lens: ignore-files\n# device-lens ignore\nx = 1\n"
    assert _suppressions(text).all == ()


def test_in_broken_statements_too() -> None:
    text = "def f(x):\n    x.to(d)  # device-lens: ignore\n    x.\n"
    assert _suppressions(text).find("a", span(1, 4, 1, 11)) is not None


def test_shapes() -> None:
    text = (
        "x = y()  # device-lens: shape x = [64, 3, H, W] float32\n# device-lens: shape y.z = []\n"
    )
    first, second = _suppressions(text).shapes
    assert (first.name, first.dims, first.dtype) == ("x", (64, 3, "H", "W"), "float32")
    assert first.range == span(0, 9, 0, 55)
    assert (second.name, second.dims, second.dtype) == ("y.z", (), None)
