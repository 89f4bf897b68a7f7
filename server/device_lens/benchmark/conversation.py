"""The worker's side of the table: a started worker, what machine it sees, and one job at a time.

Every failure is a `Failed` with a `Problem`; whether the process is still good for another job is
said by `is_running`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import count
from typing import TypeVar

from device_lens.benchmark import job as jobs
from device_lens.benchmark.machine import InvalidMachine, Machine, machine_from_dict
from device_lens.benchmark.problem import Problem
from device_lens.benchmark.process import WorkerGone, WorkerProcess, WorkerSilent

T = TypeVar("T")


class Failed(Exception):
    """A start or a job has no result but `problem`."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code)
        self.problem = problem


class Conversation:
    """A worker process, to be greeted first and then asked. Raises Failed if it cannot start."""

    def __init__(self, command: Sequence[str], interpreter: str) -> None:
        self._interpreter = interpreter
        self._numbers = count(1)
        try:
            self._process = WorkerProcess(command)
        except (OSError, ValueError) as error:
            raise Failed(Problem("no-interpreter", interpreter, str(error))) from error

    def greet(self, timeout_s: float) -> tuple[Machine, Problem | None]:
        """The machine that the worker sees, and why it has no accelerator where it has none.

        Waits for torch to be imported. Raises Failed; a worker that got no further is killed.
        """
        return self._guarded(lambda: self._read_greeting(timeout_s), "slow-start")

    @property
    def is_running(self) -> bool:
        """Whether the worker can take another job."""
        return self._process.is_running

    def ask(self, job: jobs.Job, timeout_s: float) -> jobs.TransferTiming | jobs.OperationTiming:
        """Has `job` measured. Raises Failed; a worker that broke its word is killed first."""
        try:
            body = jobs.request(job)
        except jobs.InvalidJob as error:
            raise Failed(self._problem("invalid-request", str(error))) from error
        number = next(self._numbers)
        answer = self._guarded(lambda: self._exchange(job, number, body, timeout_s), "timed-out")
        if isinstance(answer, jobs.Refusal):
            if answer.code == "device-lost":  # the process cannot use the device any more
                self._process.kill()
            raise Failed(self._problem(answer.code, answer.detail))
        return answer

    def stop(self) -> None:
        """Ends the worker."""
        self._process.stop()

    def kill(self) -> None:
        """Ends the worker at once; a job that it is at fails."""
        self._process.kill()

    def _read_greeting(self, timeout_s: float) -> tuple[Machine, Problem | None]:
        data = _object(self._process.receive(timeout_s))
        if set(data) == {"problem", "detail"}:
            refused = jobs.refusal(data["problem"], data["detail"])
            raise Failed(self._problem(refused.code, refused.detail))
        if set(data) != {"torch", "devices", "problem", "detail"}:
            raise ValueError("a greeting has other fields")
        machine = machine_from_dict({"torch": data["torch"], "devices": data["devices"]})
        if data["problem"] is None:
            return machine, None
        reason = jobs.refusal(data["problem"], data["detail"])
        return machine, self._problem(reason.code, reason.detail)

    def _exchange(
        self, job: jobs.Job, number: int, body: dict[str, object], timeout_s: float
    ) -> jobs.Answer:
        self._process.send(json.dumps({"id": number, **body}).encode("ascii"))
        data = _object(self._process.receive(timeout_s))
        if data.pop("id", None) != number:
            raise ValueError("an answer to another request")
        return jobs.answer(job, data)

    def _guarded(self, talk: Callable[[], T], silent: str) -> T:
        """The result of `talk`; a worker that is silent, gone or talks nonsense is killed."""
        try:
            return talk()
        except WorkerSilent:
            self._process.kill()
            raise Failed(self._problem(silent, "")) from None
        except WorkerGone as error:
            self._process.kill()
            raise Failed(self._problem("worker-died", str(error))) from error
        except (ValueError, InvalidMachine, RecursionError) as error:
            self._process.kill()
            raise Failed(self._problem("bad-answer", str(error))) from error

    def _problem(self, code: str, detail: str) -> Problem:
        return Problem(code, self._interpreter, detail)


def _object(line: bytes) -> dict[str, object]:
    data = json.loads(line)
    if not isinstance(data, dict):
        raise ValueError("a line is no object")
    return data
