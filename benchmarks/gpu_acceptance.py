"""Holds the benchmark worker to its promises on a machine with an NVIDIA GPU.

    python benchmarks/gpu_acceptance.py [--device cuda:0] [--output FILE] [--json FILE]
    python benchmarks/gpu_acceptance.py --device cpu          a rehearsal without a GPU

Needs this repository, Python 3.10 or newer and torch; the worker runs under the same interpreter.
It prints a Markdown report and ends with status 1 if a promise is broken:

1. pinned and pageable bandwidths within 5 % of a plain CUDA-event loop in the same run;
2. a warm measurement answered within 250 ms;
3. a calibration of the GPU in under 30 s;
4. the fitted model within 15 % of measurements at sizes that it was not fitted on.

The plain loop knows nothing of the worker: one buffer, `Tensor.to`, an event before and after each
copy. Worker and loop take turns, so that a change of the machine's mood meets both. Bandwidths are
compared at sizes that no processor cache holds, since the loop copies one buffer again and again.

`--device cpu` rehearses everything with small copies in host memory and a wall clock. Its numbers
judge nothing, and it ends with status 0 once every check has run.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "server"))

from device_lens.benchmark.calibrate import Outcome, calibrate, routes
from device_lens.benchmark.job import OperationJob, TransferJob, TransferTiming
from device_lens.benchmark.machine import Machine
from device_lens.benchmark.problem import Problem
from device_lens.benchmark.runner import Measured, Probe, ProbeResult, Runner, Task
from device_lens.cost.route import Memory, Route
from device_lens.cost.units import format_bytes, format_microseconds

BANDWIDTH_SIZES = (1 << 26, 1 << 27, 1 << 28)
HOVER_SIZE = 64 * 3 * 224 * 224 * 4
UNSEEN_SIZES = (
    1_500,
    6_000,
    25_000,
    100_000,
    400_000,
    1_600_000,
    6_000_000,
    38_535_168,
    150_000_000,
)
ROUNDS = 5
REHEARSED_BYTES, REHEARSED_ROUNDS = 1 << 20, 1
BANDWIDTH_TOLERANCE = 0.05
HOVER_LIMIT_MS = 250.0
CALIBRATION_LIMIT_S = 30.0
MODEL_TOLERANCE = 0.15


@dataclass(frozen=True)
class Check:
    """One promise: what was held against what, and whether it was kept."""

    promise: str
    case: str
    measured: str
    reference: str
    deviation: str
    kept: bool


@dataclass(frozen=True)
class Plan:
    """What is compared, how often. A rehearsal leaves out what takes long."""

    bandwidth_sizes: tuple[int, ...]
    rounds: int
    unseen_sizes: tuple[int, ...]
    hover_size: int


ACCEPTANCE = Plan(BANDWIDTH_SIZES, ROUNDS, UNSEEN_SIZES, HOVER_SIZE)
REHEARSAL = Plan(
    (REHEARSED_BYTES,),
    REHEARSED_ROUNDS,
    tuple(size for size in UNSEEN_SIZES if size <= REHEARSED_BYTES),
    REHEARSED_BYTES,
)


def main(words: list[str] | None = None) -> int:
    """Runs every check and prints the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--output", type=Path, help="also write the Markdown report here")
    parser.add_argument("--json", type=Path, help="also write the checks and the machine here")
    arguments = parser.parse_args(words)
    import torch

    rehearsal = arguments.device == "cpu"
    runner = Runner(sys.executable)
    try:
        probed = ask(runner, Probe())
        assert isinstance(probed, ProbeResult)
        machine = probed.machine
        if machine.device(arguments.device) is None:
            print(probed.notice.sentence if probed.notice else f"no {arguments.device} here")
            return 2
        plan = REHEARSAL if rehearsal else ACCEPTANCE
        checks = list(run_checks(torch, runner, machine, arguments.device, plan))
    finally:
        runner.close()
    report = markdown(machine, arguments.device, checks)
    print(report)
    if arguments.output:
        arguments.output.write_text(report + "\n", encoding="utf-8")
    if arguments.json:
        data = {"machine": machine.label, "checks": [asdict(check) for check in checks]}
        arguments.json.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    return 0 if rehearsal or all(check.kept for check in checks) else 1


def run_checks(
    torch: Any, runner: Runner, machine: Machine, device: str, plan: Plan
) -> Iterable[Check]:
    """The checks, cheapest first."""
    paths = [path for path in routes(machine, device) if "cpu" in (path.source, path.target)]
    yield from check_hover(runner, paths, device, plan.hover_size)
    for path in paths:
        for size in plan.bandwidth_sizes:
            yield check_bandwidth(torch, runner, path, size, plan.rounds)
    start = time.perf_counter()
    outcome = calibrate(runner, machine, paths, date.today())
    took = time.perf_counter() - start
    assert isinstance(outcome, Outcome), outcome
    yield Check(
        "calibration under 30 s",
        f"{len(paths)} routes",
        f"{took:.1f} s",
        f"{CALIBRATION_LIMIT_S:.0f} s",
        "",
        took < CALIBRATION_LIMIT_S,
    )
    for path in paths:
        for size in plan.unseen_sizes:
            yield check_model(runner, outcome, path, size)


