"""The habit of a file that an edit keeps: its unit of indentation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from device_lens.syntax.scanner import is_blank

_SAMPLE = 5000
_DEFAULT_UNIT = "    "


def leading_space(line: str) -> str:
    """The white space before a line's code."""
    return line[: len(line) - len(line.lstrip(" \t\f"))]


def indent_unit(lines: Sequence[str]) -> str:
    """What one level of indentation is: the most frequent step inwards, else four spaces."""
    steps: Counter[str] = Counter()
    before = previous = ""
    for line in lines[:_SAMPLE]:
        if is_blank(line):
            continue
        space = leading_space(line)
        if len(space) > len(before) and space.startswith(before) and _opens(previous):
            steps[space[len(before) :]] += 1
        before, previous = space, line
    return steps.most_common(1)[0][0] if steps else _DEFAULT_UNIT


def _opens(line: str) -> bool:
    return line.partition("#")[0].rstrip().endswith(":")
