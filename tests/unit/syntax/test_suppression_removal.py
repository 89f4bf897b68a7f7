"""Ignore comments taken out of a text."""

from __future__ import annotations

import pytest

from device_lens.syntax.source import parse
from device_lens.syntax.suppression_removal import without_rules


@pytest.mark.parametrize(
    ("text", "unused", "expected"),
    [
        ("f()  # device-lens: ignore[a]\n", "a", "f()\n"),
        ("f()  # device-lens: ignore[a, b]\n", "a", "f()  # device-lens: ignore[b]\n"),
        ("f()  # device-lens: ignore[a, b]\n", "ab", "f()\n"),
        ("f()  # device-lens: ignore  because\n", "", "f()\n"),
        ("f()  # noqa # device-lens: ignore\n", "", "f()  # noqa\n"),
        ("f()  # device-lens: ignore[a] # noqa\n", "a", "f()  # noqa\n"),
        ("if x:\n    # device-lens: ignore[a]\n    f()\n", "a", "if x:\n    f()\n"),
        ("f()\n# device-lens: ignore[a]", "a", "f()\n"),
        ("f()  # device-lens: ignore[]\r\ng()", "", "f()\r\ng()"),
    ],
)
def test_removal(text: str, unused: str, expected: str) -> None:
    file = parse("a.py", text)
    where, new_text = without_rules(file.lines, file.suppressions.all[0], unused)
    start, end = file.lines.offset(where.start), file.lines.offset(where.end)
    assert text[:start] + new_text + text[end:] == expected
