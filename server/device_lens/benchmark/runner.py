"""The supervisor: starts a worker when there is something to measure, and never trusts it.

`submit` answers at once with a future, from any thread; its result is a measurement or a `Problem`,
never an exception. One thread talks to the worker, so that only one thing is measured at a time. A
worker that hangs, dies or talks nonsense is killed, and the next job starts a new one, after a
pause that doubles with each failure in a row; until it is over, jobs are answered with the last
problem. A worker with nothing to do for some minutes is sent away.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from device_lens.benchmark.conversation import Conversation, Failed
from device_lens.benchmark.job import (
    InvalidJob,
    Job,
    OperationTiming,
    TransferTiming,
    request,
)
from device_lens.benchmark.machine import Machine
from device_lens.benchmark.problem import Problem

LOGGER = logging.getLogger("device_lens.benchmark")
WORKER = Path(__file__).with_name("worker.py")
_MOST_WAITING = 256
_LONGEST_PAUSE_S = 60.0
_CLOSE_S = 5.0
_KEEPS_WORKER = {  # problems of one job, after which the worker is as good as before
    "out-of-memory",
    "too-large",
    "unsupported",
    "invalid-request",
    "no-such-device",
    "no-accelerator",
    "cpu-only-torch",
    "driver-too-old",
    "driver-mismatch",
}


@dataclass(frozen=True)
class Probe:
    """Asks only for the machine that the worker sees."""


@dataclass(frozen=True)
class ProbeResult:
    """The machine, and why it has no accelerator where it has none."""

    machine: Machine
    notice: Problem | None


@dataclass(frozen=True)
class Measured:
    """A job's timing and the machine that it was measured on."""

    job: Job
    machine: Machine
    timing: TransferTiming | OperationTiming


Task: TypeAlias = Job | Probe
Result: TypeAlias = Measured | ProbeResult | Problem
State: TypeAlias = Literal["cold", "warm", "measuring", "failed", "closed"]


@dataclass(frozen=True)
class Limits:
    """How long the supervisor waits: for an import of torch, for a job, for more work."""

    start_s: float = 90.0
    job_s: float = 20.0
    idle_s: float = 300.0
    pause_s: float = 1.0


@dataclass
class _Waiting:
    task: Task
    futures: list[Future[Result]] = field(default_factory=list)


