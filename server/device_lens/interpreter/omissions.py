"""Which calls were not followed, and what that leaves open of what stands in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from device_lens.domain.condition import disjunction
from device_lens.domain.guard import MAX_DEPTH, depth

Alike = tuple[tuple[Any, Any], ...]
"""Conditions under which a call was answered as one alike, each with that of the other call."""


@dataclass(frozen=True, slots=True)
class Missed:
    """Where an expression may be evaluated though it was not seen: under `left_out` nothing is
    known of it, and under what `alike` tells it is as in another call."""

    left_out: Any = False
    alike: Alike = ()
    like: Alike = ()


NOTHING_MISSED = Missed()


class Omissions:
    """The calls of one unit that were not followed, by the nodes of the functions (None: a top
    level)."""

    def __init__(self) -> None:
        self.left_out: dict[Any, Any] = {}
        """The functions that were not followed for want of steps, or not to their ends, and the
        condition of that."""
        self.alike: dict[Any, dict[Any, Any]] = {}
        """The functions that were answered as calls alike, for want of steps: by the condition of
        the call that was followed, that of the others."""
        self.like: dict[Any, dict[Any, Any]] = {}
        """The same of functions that gave nothing though calls alike were followed."""
        self.callers: dict[Any, set[Any]] = {}
        """The functions that called a function."""
        self.short = False
        """Whether steps were wanting for calls like others that were followed: what is not known of
        their values says nothing of what other passes of a loop show."""

    def __bool__(self) -> bool:
        return bool(self.left_out or self.alike or self.like)

    def call(self, callee: Any, caller: Any) -> None:
        """A function is called, whether that is followed or not."""
        self.callers.setdefault(callee, set()).add(caller)

    def leave_out(self, function: Any, condition: Any, short: bool = True) -> None:
        """A call of a function was not followed under a condition, or not to its end."""
        self.short = self.short or short
        self.left_out[function] = _either(self.left_out.get(function, False), condition)

    def answer(self, function: Any, condition: Any, source: Any, short: bool = True) -> None:
        """A call under a condition was answered as one alike was, under the condition `source`."""
        if source is not True and source != condition:
            self.short = self.short or short
            known = self.alike.setdefault(function, {})
            known[source] = _either(known.get(source, False), condition)

    def leave_out_like(self, function: Any, condition: Any, source: Any) -> None:
        """A call of a function was not followed under a condition; one alike was, under the
        condition `source`."""
        self.short = True
        known = self.like.setdefault(function, {})
        known[source] = _either(known.get(source, False), condition)

    def take(self, other: Omissions) -> None:
        """Takes in what another unit has left out."""
        for function, condition in other.left_out.items():
            self.leave_out(function, condition, other.short)
        for function, known in other.alike.items():
            for source, condition in known.items():
                self.answer(function, condition, source, other.short)
        for function, known in other.like.items():
            for source, condition in known.items():
                self.leave_out_like(function, condition, source)
        for callee, callers in other.callers.items():
            self.callers.setdefault(callee, set()).update(callers)

    def missed(self, function: Any) -> Missed:
        """What is missed in a function: what leads to it may have been left out."""
        if not self:
            return NOTHING_MISSED
        left_out: Any = False
        alike: list[tuple[Any, Any]] = []
        like: list[tuple[Any, Any]] = []
        pending = [function]
        reached = set(pending)
        while pending:
            each = pending.pop()
            left_out = disjunction(left_out, self.left_out.get(each, False))
            alike += ((there, source) for source, there in self.alike.get(each, {}).items())
            like += ((there, source) for source, there in self.like.get(each, {}).items())
            new = self.callers.get(each, set()) - reached
            reached |= new
            pending += new
        left_out = left_out if depth(left_out) <= MAX_DEPTH else True
        return Missed(left_out, tuple(alike), tuple(like))


def all_missed(each: Iterable[Missed]) -> Missed:
    """What several units have missed."""
    return reduce(_together, each)


def _together(one: Missed, other: Missed) -> Missed:
    left_out = disjunction(one.left_out, other.left_out)
    return Missed(left_out, (*one.alike, *other.alike), (*one.like, *other.like))


def _either(known: Any, condition: Any) -> Any:
    found = disjunction(known, condition)
    return found if depth(found) <= MAX_DEPTH else True
