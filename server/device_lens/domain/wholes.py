"""The modules that an unknown may be one of, or a part of one of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MAX_TOLD_APART = 64
"""Modules that are remembered for each unknown by itself."""


class Crowd:
    """More modules than are told apart: whatever is joined with one of those that share it is among
    them from then on. Each may have moved where any has, which is more than is so."""

    __slots__ = ("members",)

    def __init__(self, members: dict[int, Any]) -> None:
        self.members = members

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self.members.values()))


Wholes = tuple[Any, ...] | Crowd


def each_once(wholes: list[Any]) -> Wholes:
    """The modules among some, and in groups of them: one of these groups where it has them all, so
    that what is joined time and again stays as it is."""
    crowd = next((each for each in wholes if type(each) is Crowd), None)
    others = [each for each in wholes if each is not crowd]
    found = {id(each): each for each in members(tuple(others))}
    if crowd is None and len(found) <= MAX_TOLD_APART:
        return next((each for each in wholes if _has_all(each, found)), tuple(found.values()))
    if crowd is None:
        return Crowd(found)
    for key, each in found.items():
        crowd.members.setdefault(key, each)
    return crowd


def members(wholes: Any) -> Iterator[Any]:
    """The modules among some, and in groups of them, each once."""
    seen: set[int] = set()
    waiting = [wholes]
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, tuple | Crowd):
            waiting.extend([*each][::-1])
        else:
            yield each


def _has_all(group: Any, found: dict[int, Any]) -> bool:
    """Whether a group is of these modules and no others, each by itself."""
    if not isinstance(group, tuple) or len(group) != len(found):
        return False
    return all(id(each) in found for each in group) and len({*map(id, group)}) == len(found)
