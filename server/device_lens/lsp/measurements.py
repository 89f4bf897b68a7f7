"""Measurements with the project's interpreter, as the event loop sees them.

What is measured is kept and recalled by the benchmark; this keeps what is under way and what went
wrong. A process is started by `begin` alone, and only one measures, one thing at a time.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from device_lens.benchmark.calibrate import Outcome, Progress
    from device_lens.benchmark.job import Job
    from device_lens.benchmark.problem import Problem
    from device_lens.benchmark.record import Record
    from device_lens.benchmark.runner import Result
    from device_lens.benchmark.service import Benchmark
    from device_lens.ide.costs import Measurable
    from device_lens.ide.operations import MeasurableOperation

MOST_OFFERED = 64
"""Links that can still be followed; a hover that has been gone for long is not among them."""

NO_ACCELERATOR = frozenset(
    {"no-accelerator", "cpu-only-torch", "driver-too-old", "driver-mismatch"}
)
"""Problems of a machine that can measure on the host all the same."""

LASTING = NO_ACCELERATOR | {"no-such-device", "too-large", "unsupported", "invalid-request"}
"""Problems that the same question would meet again: it is not asked again of its own accord."""

_OF_ONE_JOB = frozenset({"no-such-device", "too-large", "unsupported", "invalid-request"}) | {
    "out-of-memory",
    "too-many",
    "cancelled",
}


def interpreter_name(command: Sequence[str]) -> str:
    """One name for an interpreter's command line, by which its measurements are kept."""
    return " ".join(command)


