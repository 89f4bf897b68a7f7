"""One thread for the analysis: the newest job of a key wins, and stale work stops.

The thread is our own: pygls' pool also reads the client's messages, and a thread of it cannot be
stopped. Jobs look at their token at every loop head and call of the analysed program.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import Any, Generic, TypeVar

T = TypeVar("T")

URGENT = 0
"""Work that someone waits for."""
BACKGROUND = 1
"""Work that gives way to urgent work, and starts again after it."""


class Stale(Exception):
    """The work was overtaken by newer work, or is no longer wanted."""


class Token:
    """Tells a job whether to stop. Called as the interpreter's `cancelled`."""

    __slots__ = ("_set",)

    def __init__(self) -> None:
        self._set = False

    def cancel(self) -> None:
        self._set = True

    def __call__(self) -> bool:
        return self._set


@dataclass(eq=False)
class Job(Generic[T]):
    """Work under a key, and the future that takes its outcome."""

    key: Hashable
    work: Callable[[Token], T]
    urgency: int
    future: asyncio.Future[T]
    token: Token = field(default_factory=Token)
    dropped: bool = False


class Scheduler:
    """Takes jobs from the event loop, runs them one at a time in order of urgency, then age."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._condition = threading.Condition()
        self._queue: list[tuple[int, int, Job[Any]]] = []
        self._newest: dict[Hashable, Job[Any]] = {}
        self._running: Job[Any] | None = None
        self._order = count()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="analysis", daemon=True)
        self._thread.start()

    def submit(
        self, key: Hashable, work: Callable[[Token], T], urgency: int = URGENT
    ) -> asyncio.Future[T]:
        """Queues work; an older job of the same key ends with `Stale`."""
        future: asyncio.Future[T] = self._loop.create_future()
        future.add_done_callback(_observed)
        job = Job(key, work, urgency, future)
        with self._condition:
            if self._closed:
                future.set_exception(Stale())
                return future
            self._drop(self._newest.get(key))
            self._newest[key] = job
            heappush(self._queue, (urgency, next(self._order), job))
            running = self._running
            if running is not None and running.urgency > urgency:
                running.token.cancel()
            self._condition.notify()
        return future

    def cancel(self, key: Hashable) -> None:
        """Ends the job of a key, waiting or running, with `Stale`."""
        with self._condition:
            self._drop(self._newest.pop(key, None))

    @property
    def idle(self) -> bool:
        """Whether nothing runs or waits."""
        with self._condition:
            return self._running is None and not self._queue

    def close(self) -> None:
        """Stops everything; the thread ends by itself."""
        with self._condition:
            self._closed = True
            for job in [*self._newest.values()]:
                self._drop(job)
            self._newest.clear()
            self._condition.notify()

    def _drop(self, job: Job[Any] | None) -> None:
        if job is None or job.dropped:
            return
        job.dropped = True
        job.token.cancel()
        self._deliver(job, None, Stale())

    def _run(self) -> None:
        while True:
            with self._condition:
                while not self._queue and not self._closed:
                    self._condition.wait()
                if self._closed:
                    return
                job = heappop(self._queue)[2]
                if job.dropped:
                    continue
                self._running = job
            self._do(job)

    def _do(self, job: Job[Any]) -> None:
        result: Any = None
        error: BaseException | None = None
        try:
            result = job.work(job.token)
        except Exception as caught:  # a job's failure belongs to whoever awaits it
            error = caught
        with self._condition:
            self._running = None
            if job.dropped:
                return
            if job.token():
                job.token = Token()
                heappush(self._queue, (job.urgency, next(self._order), job))
                return
            if self._newest.get(job.key) is job:
                del self._newest[job.key]
        self._deliver(job, result, error)

    def _deliver(self, job: Job[T], result: T | None, error: BaseException | None) -> None:
        def settle() -> None:
            if job.future.done():
                return
            if error is not None:
                job.future.set_exception(error)
            else:
                job.future.set_result(result)  # type: ignore[arg-type]

        with suppress(RuntimeError):  # the loop is closed: no one waits any more
            self._loop.call_soon_threadsafe(settle)


def _observed(future: asyncio.Future[Any]) -> None:
    """Marks the outcome as seen, so that a job that no one awaits is no complaint of asyncio."""
    if not future.cancelled():
        future.exception()
