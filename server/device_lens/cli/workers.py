"""Runs groups of files, in several processes where that is worth it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

WORTH_IT = 3
"""Groups from which more processes pay for their start."""


def are_forked(tasks: int, jobs: int) -> bool:
    """Whether some tasks run in processes that have what this one has."""
    return jobs > 1 and tasks >= WORTH_IT and sys.platform == "linux"


def run_all(
    work: Callable[[T], R], failed: Callable[[T, str], R], tasks: Sequence[T], jobs: int
) -> Iterator[R]:
    """The outcome of each task, as they come. `failed` makes the outcome of a task that no
    process survives."""
    if jobs <= 1 or len(tasks) < WORTH_IT:
        yield from map(work, tasks)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool

    method = "fork" if are_forked(len(tasks), jobs) else "spawn"  # a fork shares what is parsed
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=context) as pool:
        futures = {pool.submit(work, task): task for task in tasks}
        for future in as_completed(futures):
            try:
                yield future.result()
            except BrokenProcessPool:
                yield failed(futures[future], "the process that analysed it ended")


def available_cores() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1