class Measurements:
    """What is measured, under way and in vain. Belongs to the event loop."""

    def __init__(self) -> None:
        self.on_measured: Callable[[], None] = lambda: None
        """Called when a cost is known that was not."""
        self.on_problem: Callable[[], None] = lambda: None
        """Called when `problem` is another one."""
        self.on_calibrating: Callable[[], None] = lambda: None
        """Called when a calibration has begun, and when it has ended."""
        self._command: tuple[str, ...] | None = None
        self._timeout_s = 0.0
        self._benchmark: Benchmark | None = None
        self._running: dict[Job, asyncio.Future[Result]] = {}
        self._problems: dict[Job, Problem] = {}
        self._offered: dict[str, Job] = {}
        self._problem: Problem | None = None
        self._calibrating: asyncio.Future[Outcome | Problem] | None = None

    def use(self, command: tuple[str, ...] | None, timeout_s: float) -> None:
        """Measures with another interpreter, or none, from now on; the worker of the one before
        ends."""
        if (command, timeout_s) == (self._command, self._timeout_s):
            return
        self._command, self._timeout_s = command, timeout_s
        self._forget()
        before, self._benchmark = self._benchmark, None
        if before is not None:
            asyncio.get_running_loop().run_in_executor(None, before.close)

    @property
    def has_interpreter(self) -> bool:
        """Whether there is anything to measure with."""
        return self._command is not None

    @property
    def problem(self) -> Problem | None:
        """Why nothing can be measured now; None before the first attempt and when they can."""
        return self._problem

    @property
    def is_warm(self) -> bool:
        """Whether a worker runs, so that an answer may come at once."""
        return self._benchmark is not None and self._benchmark.runner.state in ("warm", "measuring")

    def job(self, wanted: Measurable | MeasurableOperation, device: str | None) -> Job | None:
        """The job that measures a transfer or an operation; `device` is what a bare name of its
        kind stands for."""
        from device_lens.benchmark.job import operation_job, transfer_job
        from device_lens.ide.operations import MeasurableOperation

        if isinstance(wanted, MeasurableOperation):
            return operation_job(
                wanted.operation,
                wanted.shapes,
                wanted.dtype,
                _chosen(wanted.device, device),
                wanted.stride,
                wanted.padding,
            )
        source, target = (_chosen(each, device) for each in (wanted.source, wanted.target))
        return transfer_job(source, target, wanted.bytes, wanted.memory)

    def record(self, job: Job) -> Record | None:
        """The kept measurement of a job."""
        benchmark = self._ready()
        return None if benchmark is None else benchmark.recall(job)

    def record_instead(self, job: Job) -> Record | None:
        """The kept measurement of what takes the job's place without an accelerator."""
        from device_lens.benchmark.job import without_accelerator

        instead = without_accelerator(job)
        return None if instead is None else self.record(instead)

    def problem_of(self, job: Job) -> Problem | None:
        """Why the job was not measured when it was tried last."""
        return self._problems.get(job)

    def is_running(self, job: Job) -> bool:
        """Whether the job, or what takes its place, is under way."""
        return self._under_way(job) is not None

    def begin(self, job: Job) -> None:
        """Starts to measure, unless it is under way."""
        benchmark = self._ready()
        if benchmark is None or self.is_running(job):
            return
        future = self._running[job] = asyncio.wrap_future(benchmark.measure(job))
        future.add_done_callback(partial(self._finished, benchmark, job))

    async def wait(self, job: Job, seconds: float) -> None:
        """Waits for what is under way, for so long at most. Who stops waiting stops nothing."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while (running := self._under_way(job)) is not None and (left := end - loop.time()) > 0:
            await asyncio.wait([running], timeout=left)

    def offer(self, job: Job) -> str:
        """A name by which a link asks for a job: it tells nothing, and stands for nothing else."""
        while len(self._offered) >= MOST_OFFERED:
            del self._offered[next(iter(self._offered))]
        name = secrets.token_hex(8)
        self._offered[name] = job
        return name

    def offered(self, name: object) -> Job | None:
        """The job that was offered under a name."""
        return self._offered.get(name) if isinstance(name, str) else None

    @property
    def is_calibrating(self) -> bool:
        """Whether a calibration is under way."""
        return self._calibrating is not None

    def calibrate(self, report: Callable[[Progress], bool]) -> asyncio.Future[Outcome | Problem]:
        """Calibrates the machine, one at a time, while there is an interpreter. `report` is called
        on another thread before each step, and ends it all by returning false. Who stops waiting
        stops nothing."""
        benchmark = self._ready()
        assert benchmark is not None
        assert self._calibrating is None
        work = partial(benchmark.calibrate, None, report)
        future = asyncio.get_running_loop().run_in_executor(None, work)
        self._calibrating = future
        future.add_done_callback(self._calibrated)
        self.on_calibrating()
        return asyncio.shield(future)

    async def clear(self) -> None:
        """Forgets what was measured, on disk too."""
        from device_lens.benchmark.store import Store
        from device_lens.disk import default_cache_folder

        benchmark = self._ready()
        forget = Store(default_cache_folder()).clear if benchmark is None else benchmark.clear
        await asyncio.get_running_loop().run_in_executor(None, forget)
        self._forget()

    def close(self) -> None:
        """Ends the worker, in the middle of a measurement too."""
        self._command, benchmark = None, self._benchmark
        self._benchmark = None
        if benchmark is not None:
            benchmark.close()

    def _ready(self) -> Benchmark | None:
        """The benchmark, made when it is first wanted; it starts nothing by itself."""
        if self._benchmark is None and self._command is not None:
            self._benchmark = _benchmark(self._command, self._timeout_s)
        return self._benchmark

    def _under_way(self, job: Job) -> asyncio.Future[Result] | None:
        from device_lens.benchmark.job import without_accelerator

        running = self._running.get(job)
        instead = without_accelerator(job) if running is None else None
        return running if instead is None else self._running.get(instead)

    def _finished(self, benchmark: Benchmark, job: Job, future: asyncio.Future[Result]) -> None:
        from device_lens.benchmark.job import without_accelerator
        from device_lens.benchmark.problem import Problem

        if benchmark is not self._benchmark:
            return
        self._running.pop(job, None)
        result = future.result()
        if isinstance(result, Problem):
            self._problems[job] = result
            self._note(result)
            self._begin_instead(benchmark, job)
            return
        self._problems.pop(job, None)
        if without_accelerator(job) is not None:
            self._set_problem(None)
        self.on_measured()

    def _calibrated(self, future: asyncio.Future[Outcome | Problem]) -> None:
        self._calibrating = None
        self.on_calibrating()

    def _note(self, problem: Problem) -> None:
        if problem.code not in _OF_ONE_JOB:
            self._set_problem(problem)

    def _begin_instead(self, benchmark: Benchmark, job: Job) -> None:
        """Without an accelerator, measures what can be measured on the host."""
        from device_lens.benchmark.job import without_accelerator

        if self._problems[job].code in NO_ACCELERATOR:
            instead = without_accelerator(job)
            if instead is not None and benchmark.recall(instead) is None:
                self.begin(instead)

    def _forget(self) -> None:
        self._running.clear()
        self._problems.clear()
        self._offered.clear()
        self._set_problem(None)

    def _set_problem(self, problem: Problem | None) -> None:
        if problem != self._problem:
            self._problem = problem
            self.on_problem()


def _chosen(name: str, device: str | None) -> str:
    """The device that a program's name stands for: a bare `cuda` is the one that is chosen."""
    return device if device is not None and device.partition(":")[0] == name else name


def _benchmark(command: tuple[str, ...], timeout_s: float) -> Benchmark:
    from device_lens.benchmark.runner import WORKER, Limits, Runner
    from device_lens.benchmark.service import Benchmark
    from device_lens.benchmark.store import Store
    from device_lens.disk import default_cache_folder

    runner = Runner(interpreter_name(command), Limits(job_s=timeout_s), [*command, str(WORKER)])
    return Benchmark(runner, Store(default_cache_folder()))
