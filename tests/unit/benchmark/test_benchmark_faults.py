"""Every way in which a worker can fail becomes a sentence, and the next job is served."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from device_lens.benchmark.job import OperationJob, OperationTiming, TransferJob, TransferTiming
from device_lens.benchmark.problem import CODES, Problem
from device_lens.benchmark.runner import Limits, Measured, Probe, ProbeResult, Runner
from device_lens.cost.route import Memory, Route

JOB = TransferJob(Route("cpu", "cuda:0", Memory.PAGEABLE), 1 << 20)
SMALL = TransferJob(Route("cpu", "cuda:0", Memory.PAGEABLE), 1 << 10)
GOOD = ["greet", "answer", "answer", "answer"]
HASTY = Limits(start_s=0.5, job_s=0.5, idle_s=60, pause_s=0)

Make = Callable[..., Runner]


def test_a_good_worker_is_started_once(scripted: Make) -> None:
    runner = scripted(GOOD)
    assert runner.state == "cold"
    first, second = runner.submit(JOB).result(), runner.submit(SMALL).result()
    assert isinstance(first, Measured)
    assert isinstance(second, Measured)
    assert isinstance(first.timing, TransferTiming)
    assert first.timing.timing.p50 == 10.0
    assert first.machine.label == "NVIDIA Scripted, driver 550.54, torch 2.4.0"
    assert (runner.state, runner.starts) == ("warm", 1)  # type: ignore[attr-defined]


def test_a_probe_measures_nothing(scripted: Make) -> None:
    result = scripted(["greet"]).submit(Probe()).result()
    assert isinstance(result, ProbeResult)
    assert [device.device for device in result.machine.devices] == ["cpu", "cuda:0"]


def _refusing(code: str) -> dict[str, str]:
    body = {"id": "ID", "problem": code, "detail": "CUDA error\x1b[0m"}
    return {"say": json.dumps(body).replace('"ID"', "{id}") + "\n"}


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        ([{"die": 1}], "worker-died"),
        (["greet", "read", {"die": 137}], "worker-died"),
        (["greet", "read", {"say": '{"id": 1, "tim'}, {"die": 0}], "worker-died"),
        (["greet", "read", {"say": "Segmentation fault\n"}], "bad-answer"),
        (["greet", "read", {"say": "[1, 2]\n"}], "bad-answer"),
        (["greet", "read", {"say": '{"id": 7, "timing": {}}\n'}], "bad-answer"),
        (["greet", "read", {"say": '{"id": {id}, "timing": {"p50": 1}}\n'}], "bad-answer"),
        (["greet", "read", {"say": '{"id": {id}, "problem": "x", "detail": ""}\n'}], "bad-answer"),
        (["greet", "read", {"say": "[" * 50_000 + "\n"}], "bad-answer"),
        (["greet", "read", {"say": "\xff" * 70_000 + "\n"}], "worker-died"),
        ([{"say": "{}\n"}], "bad-answer"),
        ([{"say": "hello\n"}], "bad-answer"),
        ([{"say": '{"torch": "2", "devices": [], "problem": null, "detail": ""}\n'}], "bad-answer"),
        ([{"say": '{"problem": "no-torch", "detail": ""}\n'}], "no-torch"),
        ([{"say": '{"problem": "torch-broken", "detail": "x"}\n'}], "torch-broken"),
        (["greet", "read", _refusing("out-of-memory")], "out-of-memory"),
        (["greet", "read", _refusing("driver-mismatch")], "driver-mismatch"),
        (["greet", "read", _refusing("device-lost")], "device-lost"),
    ],
)
def test_a_fault_is_a_sentence_and_the_next_job_is_served(
    scripted: Make, steps: list[object], code: str
) -> None:
    runner = scripted([*steps, "answer"], GOOD)
    result = runner.submit(JOB).result()
    assert isinstance(result, Problem)
    assert result.code == code
    assert result.sentence.endswith(".")
    assert isinstance(runner.submit(SMALL).result(), Measured)


@pytest.mark.parametrize(
    ("steps", "code"), [(["hang"], "slow-start"), (["greet", "read", "hang"], "timed-out")]
)
def test_a_hang_is_ended(scripted: Make, steps: list[object], code: str) -> None:
    runner = scripted(steps, GOOD, limits=HASTY)
    result = runner.submit(JOB).result()
    assert isinstance(result, Problem)
    assert result.code == code


def test_an_idle_worker_that_was_killed_is_replaced(scripted: Make) -> None:
    runner = scripted(["greet", "answer", {"die": 9}], GOOD)
    assert isinstance(runner.submit(JOB).result(), Measured)
    while runner._worker is not None and runner._worker.is_running:  # until the system noticed
        threading.Event().wait(0.01)
    assert isinstance(runner.submit(SMALL).result(), Measured)
    assert runner.starts == 2  # type: ignore[attr-defined]


def test_during_the_pause_after_a_failure_nothing_is_started(scripted: Make) -> None:
    runner = scripted([{"die": 1}], GOOD, limits=Limits(20, 20, 60, pause_s=3600))
    first, second = runner.submit(JOB).result(), runner.submit(SMALL).result()
    assert isinstance(first, Problem)
    assert second == first
    assert (runner.state, runner.starts) == ("failed", 1)  # type: ignore[attr-defined]


def test_an_idle_worker_is_sent_away(scripted: Make) -> None:
    runner = scripted(GOOD, limits=Limits(20, 20, idle_s=0.05, pause_s=0))
    runner.submit(JOB).result()
    while runner.state != "cold":
        threading.Event().wait(0.01)
    assert isinstance(runner.submit(SMALL).result(), Measured)
    assert runner.starts == 2  # type: ignore[attr-defined]


def test_one_task_asked_twice_is_done_once(scripted: Make) -> None:
    runner = scripted(["greet", "answer"])  # a second request would find no answer
    futures = [runner.submit(JOB) for _ in range(3)]
    futures[0].cancel()
    assert all(isinstance(future.result(), Measured) for future in futures)


def test_waiting_jobs_can_be_cancelled(scripted: Make) -> None:
    runner = scripted(["greet", "read", "hang"], limits=Limits(20, 1, 60, 0))
    running = runner.submit(JOB)
    while runner.state != "measuring" or runner._worker is None:
        threading.Event().wait(0.01)
    waiting = runner.submit(SMALL)
    runner.cancel_waiting()
    assert waiting.result() == Problem("cancelled", runner.interpreter)
    stopped = running.result()
    assert isinstance(stopped, Problem)
    assert stopped.code == "timed-out"


def test_closing_ends_a_measurement_and_what_waits(scripted: Make) -> None:
    runner = scripted(["greet", "read", "hang"])
    running, waiting = runner.submit(JOB), runner.submit(SMALL)
    while runner._worker is None:
        threading.Event().wait(0.01)
    runner.close()
    assert all(isinstance(future.result(), Problem) for future in (running, waiting))
    assert runner.submit(JOB).result() == Problem("closed", runner.interpreter)
    assert runner.state == "closed"


def test_a_flood_of_jobs_is_refused(scripted: Make) -> None:
    runner = scripted(["greet", "read", "hang"])
    path = JOB.path
    futures = [runner.submit(TransferJob(path, size)) for size in range(1, 400)]
    assert futures[-1].done()
    assert futures[-1].result() == Problem("too-many", runner.interpreter)


def test_an_interpreter_that_is_none(tmp_path: Path) -> None:
    for python in (str(tmp_path / "absent"), str(tmp_path), "nul\0byte"):
        runner = Runner(python, Limits(pause_s=0))
        result = runner.submit(JOB).result()
        assert isinstance(result, Problem)
        assert result.code == "no-interpreter"
        runner.close()


def test_an_interpreter_without_torch(tmp_path: Path) -> None:
    """A real worker in a real interpreter that is kept from every installed package."""
    from device_lens.benchmark.runner import WORKER

    runner = Runner("python", command=[sys.executable, "-I", "-S", str(WORKER)])
    result = runner.submit(JOB).result()
    runner.close()
    assert isinstance(result, Problem)
    assert result.code == "no-torch"


def test_operations_come_back_in_three_parts(scripted: Make) -> None:
    result = scripted(GOOD).submit(OperationJob("relu", ((3,),), "float32", "cuda:0")).result()
    assert isinstance(result, Measured)
    assert isinstance(result.timing, OperationTiming)
    assert result.timing.with_transfer is not None


def test_every_problem_reads_as_a_sentence() -> None:
    for code in CODES:
        for python in ("", "/opt/a `b`\n/python"):
            sentence = Problem(code, python).sentence
            assert 0 < len(Problem(code, python).brief) <= 32, "it fits into a status item"
            assert sentence[0] == "`" or sentence[0].isupper()
            assert sentence.endswith(".")
            assert "{" not in sentence
            assert "\n" not in sentence
            assert sentence.count("`") in (0, 2)
