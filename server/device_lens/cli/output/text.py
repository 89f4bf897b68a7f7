"""`--output-format text`: what a person reads.

train.py:12:5: warning[discarded-transfer] `x.to(device)` returns a tensor that is thrown away
   |
12 |     x.to(device)
   |     ^^^^^^^^^^^^
   = train.py:3:5: `x` is created on the CPU here
   = fix: Assign the result: x = x.to(device)
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

from device_lens.cli.output.entry import Entry

Json = dict[str, Any]
Style = Callable[[str, str], str]
"""Takes a text and the name of a style."""

_STYLES = {
    "error": "1;31",
    "warning": "1;33",
    "information": "1;36",
    "hint": "1;34",
    "place": "1",
    "frame": "2",
    "fix": "32",
}


def render(entries: Sequence[Entry], style: Style) -> str:
    """All findings, one block each."""
    return "".join("\n".join(_block(entry, style)) + "\n\n" for entry in entries)


def summary(
    entries: Sequence[Entry], files: int, with_unsafe: bool = False, tried: bool = False
) -> str:
    """`Found 3 findings in 2 files: 1 error, 2 warnings. 2 can be fixed (--fix).` Where the fixes
    have been `tried`, those that remain would bring other findings."""
    if not entries:
        return f"Nothing found in {_count(files, 'file')}."
    by_severity: dict[str, int] = {}
    for entry in sorted(entries, key=lambda each: each.severity.rank):
        name = entry.severity.value
        by_severity[name] = by_severity.get(name, 0) + 1
    parts = ", ".join(_count(number, name) for name, number in by_severity.items())
    places = len({entry.data["file"] for entry in entries})
    text = f"Found {_count(len(entries), 'finding')} in {_count(places, 'file')}: {parts}."
    fixable = sum(_is_fixable(entry, with_unsafe) for entry in entries)
    if fixable and tried:
        left = "as it was: its fix brings" if fixable == 1 else "as they were: their fixes bring"
        text += f" {fixable} left {left} other findings."
    elif fixable:
        option = "--fix --unsafe-fixes" if with_unsafe else "--fix"
        text += f" {fixable} can be fixed ({option})."
    return text


def _is_fixable(entry: Entry, with_unsafe: bool) -> bool:
    fixes = entry.data["fixes"]
    return any(with_unsafe or fix["safety"] == "safe" for fix in fixes)


def style_for(stream: IO[str]) -> Style:
    """Colours on a terminal that wants them; none anywhere else."""
    forced = os.environ.get("FORCE_COLOR", "") not in ("", "0")
    wanted = forced or (stream.isatty() and os.environ.get("TERM") != "dumb")
    if not wanted or os.environ.get("NO_COLOR"):
        return lambda text, name: text
    return lambda text, name: f"\x1b[{_STYLES[name]}m{text}\x1b[0m"


def _block(entry: Entry, style: Style) -> Iterator[str]:
    data = entry.data
    severity = data["severity"]
    head = f"{severity}[{data['rule']}]"
    yield f"{style(_place(data), 'place')}: {style(head, severity)} {data['message']}"
    number = data["range"]["start"]["line"]
    width = len(str(number + len(entry.lines) - 1))
    bar = style(f"{' ' * width} |", "frame")
    if entry.lines:
        yield bar
        yield from _excerpt(entry, width, style)
    for related in data["related"]:
        yield style(f"{' ' * width} = ", "frame") + f"{_place(related)}: {related['message']}"
    for fix in data["fixes"]:
        kind = "fix" if fix["safety"] == "safe" else "unsafe fix"
        yield style(f"{' ' * width} = ", "frame") + style(f"{kind}: ", "fix") + fix["title"]


def _excerpt(entry: Entry, width: int, style: Style) -> Iterator[str]:
    start, end = entry.data["range"]["start"], entry.data["range"]["end"]
    for offset, line in enumerate(entry.lines):
        number = start["line"] + offset
        yield f"{style(f'{number:>{width}} |', 'frame')} {_visible(line)}".rstrip()
        first = start["column"] - 1 if offset == 0 else len(line) - len(line.lstrip())
        last = end["column"] - 1 if number == end["line"] else len(line)
        carets = _carets(line, first, last)
        if carets.strip():
            under = style(carets, entry.data["severity"])
            yield f"{style(' ' * width + ' |', 'frame')} {under}"
    if start["line"] + len(entry.lines) <= end["line"]:
        yield style(f"{' ' * width} | …", "frame")


def _carets(line: str, first: int, last: int) -> str:
    """Marks below some columns of a line, as wide as the terminal shows its characters."""
    indent = "".join("\t" if char == "\t" else " " * _width(char) for char in line[:first])
    return indent + "^" * max(sum(_width(char) for char in line[first:last]), 1)


def _width(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Cf", "Mn"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _visible(line: str) -> str:
    """The line without what a terminal would take for a command."""
    return "".join(char if char == "\t" or char.isprintable() else "·" for char in line)


def _place(data: Json) -> str:
    start = data["range"]["start"]
    cell = "" if data["cell"] is None else f":cell {data['cell']}"
    return f"{data['file']}{cell}:{start['line']}:{start['column']}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 or noun == "information" else f"{number} {noun}s"
