"""Measuring, remembering and calibrating together, and the command that calibrates."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from device_lens.benchmark.calibrate import SIZES, Outcome, Progress, calibrate, routes
from device_lens.benchmark.job import TransferJob
from device_lens.benchmark.machine import Device, Machine
from device_lens.benchmark.problem import Problem
from device_lens.benchmark.runner import Limits, Measured, Runner
from device_lens.benchmark.service import Benchmark
from device_lens.benchmark.store import Store
from device_lens.cli import bench
from device_lens.cost.route import Direction, Memory, Route
from device_lens.cost.transfer import estimate_transfer

DAY = date(2026, 8, 1)
HOST = Route("cpu", "cpu", Memory.PAGEABLE)
CPU = Device("cpu", "Processor", "6.1", 1 << 34)
Make = Callable[..., Runner]


def _gpus(count: int) -> Machine:
    cards = [Device(f"cuda:{n}", "NVIDIA L4", "550.54", 1 << 34) for n in range(count)]
    return Machine("2.4.0", (CPU, *cards))


def test_what_is_calibrated() -> None:
    one = routes(_gpus(1))
    assert {(path.direction, path.memory) for path in one} == {
        (direction, memory)
        for direction in (Direction.HOST_TO_DEVICE, Direction.DEVICE_TO_HOST)
        for memory in Memory
    }
    two = routes(_gpus(2))
    assert len(two) == 2 * 4 + 2
    assert Route("cuda:1", "cuda:0", Memory.PAGEABLE) in two
    assert all("cuda:1" in (path.source, path.target) for path in routes(_gpus(2), "cuda:1"))
    assert routes(_gpus(0)) == routes(_gpus(1), "cpu") == [HOST]
    assert routes(_gpus(0), "cuda") == routes(_gpus(1), "quantum:0") == []
    assert (SIZES[0], SIZES[-1]) == (1 << 10, 1 << 28)


def test_the_next_hover_finds_what_this_one_measured(scripted: Make, tmp_path: Path) -> None:
    job = TransferJob(Route("cpu", "cuda:0", Memory.PAGEABLE), 1 << 20)
    first = Benchmark(scripted(["greet", "answer"]), Store(tmp_path / "cache"), lambda: DAY)
    assert first.machine is None
    assert first.recall(job) is None
    assert isinstance(first.measure(job).result(), Measured)
    kept = first.recall(job)
    assert kept is not None
    assert kept.measured_on == "2026-08-01"
    later = Benchmark(scripted(["hang"]), Store(tmp_path / "cache"), lambda: DAY)
    assert later.recall(job) == kept  # with no worker started
    later.clear()
    assert later.recall(job) is None


def test_who_stops_waiting_does_not_stop_the_measurement(scripted: Make, tmp_path: Path) -> None:
    """As an editor's hover does when its short budget is over."""
    runner = scripted(["greet", "read", "hang"], limits=Limits(20, job_s=1, idle_s=60, pause_s=0))
    benchmark = Benchmark(runner, Store(tmp_path / "cache"))
    job = TransferJob(HOST, 1 << 20)

    async def hover() -> None:
        await asyncio.wait_for(asyncio.wrap_future(benchmark.measure(job)), 0.01)

    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(hover())
    result = benchmark.measure(job).result()
    assert isinstance(result, Problem)
    assert result.code == "timed-out"


def test_a_problem_is_not_kept(scripted: Make, tmp_path: Path) -> None:
    job = TransferJob(HOST, 1 << 20)
    benchmark = Benchmark(scripted([{"die": 1}]), Store(tmp_path / "cache"), lambda: DAY)
    assert isinstance(benchmark.measure(job).result(), Problem)
    assert benchmark.recall(job) is None
    assert not (tmp_path / "cache").exists()


def test_calibrating_makes_estimates_measured(scripted: Make, tmp_path: Path) -> None:
    store = Store(tmp_path / "cache")
    benchmark = Benchmark(scripted(["greet", *["answer"] * 200]), store, lambda: DAY)
    path = Route("cpu", "cuda:0", Memory.PINNED)
    before = estimate_transfer(path, 1 << 20, benchmark.calibration)
    seen: list[int] = []

    def report(progress: Progress) -> bool:
        seen.append(progress.done)
        return True

    outcome = benchmark.calibrate(report=report)
    after = estimate_transfer(path, 1 << 20, benchmark.calibration)
    assert isinstance(outcome, Outcome)
    assert seen == list(range(4 * len(SIZES)))
    assert before is not None
    assert after is not None
    assert (before.source, after.source) == ("typical", "measured")
    assert after.assumption == "NVIDIA Scripted, driver 550.54, torch 2.4.0, 2026-08-01"
    assert store.calibration(benchmark.machine or _gpus(0)) == benchmark.calibration


