"""Finds the triple-quoted string that someone has begun and not ended.

Such a string turns all text behind it inside out: what was code is string, what was string is
code. It shows in two ways: the text ends inside a string, and strings hold lines of code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from device_lens.syntax.scanner import LogicalLine, logical_lines

_ROUNDS = 4
_CANDIDATES = 3


def unclosed_strings(lines: Sequence[str], found: Sequence[LogicalLine]) -> frozenset[int]:
    """The lines at which a logical line must end for the text to be the right side out.

    ``found`` are the logical lines of all of ``lines``. Empty unless the last is in a string.
    """
    cut: frozenset[int] = frozenset()
    best = _wrongness(found)
    for _ in range(_ROUNDS):
        if not best[0]:
            break
        trials = [cut | {line} for line in _candidates(found)]
        surveys = [list(logical_lines(lines, 0, len(lines), trial)) for trial in trials]
        scores = [_wrongness(survey) for survey in surveys]
        if not scores or min(scores) >= best:
            break
        choice = scores.index(min(scores))
        best, cut, found = scores[choice], trials[choice], surveys[choice]
    return cut


def ends_in_string(found: Sequence[LogicalLine]) -> bool:
    """Whether the last logical line is still inside a triple-quoted string."""
    return bool(found) and len(found[-1].open) == 3


def _wrongness(found: Sequence[LogicalLine]) -> tuple[bool, int]:
    return ends_in_string(found), sum(line.suspect for line in found)


def _candidates(found: Sequence[LogicalLine]) -> Iterator[int]:
    """Where the culprit may begin: the first logical lines whose strings hold code, the last."""
    suspects = [line.start for line in found if line.suspect and line.stop - line.start > 1]
    yield from suspects[:_CANDIDATES]
    last = found[-1]
    if last.start not in suspects[:_CANDIDATES] and last.stop - last.start > 1:
        yield last.start
