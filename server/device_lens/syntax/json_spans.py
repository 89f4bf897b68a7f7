"""Where the parts of a JSON text stand, so that one can be replaced and every other byte stays."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import takewhile

Span = tuple[int, int]

_SPACE = re.compile(r"[ \t\n\r]*")
_decode = json.JSONDecoder().raw_decode


def value_at(text: str, start: int) -> Span:
    """The value that begins at an offset, after white space perhaps."""
    start = _past_space(text, start)
    return start, _decode(text, start)[1]


def members(text: str, start: int) -> dict[str, Span]:
    """The values of an object that begins at an offset, by their keys; the last one where a key is
    there twice."""
    found: dict[str, Span] = {}
    at = _past_space(text, start + 1)
    while text[at] != "}":
        key, at = _decode(text, at)
        found[key] = value_at(text, _past_space(text, at) + 1)
        at = _next(text, found[key])
    return found


def items(text: str, start: int) -> list[Span]:
    """The items of an array that begins at an offset."""
    found: list[Span] = []
    at = _past_space(text, start + 1)
    while text[at] != "]":
        found.append(value_at(text, at))
        at = _next(text, found[-1])
    return found


def with_items(text: str, array: Span, values: Sequence[str]) -> str:
    """The text of an array where its items are these strings: those that begin and end it as
    before stay as they are written, and the others stand as its items do."""
    spans = items(text, array[0])
    if not spans or not values:
        return json.dumps(list(values), ensure_ascii=text.isascii())
    old = [json.loads(text[start:stop]) for start, stop in spans]
    first = _alike(old, values)
    last = min(_alike(old[::-1], values[::-1]), min(len(old), len(values)) - first)
    behind = len(old) - last
    lead = text[array[0] + 1 : spans[0][0]]
    comma = text[spans[0][1] : spans[1][0]] if len(spans) > 1 else "," + (lead or " ")
    new = [json.dumps(each, ensure_ascii=text.isascii()) for each in values]
    middle = comma.join(new[first : len(new) - last])
    if first < behind and middle:
        start, stop = spans[first][0], spans[behind - 1][1]
    elif last:  # up to the item behind, which keeps its place
        start = stop = spans[behind][0]
        start = min(start, spans[first][0])
        middle = f"{middle}{comma}" if middle else ""
    else:
        start, stop = spans[first - 1][1], spans[-1][1]
        middle = f"{comma}{middle}" if middle else ""
    return text[array[0] : start] + middle + text[stop : array[1]]


def _alike(ones: Sequence[object], others: Sequence[object]) -> int:
    """How many items two lists begin with alike."""
    pairs = zip(ones, others, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _next(text: str, before: Span) -> int:
    """Where the next key or item begins after a value, or the end of what both are in."""
    at = _past_space(text, before[1])
    return _past_space(text, at + 1) if text[at] == "," else at


def _past_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()
