"""Room for the frames of an analysis."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from device_lens.interpreter.frame_room import in_one_piece


def answer(first: int, *, second: int = 2) -> tuple[int, int]:
    """What a test calls."""
    if first < 0:
        raise ValueError(first)
    return first, second


def test_it_is_the_same_function() -> None:
    roomy = in_one_piece(answer)
    assert roomy(1) == (1, 2)
    assert roomy(1, second=3) == (1, 3)
    assert (roomy.__name__, roomy.__doc__) == ("answer", "What a test calls.")
    with pytest.raises(ValueError, match="-1"):
        roomy(-1)


def test_a_recursion_still_has_its_limit() -> None:
    def endless(depth: int) -> int:
        return endless(depth + 1)

    with pytest.raises(RecursionError):
        in_one_piece(endless)(0)


@pytest.mark.skipif(
    sys.implementation.name != "cpython"
    or not (3, 11) <= sys.version_info < (3, 14)
    or not sys.platform.startswith("linux"),
    reason="frames are elsewhere or stay mapped, or pages are not counted",
)
def test_calls_at_any_depth_take_no_new_pages() -> None:
    import resource

    def leaf(a: int = 0, b: int = 0, c: int = 0, d: int = 0, e: int = 0) -> int:
        return a + b + c + d + e

    def climb(depth: int) -> None:
        for _ in range(200):
            leaf()
        if depth:
            climb(depth - 1)

    def pages(run: Callable[[int], None]) -> int:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        run(400)
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    plain, roomy = pages(climb), pages(in_one_piece(climb))
    assert plain > 200  # else the test tells nothing: no call lies over the end of a piece
    assert roomy < plain / 2
