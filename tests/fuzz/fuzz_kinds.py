"""The kinds of input: how one is made from its seed, and how it is tried."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from fuzz_cases import by_flags, check_by_flags
from fuzz_checks import MAIN, check_analysis, check_source, look, snapshot_of
from fuzz_edits import (
    editing,
    look_at_notebook_file,
    notebook_editing,
    notebook_file,
    replay,
    typing,
)
from fuzz_guard import Hang, at_most
from fuzz_mutations import mutated
from fuzz_patterns import PATTERNS
from fuzz_programs import FLAG_LINES, SHARED_LINES, flagged_program, idiomatic_program, program
from fuzz_traffic import converse
from fuzz_truth import check_truth
from fuzz_turns import check_turns, turns, turns_edited

from device_lens.ide.project import Project

GUARD = 60.0
"""Seconds of processor time after which an input is a hang, whatever the machine."""
Inputs = Callable[[Random, Sequence[str]], object]
Try = Callable[[object, Random], object]


@dataclass(frozen=True)
class Failure:
    """What went wrong. Two failures with the same signature are one defect, most likely."""

    signature: str
    message: str
    where: str


@dataclass(frozen=True)
class Kind:
    """`make` draws an input, `examine` raises where something is wrong with it."""

    make: Callable[[Random, Sequence[str]], object]
    examine: Callable[[object, Random], object]


def _replay(steps: object, random: Random) -> None:
    replay(steps, random)  # type: ignore[arg-type]


KINDS: dict[str, Kind] = {
    "text": Kind(mutated, lambda made, random: look(str(made), random)),
    "edits": Kind(editing, _replay),
    "typing": Kind(typing, _replay),
    "notebook": Kind(notebook_editing, _replay),
    "file": Kind(notebook_file, lambda made, random: look_at_notebook_file(str(made))),
    "truth": Kind(program, lambda made, random: check_truth(str(made), random)),
    "idioms": Kind(
        idiomatic_program, lambda made, random: check_truth(str(made), random, SHARED_LINES)
    ),
    "flags": Kind(flagged_program, lambda made, random: check_truth(str(made), random, FLAG_LINES)),
    "cases": Kind(by_flags, lambda made, random: check_by_flags(str(made))),
    "turns": Kind(turns, lambda made, random: check_turns(str(made))),
    "turns edited": Kind(turns_edited, _replay),
    "traffic": Kind(lambda random, corpus: list(corpus), converse),
}


def attempt(
    kind: str, seed: int, number: int, corpus: Sequence[str]
) -> tuple[Failure | None, float, int]:
    """What is wrong with an input (None: nothing), its seconds of processor time, its lines. Of
    the patterns `seed` is the size."""
    if kind == "patterns":
        text = list(PATTERNS.values())[number](seed)
        return failure_of(lambda: _whole(text)), *_cost(text)
    random = Random(f"{kind}:{seed}:{number}")
    made = KINDS[kind].make(random, corpus)
    began = time.process_time()
    failure = failure_of(lambda: KINDS[kind].examine(made, random))
    lines = made.count("\n") if isinstance(made, str) else 0
    return failure, time.process_time() - began, lines


def failure_of(work: Callable[[], object]) -> Failure | None:
    """How work fails, None where it does not."""
    try:
        with at_most(GUARD):
            work()
    except (Exception, Hang) as error:
        frames = traceback.extract_tb(error.__traceback__)
        last = frames[-1]
        where = " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(frames[-6:]))
        kind = type(error).__name__
        return Failure(
            f"{kind}:{Path(last.filename).name}:{last.lineno}", f"{kind}: {error}", where
        )
    return None


def _whole(text: str) -> None:
    analysis = Project("/device-lens-fuzz").analyse(MAIN, snapshot_of({MAIN: text}))
    check_source(analysis.facts.source, text)
    check_analysis(analysis, Random(0))


def _cost(text: str) -> tuple[float, int]:
    """The seconds that the analysis and the rules take, without the checks."""
    began = time.process_time()
    failure_of(lambda: Project("/device-lens-fuzz").analyse(MAIN, snapshot_of({MAIN: text})))
    return time.process_time() - began, text.count("\n")
