"""The analysis thread: the newest job of a key wins, background work gives way."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from device_lens.lsp.scheduler import BACKGROUND, Scheduler, Stale, Token

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def scheduler() -> AsyncIterator[Scheduler]:
    found = Scheduler(asyncio.get_running_loop())
    yield found
    found.close()


class Gate:
    """Work that runs until its token is set or the gate opens."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.opened = threading.Event()
        self.runs = 0

    def __call__(self, token: Token) -> int:
        self.runs += 1
        self.started.set()
        while not self.opened.wait(0.001):
            if token():
                raise Stale
        return self.runs

    async def entered(self) -> None:
        await asyncio.to_thread(self.started.wait)


async def test_jobs_run_in_order(scheduler: Scheduler) -> None:
    order: list[int] = []
    jobs = [
        scheduler.submit(number, lambda token, number=number: order.append(number))
        for number in range(5)
    ]
    await asyncio.gather(*jobs)
    assert order == list(range(5))


async def test_a_newer_job_of_the_key_overtakes_a_running_one(scheduler: Scheduler) -> None:
    gate = Gate()
    old = scheduler.submit("file", gate)
    await gate.entered()
    new = scheduler.submit("file", lambda token: "new")
    with pytest.raises(Stale):
        await old
    assert await new == "new"


async def test_a_newer_job_of_the_key_overtakes_a_waiting_one(scheduler: Scheduler) -> None:
    gate = Gate()
    first = scheduler.submit("other", gate)
    await gate.entered()
    old = scheduler.submit("file", lambda token: "old")
    new = scheduler.submit("file", lambda token: "new")
    gate.opened.set()
    with pytest.raises(Stale):
        await old
    assert await first == 1
    assert await new == "new"


async def test_background_work_gives_way_and_starts_again(scheduler: Scheduler) -> None:
    gate = Gate()
    slow = scheduler.submit("slow", gate, BACKGROUND)
    await gate.entered()
    assert await scheduler.submit("fast", lambda token: "done") == "done"
    gate.opened.set()
    assert await slow == 2


async def test_a_cancelled_key_is_stale(scheduler: Scheduler) -> None:
    gate = Gate()
    job = scheduler.submit("file", gate)
    await gate.entered()
    scheduler.cancel("file")
    with pytest.raises(Stale):
        await job
    assert await scheduler.submit("file", lambda token: 1) == 1


async def test_a_failure_reaches_who_waits_and_no_one_else(scheduler: Scheduler) -> None:
    def fail(token: Token) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await scheduler.submit("bad", fail)
    assert await scheduler.submit("good", lambda token: 1) == 1


async def test_closing_ends_everything(scheduler: Scheduler) -> None:
    gate = Gate()
    running = scheduler.submit("running", gate)
    waiting = scheduler.submit("waiting", lambda token: 1)
    await gate.entered()
    scheduler.close()
    for job in (running, waiting, scheduler.submit("late", lambda token: 1)):
        with pytest.raises(Stale):
            await job
