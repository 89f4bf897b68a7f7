"""How an ignore comment, or one rule of it, is taken out of a text."""

from __future__ import annotations

from collections.abc import Collection

from device_lens.syntax.position import LineIndex, Position, Range, span
from device_lens.syntax.suppressions import Suppression


def without_rules(
    lines: LineIndex, suppression: Suppression, unused: Collection[str]
) -> tuple[Range, str]:
    """The edit, a range and its new text, that takes rules out of a comment: out of its
    brackets while others remain there, else the whole comment."""
    kept = [named.name for named in suppression.rules if named.name not in unused]
    if suppression.bare or not kept:
        return without_comment(lines, suppression), ""
    first, last = suppression.rules[0].range, suppression.rules[-1].range
    return Range(first.start, last.end), ", ".join(kept)


def without_comment(lines: LineIndex, suppression: Suppression) -> Range:
    """What to delete for a comment to be gone: with its reason, up to a further ``#``; the whole
    line where nothing else stands on it."""
    number, text = suppression.line, lines.line(suppression.line)
    start, rest = suppression.range.start.column, suppression.range.end.column
    further = text.find("#", rest)
    if further >= 0:
        return span(number, start, number, further)
    before = text[:start].rstrip()
    if before.strip() or number + 1 >= len(lines.lines):
        return span(number, len(before), number, len(text))
    return Range(Position(number, 0), Position(number + 1, 0))