def test_a_disturbed_measurement_is_repeated(
    scripted: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three sizes the middle one is disturbed once: its second measurement counts."""
    monkeypatch.setattr("device_lens.benchmark.calibrate.SIZES", (1000, 2000, 4000))
    times = [40.0, 900.0, 30.0, 20.0]
    steps = [step for time in times for step in ("read", _saying(time))]
    runner = scripted(["greet", *steps])
    outcome = calibrate(runner, _gpus(1), [Route("cpu", "cuda:0", Memory.PINNED)], DAY)
    assert isinstance(outcome, Outcome)
    (points,) = outcome.timings.values()
    assert [(size, timing.p50) for size, timing in points] == [
        (1000, 20.0),
        (2000, 30.0),
        (4000, 40.0),
    ]


def _saying(time: float) -> dict[str, str]:
    timing = {"p20": time, "p50": time, "p80": time, "host": 1.0, "samples": 9, "warnings": []}
    return {"say": json.dumps({"id": 0, "timing": timing}).replace('"id": 0', '"id": {id}') + "\n"}


def test_calibrating_can_be_stopped(scripted: Make, tmp_path: Path) -> None:
    benchmark = Benchmark(scripted(["greet", *["answer"] * 200]), Store(tmp_path / "cache"))
    outcome = benchmark.calibrate(report=lambda progress: progress.done < 3)
    assert isinstance(outcome, Problem)
    assert outcome.code == "cancelled"
    assert benchmark.calibration is None


def test_calibrating_ends_when_the_device_is_gone(scripted: Make, tmp_path: Path) -> None:
    script = ["greet", "answer", "read", {"die": 1}]
    outcome = Benchmark(scripted(script), Store(tmp_path / "cache")).calibrate()
    assert isinstance(outcome, Problem)
    assert outcome.code == "worker-died"


def test_a_part_calibrated_later_leaves_the_rest(scripted: Make, tmp_path: Path) -> None:
    def calibrated(day: date, device: str | None) -> Benchmark:
        script = ["greet", *["answer"] * 200]
        benchmark = Benchmark(scripted(script), Store(tmp_path / "cache"), lambda: day)
        assert isinstance(benchmark.calibrate(device), Outcome)
        return benchmark

    calibrated(DAY, None)
    both = calibrated(date(2026, 9, 1), "cpu").calibration
    assert both is not None
    assert len(both.curves) == 5
    assert both.measured_on == "2026-08-01"


def _run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    return bench.run(parser.parse_args(arguments))


def test_bench_on_this_machine(
    torch_python: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("device_lens.benchmark.calibrate.SIZES", (1 << 10, 1 << 20))
    assert _run("--device", "cpu", "--python", torch_python, "--output-format", "json") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["version"] == 1
    assert [route["direction"] for route in data["routes"]] == ["host-to-host"]
    assert [point["bytes"] for point in data["routes"][0]["points"]] == [1 << 10, 1 << 20]
    assert list(tmp_path.rglob("calibration.json"))
    assert _run("--device", "cpu", "--python", torch_python) == 0
    printed = capsys.readouterr().out
    assert "cpu → cpu" in printed
    assert "They say nothing about a GPU" in printed


@pytest.mark.parametrize("output", ["text", "json"])
def test_bench_that_cannot_measure(capsys: pytest.CaptureFixture[str], output: str) -> None:
    assert _run("--python", "/nonexistent/python", "--output-format", output) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert "/nonexistent/python" in captured.err
    if output == "json":
        assert json.loads(captured.out)["problem"]["code"] == "no-interpreter"


def test_bench_refuses_other_devices(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("--device", "quantum:0") == 2
    assert "does not see this device" in capsys.readouterr().err


def test_the_active_environment_is_preferred(tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text("")
    assert bench.find_interpreter({"VIRTUAL_ENV": str(tmp_path)}) == str(python)
    assert bench.find_interpreter({"CONDA_PREFIX": str(tmp_path)}) == str(python)
    elsewhere = bench.find_interpreter({"VIRTUAL_ENV": str(tmp_path / "gone")})
    assert elsewhere == sys.executable or Path(elsewhere).name.startswith("python")
