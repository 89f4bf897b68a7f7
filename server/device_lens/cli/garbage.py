"""The garbage collector while a batch runs."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MOST_NEW = 5_000_000
"""Objects made since the last collection from which one pays: about half a gigabyte, if none of
them has been freed."""


@contextmanager
def put_off() -> Iterator[None]:
    """Keeps the collector from running by itself, and restores it in any case.

    What an analysis makes is needed to its end or freed by its last reference: the collector would
    take a quarter of the time to find next to nothing (`benchmarks/analysis_speed.py`). Nor does
    it go through all of that when it is back.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.freeze()
            gc.enable()


def collect_if_due() -> None:
    """Collects once much is new, between two tasks. What survives is not looked at again."""
    if gc.get_count()[0] > MOST_NEW:
        gc.collect()
        gc.freeze()
