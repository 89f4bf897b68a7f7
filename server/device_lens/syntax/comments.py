"""Tells a comment from the same text inside a string."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from device_lens.syntax.building import Layout
from device_lens.syntax.scanner import comments


def comment_column(lines: Sequence[str], layout: Layout, line: int) -> int | None:
    """The column at which a line's comment begins; None when it has none."""
    number = bisect_right(layout.starts, line) - 1
    start = line
    if number >= 0 and line < layout.stop(number):
        start = layout.starts[number]
    return comments(lines, start, line + 1).get(line)
