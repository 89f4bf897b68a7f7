"""The comments that stand in what a fix replaces."""

from __future__ import annotations

import re
from collections.abc import Iterable

from device_lens.fixes.place import Place, indentation
from device_lens.syntax.position import Position
from device_lens.syntax.scanner import comments

_ABOUT_THE_LINE = re.compile(r"#\s*(?:device-lens|type|noqa|pyright|pylint|pragma|fmt|nosec)\b")
"""What speaks to a tool of the very line that it ends."""


def comments_in(place: Place, kept: Iterable[Place] = (), behind: bool = False) -> list[str]:
    """The comments within a statement, those apart that stand in the parts of it that are `kept`;
    with `behind`, the one at its end too."""
    source, where = place.source, place.range
    lines, first = source.lines, source.start_of(place.chunk)
    columns = comments(lines.lines, first, where.end.line + 1)
    spans = [each.range for each in kept]
    found = []
    for line, column in columns.items():
        at = Position(line, column)
        inside = where.start <= at < where.end or (behind and at >= where.end)
        if inside and not any(span.start <= at < span.end for span in spans):
            found.append(lines.line(line)[column:].rstrip())
    return [each for each in found if not _ABOUT_THE_LINE.match(each)]


def below_comments(place: Place, new_text: str, kept: Iterable[Place] = ()) -> str:
    """What takes the place of a statement that begins its line, below the comments in it."""
    space = indentation(place.source, place.range.start.line)
    return f"\n{space}".join([*comments_in(place, kept), new_text])
