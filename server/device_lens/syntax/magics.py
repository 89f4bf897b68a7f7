"""Makes a notebook cell plain Python: what IPython adds is taken out, places stay.

No line is added or removed, and what stays of a line stays at its column.
"""

from __future__ import annotations

import re

from device_lens.syntax.position import LineIndex
from device_lens.syntax.scanner import is_blank, logical_line_at

_CELL_MAGIC = re.compile(r"%%(\w+)")
_KEEPS_BODY = frozenset({"time", "timeit", "capture", "prun", "memit", "mprun", "lprun"})
_TIMED = re.compile(
    r"([ \t]*)(%(?:time|timeit|prun|memit)(?:[ \t]+-\w+(?:[ \t]+\d+)?)*[ \t]+)(?=\S)"
)
_LINE_MAGIC = re.compile(r"[ \t]*(?:%|!|\?+[ \t]*[\w%])")
_HELP = re.compile(r"[ \t]*%{0,2}[\w.*]+\?{1,2}[ \t]*$")
_ASSIGNED = re.compile(r"([ \t]*[\w.,\[\]'\" \t]+=[ \t]*)[%!](?!=)")


def plain_lines(text: str) -> list[str]:
    """The lines of a cell's text as plain Python."""
    lines = LineIndex(text).lines
    first = _past_cell_magics(lines)
    number = 0 if first is None else first
    while number < len(lines):
        line = lines[number]
        if is_blank(line):
            number += 1
        elif (plain := _plain(line)) is not None:
            stop = _past_continuation(lines, number)
            lines[number:stop] = [plain, *[""] * (stop - number - 1)]
            number = stop
        else:
            number = logical_line_at(lines, number, len(lines)).stop
    return lines


def _past_cell_magics(lines: list[str]) -> int | None:
    """Blank the cell magics at the top, and the body with them where it is not Python that runs
    in the notebook; the line behind them."""
    for number, line in enumerate(lines):
        if is_blank(line):
            continue
        magic = _CELL_MAGIC.match(line)
        if magic is None:
            return number
        if magic.group(1) not in _KEEPS_BODY:
            lines[number:] = [""] * (len(lines) - number)
            return len(lines)
        lines[number] = ""
    return None


def _plain(line: str) -> str | None:
    """A line with IPython syntax as plain Python; None for an ordinary line."""
    if timed := _TIMED.match(line):
        indent, prefix = timed.groups()
        return f"{indent}0{' ' * (len(prefix) - 2)};{line[timed.end() :]}"
    if _LINE_MAGIC.match(line) or _HELP.match(line):
        indent = line[: len(line) - len(line.lstrip())]
        return f"{indent}pass" if indent else ""
    if assigned := _ASSIGNED.match(line):
        return f"{assigned.group(1)}..."
    return None


def _past_continuation(lines: list[str], number: int) -> int:
    """The line behind a magic that backslashes continue."""
    while lines[number].endswith("\\") and number + 1 < len(lines):
        number += 1
    return number + 1
