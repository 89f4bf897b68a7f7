"""What an editor or a command asks: is this measured already, measure it, calibrate, forget.

Joins the supervisor and the store. Results are kept as they arrive; a machine that was seen before
is known, with its calibration, before any worker runs.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from datetime import date

from device_lens.benchmark.calibrate import Outcome, Progress, calibrate, routes
from device_lens.benchmark.job import Job
from device_lens.benchmark.machine import Machine
from device_lens.benchmark.problem import Problem
from device_lens.benchmark.record import Record
from device_lens.benchmark.runner import Measured, Probe, ProbeResult, Result, Runner, Task
from device_lens.benchmark.store import Store
from device_lens.cost.calibration import Calibration
from device_lens.cost.route import canonical_device


class Benchmark:
    """Measurements with one interpreter. Methods may be called from any thread."""

    def __init__(
        self, runner: Runner, store: Store, today: Callable[[], date] = date.today
    ) -> None:
        self.runner = runner
        self._store = store
        self._today = today
        self._machine = store.machine_of(runner.interpreter)
        self._calibration = self._stored_calibration()

    @property
    def machine(self) -> Machine | None:
        """The machine as the interpreter sees it, None before it was ever asked."""
        return self._machine

    @property
    def calibration(self) -> Calibration | None:
        """The machine's calibrated transfer model, if there is one."""
        return self._calibration

    def recall(self, job: Job) -> Record | None:
        """The kept measurement of `job` on this machine. Reads at most one small file."""
        return None if self._machine is None else self._store.record(self._machine, job)

    def measure(self, job: Job) -> Future[Result]:
        """Measures `job`, or waits for the one that is under way, and keeps the result.

        The result is kept before the future is done. Cancelling the future cancels nothing else.
        """
        return self._submit(job)

    def probe(self) -> Future[Result]:
        """Asks which devices the interpreter sees: starts the worker, measures nothing."""
        return self._submit(Probe())

    def calibrate(
        self,
        device: str | None = None,
        report: Callable[[Progress], bool] = lambda progress: True,
    ) -> Outcome | Problem:
        """Calibrates all of this machine or what touches `device`, and keeps the model.

        Blocks for up to half a minute. Routes that were calibrated before and are not now
        stay, and the model is as old as its oldest route.
        """
        if device is not None and canonical_device(device) is None:
            return self._problem("no-such-device")
        probed = self.probe().result()
        if not isinstance(probed, ProbeResult):
            return probed if isinstance(probed, Problem) else self._problem("bad-answer")
        paths = routes(probed.machine, device)
        if not paths:
            notice = probed.notice
            return notice if notice is not None else self._problem("no-such-device")
        outcome = calibrate(self.runner, probed.machine, paths, self._today(), report)
        if isinstance(outcome, Outcome):
            self._keep_calibration(probed.machine, outcome.calibration)
        return outcome

    def clear(self) -> None:
        """Forgets what was measured, on disk too."""
        self._store.clear()
        self._calibration = None

    def close(self) -> None:
        """Ends the worker."""
        self.runner.close()

    def _submit(self, task: Task) -> Future[Result]:
        answered: Future[Result] = Future()
        answered.set_running_or_notify_cancel()

        def keep(done: Future[Result]) -> None:
            result = done.result()
            try:
                self._note(result)
            finally:
                answered.set_result(result)

        self.runner.submit(task).add_done_callback(keep)
        return answered

    def _note(self, result: Result) -> None:
        if isinstance(result, Problem):
            return
        if result.machine != self._machine:
            self._machine = result.machine
            self._store.note_machine(self.runner.interpreter, result.machine)
            self._calibration = self._stored_calibration()
        if isinstance(result, Measured):
            record = Record(
                result.job, result.timing, result.machine.label, self._today().isoformat()
            )
            self._store.keep(result.machine, record)

    def _keep_calibration(self, machine: Machine, calibration: Calibration) -> None:
        earlier = self._store.calibration(machine)
        if earlier is not None:
            curves = {**earlier.curves, **calibration.curves}
            since = min(earlier.measured_on, calibration.measured_on)
            calibration = Calibration(calibration.machine, since, curves)
        self._calibration = calibration
        self._store.keep_calibration(machine, calibration)

    def _stored_calibration(self) -> Calibration | None:
        return None if self._machine is None else self._store.calibration(self._machine)

    def _problem(self, code: str) -> Problem:
        return Problem(code, self.runner.interpreter)
