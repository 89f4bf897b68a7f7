"""Stops what does not end, and measures the processor time that an input takes."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SLOW = 1.0
"""Seconds of processor time per thousand lines (and at least so many) that are worth a line."""


class Hang(BaseException):
    """An input took longer than anything should. No `Exception`: nothing may swallow it."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raises `Hang` after so many seconds of processor time; does nothing on Windows."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(number: int, frame: object) -> None:
        raise Hang(f"more than {seconds:g} s of processor time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def timed(work: Callable[[], object]) -> float:
    """The seconds of processor time that work takes."""
    began = time.process_time()
    work()
    return time.process_time() - began