def check_hover(runner: Runner, paths: list[Route], device: str, size: int) -> Iterable[Check]:
    """Time from the question to the answer, the worker being warm, as an editor sees it."""
    tasks: dict[str, Task] = {
        f"{route_text(path)}, {format_bytes(size)}": TransferJob(path, size) for path in paths
    }
    square = ((512, 512), (512, 512))
    tasks["matmul 512 x 512"] = OperationJob("matmul", square, "float32", device, budget_ms=40)
    for case, task in tasks.items():
        ask(runner, task)
        start = time.perf_counter()
        ask(runner, task)
        took = (time.perf_counter() - start) * 1e3
        kept = took < HOVER_LIMIT_MS
        yield Check("warm answer within 250 ms", case, f"{took:.0f} ms", "250 ms", "", kept)


def check_bandwidth(torch: Any, runner: Runner, path: Route, size: int, rounds: int) -> Check:
    """The worker's bandwidth against the plain loop's, in turns."""
    worker, plain = [], []
    for _ in range(rounds):
        worker.append(transfer_us(runner, path, size))
        plain.append(plain_us(torch, path, size))
    ours, theirs = size / median(worker) / 1e3, size / median(plain) / 1e3
    deviation = ours / theirs - 1
    return Check(
        "bandwidth within 5 % of a plain loop",
        f"{route_text(path)}, {format_bytes(size)}",
        f"{ours:.2f} GB/s",
        f"{theirs:.2f} GB/s",
        f"{deviation:+.1%}",
        abs(deviation) <= BANDWIDTH_TOLERANCE,
    )


def check_model(runner: Runner, outcome: Outcome, path: Route, size: int) -> Check:
    """The fitted model's prediction against a measurement at a size between the fitted ones."""
    predicted = outcome.calibration.microseconds(path, size)
    assert predicted is not None
    measured = median(transfer_us(runner, path, size) for _ in range(3))
    deviation = predicted / measured - 1
    return Check(
        "model within 15 % at unseen sizes",
        f"{route_text(path)}, {format_bytes(size)}",
        format_microseconds(predicted),
        format_microseconds(measured),
        f"{deviation:+.1%}",
        abs(deviation) <= MODEL_TOLERANCE,
    )


def transfer_us(runner: Runner, path: Route, size: int) -> float:
    """Median of one measurement by the worker."""
    result = ask(runner, TransferJob(path, size))
    assert isinstance(result, Measured)
    assert isinstance(result.timing, TransferTiming)
    return result.timing.timing.p50


def ask(runner: Runner, task: Task) -> Measured | ProbeResult:
    """The runner's result, a problem being the end of the script."""
    result = runner.submit(task).result()
    if isinstance(result, Problem):
        raise SystemExit(f"{task}: {result.sentence} {result.detail}")
    return result


def plain_us(torch: Any, path: Route, size: int) -> float:
    """Median time of a copy in a plain loop, without anything of the worker's in it."""
    copy = plain_copy(torch, path, size)
    end = path.source if path.source != "cpu" else path.target
    timed = event_timed if end.startswith("cuda") else wall_timed
    if end.startswith("cuda"):
        torch.cuda.set_device(end)
    for _ in range(3):
        timed(torch, copy)
    return float(median(timed(torch, copy) for _ in range(10)))


def plain_copy(torch: Any, path: Route, size: int) -> Callable[[], Any]:
    """The line of user code that this route stands for."""
    pinned = path.memory is Memory.PINNED
    host = torch.ones(size, dtype=torch.uint8, pin_memory=pinned)
    if path.source == path.target:
        return lambda: host.clone()
    if path.source == "cpu":
        return lambda: host.to(path.target)
    there = host.to(path.source)
    return (lambda: host.copy_(there)) if pinned else (lambda: there.to("cpu"))


def event_timed(torch: Any, copy: Callable[[], Any]) -> float:
    """Microseconds between two CUDA events around one copy."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    copy()
    end.record()
    torch.cuda.synchronize()
    return float(start.elapsed_time(end)) * 1e3


def wall_timed(torch: Any, copy: Callable[[], Any]) -> float:
    """Microseconds of one copy by the wall clock."""
    start = time.perf_counter()
    copy()
    return (time.perf_counter() - start) * 1e6


def markdown(machine: Machine, device: str, checks: list[Check]) -> str:
    """The report: the machine, a summary for each promise, and every check."""
    lines = [
        f"Machine: {machine.label}, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, {date.today().isoformat()}, device {device}",
        "",
        "| promise | kept | worst deviation |",
        "| --- | --- | --- |",
    ]
    for promise in dict.fromkeys(check.promise for check in checks):
        own = [check for check in checks if check.promise == promise]
        kept = sum(check.kept for check in own)
        worst = max((check.deviation for check in own), key=deviation_size)
        lines.append(f"| {promise} | {kept} of {len(own)} | {worst} |")
    lines += ["", "| promise | case | ours | reference | deviation | kept |"]
    lines += ["| --- | --- | ---: | ---: | ---: | --- |"]
    for check in checks:
        row = (check.promise, check.case, check.measured, check.reference, check.deviation)
        lines.append(f"| {' | '.join(row)} | {'yes' if check.kept else '**no**'} |")
    return "\n".join(lines)


def deviation_size(text: str) -> float:
    """How far a printed deviation is from nothing."""
    return abs(float(text.rstrip("%"))) if text else 0.0


def route_text(path: Route) -> str:
    """`cpu → cuda:0 pinned`."""
    return f"{path.text} {path.memory.value}"


if __name__ == "__main__":
    sys.exit(main())
