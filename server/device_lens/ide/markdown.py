"""Markdown that shows text of the user's program as it is and never as markup."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+!|~$&])")
_SPACE = re.compile(r"\s+")
LONGEST_CODE = 120
"""Characters of a program's text that a code span shows."""


def code(text: str) -> str:
    """A code span on one line, whatever backticks the text has."""
    line = shorten(_SPACE.sub(" ", text).strip())
    if not line:
        return ""
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def plain(text: str) -> str:
    """Prose with nothing in it that Markdown would interpret."""
    return _SPECIAL.sub(r"\\\1", _SPACE.sub(" ", text))


def prose(text: str) -> str:
    """Our own sentence, in which backticks mark text of the program."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return plain(text)
    return "".join(code(part) if number % 2 else plain(part) for number, part in enumerate(parts))


def shorten(text: str, longest: int = LONGEST_CODE) -> str:
    """The text, cut with an ellipsis where it is too long to be read at a glance."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def table(columns: Iterable[tuple[str, str]]) -> str:
    """Values side by side, each under its name: two lines, however many they are. Empty without
    any."""
    found = list(columns)
    if not found:
        return ""
    names, values = zip(*found, strict=True)
    return "\n".join(f"| {' | '.join(line)} |" for line in (names, [":--"] * len(found), values))


def spaced(text: str) -> str:
    """The same with room between the columns of its tables, for editors that leave none."""
    lines = text.split("\n")
    return "\n".join(
        line.replace(" | ", "&nbsp;&nbsp;&nbsp; | ")
        if line.startswith("| ") and not line.startswith("| :--")
        else line
        for line in lines
    )


def join(parts: Iterable[str]) -> str:
    """Paragraphs; empty ones are left out."""
    return "\n\n".join(part for part in parts if part)
