"""Memory for Python's own frames, in one piece while the analysis runs.

CPython from 3.11 to 3.13 takes memory for the frames of calls from the system 16 kB at a time, and
gives each piece back as soon as the first call in it returns (`_PyThreadState_PopFrame` in
`Python/pystate.c`). An interpreter of nested expressions goes up and down over the end of a piece
all the time: the pages that the system makes anew for it are a seventh of the processor time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
SLOTS = 1 << 18
"""Values that the frame below all others claims to hold, eight bytes each. A piece is the smallest
power of two that its first frame fits in, so nearly as much is left for those above it: 2 MB, in
which those frames fit that are allowed. Only pages that are used take memory."""
DEEPEST = 4_000
"""Frames that are allowed. Python's thousand are too few for an `elif` of thirty arms in a function
that calls itself: each arm stands in the one before. Calls from Python to Python take none of the C
stack: a quarter of a megabyte is enough, half of what the smallest thread of a system has."""
sys.setrecursionlimit(max(sys.getrecursionlimit(), DEEPEST))


def in_one_piece(function: Callable[P, R]) -> Callable[P, R]:
    """The function, with room for all frames of the calls in it. Other implementations and versions
    run it as it is."""
    if sys.implementation.name != "cpython" or sys.version_info >= (3, 14):
        return function
    if sys.version_info < (3, 11):
        return function

    @wraps(function)
    def roomy(*args: P.args, **kwargs: P.kwargs) -> R:
        return function(*args, **kwargs)

    roomy.__code__ = roomy.__code__.replace(co_stacksize=SLOTS)
    return roomy
