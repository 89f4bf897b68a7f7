"""A part of what the fuzzers do every night, with fixed seeds: `run.py` does it at length."""

from __future__ import annotations

from random import Random

import fuzz_kinds
import pytest
from fuzz_corpus import programs
from fuzz_kinds import KINDS, Failure, attempt, failure_of
from fuzz_patterns import PATTERNS
from fuzz_shrink import shrunk

SEED = 7
BLOCK = 50
"""Inputs in one test, so that a failure names a small range and tests can run side by side."""
CORPUS = [text for text in programs() if len(text) < 1500]
"""Short programs: what breaks on long ones breaks on them."""
BLOCKS = [
    (kind, start)
    for kind, count in (
        ("text", 1200),
        ("edits", 100),
        ("typing", 50),
        ("notebook", 50),
        ("file", 600),
        ("truth", 100),
        ("flags", 50),
        ("cases", 300),
        ("turns", 150),
        ("turns edited", 50),
    )
    for start in range(0, count, BLOCK)
] + [("traffic", start) for start in range(0, 50, 10)]


def _told(kind: str, number: int, failure: Failure) -> str:
    small = shrunk(kind, SEED, number, CORPUS, failure)
    return f"{kind}, seed {SEED}, input {number}: {failure.message}\n{failure.where}\n{small}"


@pytest.mark.parametrize(("kind", "start"), BLOCKS)
def test_nothing_breaks(kind: str, start: int) -> None:
    count = 10 if kind == "traffic" else BLOCK
    for number in range(start, start + count):
        failure, _, _ = attempt(kind, SEED, number, CORPUS)
        assert failure is None, _told(kind, number, failure)


@pytest.mark.parametrize("name", PATTERNS)
def test_expensive_programs_end(name: str) -> None:
    failure, _, _ = attempt("patterns", 300, list(PATTERNS).index(name), [])
    assert failure is None, failure


def test_the_same_seed_makes_the_same_inputs() -> None:
    for kind in (
        "text",
        "edits",
        "typing",
        "notebook",
        "file",
        "truth",
        "idioms",
        "flags",
        "cases",
        "turns",
        "turns edited",
    ):
        one, other = (KINDS[kind].make(Random(f"{kind}:1:2"), CORPUS) for _ in range(2))
        assert one == other


def test_a_hang_and_a_failure_are_told_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    def examine(made: object, random: object) -> None:
        if "torch" in str(made):
            raise ValueError("torch")
        while "hang" in str(made):
            pass

    kind = fuzz_kinds.Kind(lambda random, corpus: "import os\nimport torch\nx = 1\n", examine)
    monkeypatch.setitem(fuzz_kinds.KINDS, "text", kind)
    failure, _, _ = attempt("text", 1, 1, CORPUS)
    assert failure is not None
    assert shrunk("text", 1, 1, CORPUS, failure) == "torch"
    monkeypatch.setattr(fuzz_kinds, "GUARD", 0.05)
    hang = failure_of(lambda: examine("hang", None))
    assert hang is not None
    assert hang.signature.startswith("Hang")
