"""Makes a failing input small: takes away what the failure does not need."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from fuzz_edits import Step
from fuzz_kinds import KINDS, Failure, failure_of

PATIENCE = 30.0
"""Seconds of processor time for one failure."""


def shrunk(
    kind: str, seed: int, number: int, corpus: Sequence[str], failure: Failure
) -> str | None:
    """A small input that fails alike, as text; None for what is no text."""
    made = KINDS[kind].make(Random(f"{kind}:{seed}:{number}"), corpus)
    stop = time.process_time() + PATIENCE

    def fails(candidate: object) -> bool:
        if time.process_time() > stop:
            return False
        random = Random(0)
        found = failure_of(lambda: KINDS[kind].examine(candidate, random))
        return found is not None and found.signature == failure.signature

    if isinstance(made, str):
        return _smaller(made, fails, whole=kind in ("truth", "turns")) if fails(made) else made
    if kind in ("edits", "typing", "turns edited") and isinstance(made, list):
        return _smaller_steps(made, fails)
    return None


def _smaller(text: str, fails: Callable[[str], bool], whole: bool = False) -> str:
    """Takes away lines, then characters, in ever smaller runs; with `whole` nothing but lines."""
    for split in (str.splitlines, list)[: 1 if whole else 2]:
        units = split(text, True) if split is str.splitlines else list(text)
        size = max(1, len(units) // 2)
        while size and len(units) > 1:
            at = 0
            while at < len(units):
                fewer = units[:at] + units[at + size :]
                if fails("".join(fewer)):
                    units = fewer
                else:
                    at += size
            size //= 2
        text = "".join(units)
    return text


def _smaller_steps(steps: list[Step], fails: Callable[[object], bool]) -> str | None:
    """Fewer steps, then smaller files."""
    if not fails(steps):
        return None
    steps = list(steps)
    for number in reversed(range(len(steps))):
        fewer = steps[:number] + steps[number + 1 :]
        if fewer and fails(fewer):
            steps[:] = fewer
    for number, step in enumerate(steps):
        for path, text in step.contents.items():
            if not isinstance(text, str):
                continue

            def holds(candidate: str, at: int = number, where: str = path) -> bool:
                return fails(_with(steps, at, where, candidate))

            small = _smaller(text, holds)
            steps[number] = _with(steps, number, path, small)[number]
    return "\n".join(
        f"# step {number}, look at {step.look_at}\n"
        + "\n".join(f"# {path}\n{text}" for path, text in step.contents.items())
        for number, step in enumerate(steps)
    )


def _with(steps: Sequence[Step], number: int, path: str, text: str) -> list[Step]:
    """The steps with another text of one file in one of them."""
    changed = replace(steps[number], contents={**steps[number].contents, path: text})
    return [*steps[:number], changed, *steps[number + 1 :]]