class Runner:
    """Measures with the interpreter at `interpreter`. `command` replaces the worker's command."""

    def __init__(
        self,
        interpreter: str,
        limits: Limits | None = None,
        command: Sequence[str] | None = None,
    ) -> None:
        self.interpreter = interpreter
        self._limits = limits or Limits()
        self._command = list(command) if command else [interpreter, str(WORKER)]
        self._queue: queue.Queue[_Waiting | None] = queue.Queue()
        self._lock = threading.Lock()
        self._waiting: dict[Task, _Waiting] = {}
        self._thread: threading.Thread | None = None
        self._worker: Conversation | None = None
        self._seen: ProbeResult | None = None
        self._closed = self._measuring = False
        self._failures = 0
        self._pause_until = 0.0
        self._last_problem: Problem | None = None

    def submit(self, task: Task) -> Future[Result]:
        """Has `task` done. The same task asked again while it waits or runs is done once.

        Cancelling the future does nothing: who stops waiting does not stop the measurement, which
        others may want. `cancel_waiting` does.
        """
        future: Future[Result] = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            problem = self._refusal(task)
            if problem is None:
                self._enqueue(task, future)
        if problem is not None:
            future.set_result(problem)
        return future

    def cancel_waiting(self) -> None:
        """Answers every job that has not begun with the problem `cancelled`."""
        self._drop_waiting("cancelled")

    def close(self) -> None:
        """Ends the worker, in the middle of a measurement too, and answers every waiting job."""
        with self._lock:
            self._closed = True
            thread, worker = self._thread, self._worker
        self._drop_waiting("closed")
        self._queue.put(None)
        if worker is not None:
            worker.kill()
        if thread is not None:
            thread.join(_CLOSE_S)

    @property
    def state(self) -> State:
        """For the status item; `failed` means that the last start or job failed."""
        if self._closed:
            return "closed"
        if self._measuring:
            return "measuring"
        if self._worker is not None:
            return "warm"
        return "failed" if self._last_problem is not None else "cold"

    @property
    def last_problem(self) -> Problem | None:
        """The failure that ended the last worker, None since a later success."""
        return self._last_problem

    def _refusal(self, task: Task) -> Problem | None:
        if self._closed:
            return Problem("closed", self.interpreter)
        reason = _why_invalid(task)
        if reason is not None:
            return Problem("invalid-request", self.interpreter, reason)
        if len(self._waiting) >= _MOST_WAITING and task not in self._waiting:
            return Problem("too-many", self.interpreter)
        return None

    def _enqueue(self, task: Task, future: Future[Result]) -> None:
        waiting = self._waiting.get(task)
        if waiting is None:
            waiting = self._waiting[task] = _Waiting(task)
            self._queue.put(waiting)
        waiting.futures.append(future)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="benchmark", daemon=True)
            self._thread.start()

    def _drop_waiting(self, code: str) -> None:
        dropped: list[_Waiting] = []
        while True:
            try:
                waiting = self._queue.get_nowait()
            except queue.Empty:
                break
            if waiting is not None:
                dropped.append(waiting)
        for waiting in dropped:
            self._finish(waiting, Problem(code, self.interpreter))

    def _work(self) -> None:
        while True:
            try:
                waiting = self._queue.get(timeout=self._limits.idle_s if self._worker else None)
            except queue.Empty:
                self._stop_worker()
                continue
            if waiting is None:
                self._stop_worker()
                return
            self._measuring = True
            result = self._safely(waiting.task)
            self._measuring = False
            self._finish(waiting, result)

    def _finish(self, waiting: _Waiting, result: Result) -> None:
        with self._lock:
            self._waiting.pop(waiting.task, None)
            futures = list(waiting.futures)
        for future in futures:
            future.set_result(result)

    def _safely(self, task: Task) -> Result:
        """The task's result. This thread serves every later job too, so nothing may end it."""
        try:
            return self._do(task)
        except Failed as failure:
            if self._closed:  # the worker was killed, and did not fail
                return Problem("closed", self.interpreter)
            if failure.problem.code not in _KEEPS_WORKER:
                self._note_failure(failure.problem)
            return failure.problem
        except Exception as error:
            LOGGER.exception("measuring failed")
            problem = Problem("worker-died", self.interpreter, repr(error))
            self._note_failure(problem)
            return problem

    def _do(self, task: Task) -> Result:
        worker, seen = self._ready_worker()
        result: Result = seen
        if not isinstance(task, Probe):
            result = Measured(task, seen.machine, worker.ask(task, self._limits.job_s))
        self._failures, self._last_problem = 0, None
        return result

    def _ready_worker(self) -> tuple[Conversation, ProbeResult]:
        """The running worker, or a new one. Raises Failed, also during the pause after failures."""
        if self._worker is not None and self._seen is not None and self._worker.is_running:
            return self._worker, self._seen
        self._stop_worker()
        if self._last_problem is not None and time.monotonic() < self._pause_until:
            raise Failed(self._last_problem)
        worker = Conversation(self._command, self.interpreter)
        with self._lock:
            self._worker = worker
            if self._closed:
                worker.kill()
        self._seen = ProbeResult(*worker.greet(self._limits.start_s))
        LOGGER.info("worker started: %s", self._seen.machine.label)
        return worker, self._seen

    def _note_failure(self, problem: Problem) -> None:
        LOGGER.info("%s: %s", problem.code, problem.detail or problem.sentence)
        self._stop_worker()
        if self._last_problem is problem:
            return  # the pause goes on
        pause = min(self._limits.pause_s * 2**self._failures, _LONGEST_PAUSE_S)
        self._failures += 1
        self._pause_until = time.monotonic() + pause
        self._last_problem = problem

    def _stop_worker(self) -> None:
        worker, self._worker, self._seen = self._worker, None, None
        if worker is not None:
            worker.stop()


def _why_invalid(task: Task) -> str | None:
    if isinstance(task, Probe):
        return None
    try:
        request(task)
    except InvalidJob as error:
        return str(error)
    return None
