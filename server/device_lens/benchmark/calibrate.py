"""Measures a machine's transfers over the whole range of sizes and fits the model to them.

Powers of two from 1 KiB to 256 MiB, both directions, pageable and pinned, each accelerator, and
every pair of accelerators; on a machine without one, plain copies in host memory. One size more
lies just above 64 KiB, where CUDA stops copying pageable memory into its own buffer at once: a
step that no interpolation between powers of two would find.

Sizes are measured from the largest down. A transfer that seems slower than one of more bytes was
disturbed, since nothing makes a transfer faster than it is: it is measured again, and the fastest
median counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from itertools import permutations
from types import MappingProxyType

from device_lens.benchmark.job import Timing, TransferJob, TransferTiming
from device_lens.benchmark.machine import Machine
from device_lens.benchmark.problem import Problem
from device_lens.benchmark.runner import Measured, Runner
from device_lens.cost.calibration import Calibration
from device_lens.cost.curve import Curve, Point, fit
from device_lens.cost.route import Memory, Route, canonical_device

SIZES = tuple(sorted([*(1 << power for power in range(10, 29)), 68 << 10]))
_WHOLE_BUDGET_MS = 12_000  # warm-up, buffers and slow sizes take about as long again
_BUDGET_MS = (10, 60)
_DISTURBED = 1.1  # slower by this factor than a larger transfer: measured again
_MOST_REPEATS = 3
_SKIPPED = {"too-large", "out-of-memory", "unsupported"}


@dataclass(frozen=True)
class Progress:
    """`done` of `total` points are measured; `path` and `size` are what comes next."""

    done: int
    total: int
    path: Route
    size: int


@dataclass(frozen=True)
class Outcome:
    """The fitted model, each point's timing, and what went wrong on single points."""

    calibration: Calibration
    timings: MappingProxyType[Route, tuple[tuple[int, Timing], ...]]
    problems: tuple[Problem, ...]


def routes(machine: Machine, device: str | None = None) -> list[Route]:
    """What there is to calibrate, restricted to routes that touch `device` if one is named."""
    if device is not None:
        device = canonical_device(device)
        if device is None:
            return []
    names = [each.device for each in machine.accelerators]
    found = []
    for name in names:
        for memory in Memory:
            found += [Route("cpu", name, memory), Route(name, "cpu", memory)]
    found += [Route(one, other, Memory.PAGEABLE) for one, other in permutations(names, 2)]
    if device == "cpu" or not names:
        found = [Route("cpu", "cpu", Memory.PAGEABLE)]
    if device is None:
        return found
    return [path for path in found if device in (path.source, path.target)]


def calibrate(
    runner: Runner,
    machine: Machine,
    paths: list[Route],
    today: date,
    report: Callable[[Progress], bool] = lambda progress: True,
) -> Outcome | Problem:
    """Measures `paths`. `report` is called before each point and ends it all by returning false."""
    jobs = _plan(paths)
    timings: dict[Route, dict[int, Timing]] = {path: {} for path in paths}
    problems: list[Problem] = []
    for done, job in enumerate(jobs):
        if not report(Progress(done, len(jobs), job.path, job.size)):
            return Problem("cancelled", runner.interpreter)
        larger = (timing.p50 for timing in timings[job.path].values())
        result = _undisturbed(runner, job, min(larger, default=math.inf))
        if isinstance(result, Timing):
            timings[job.path][job.size] = result
        elif result.code in _SKIPPED:
            problems.append(result)
        else:
            return result
    timings = {path: points for path, points in timings.items() if points}
    if not timings:
        return problems[0] if problems else Problem("no-such-device", runner.interpreter)
    return Outcome(
        Calibration(machine.label, today.isoformat(), _fitted(timings)),
        MappingProxyType({path: tuple(sorted(points.items())) for path, points in timings.items()}),
        tuple(dict.fromkeys(problems)),
    )


def _undisturbed(runner: Runner, job: TransferJob, larger_us: float) -> Timing | Problem:
    """The fastest of a few measurements of `job`, the first that fits with larger transfers."""
    best: Timing | None = None
    for _ in range(_MOST_REPEATS):
        result = runner.submit(job).result()
        if isinstance(result, Problem):
            return result
        assert isinstance(result, Measured)
        assert isinstance(result.timing, TransferTiming)
        if best is None or result.timing.timing.p50 < best.p50:
            best = result.timing.timing
        if best.p50 <= larger_us * _DISTURBED:
            break
    assert best is not None
    return best


def _plan(paths: list[Route]) -> list[TransferJob]:
    low, high = _BUDGET_MS
    budget = min(high, max(low, _WHOLE_BUDGET_MS // max(1, len(paths) * len(SIZES))))
    return [
        TransferJob(path, size, budget_ms=budget) for path in paths for size in sorted(SIZES)[::-1]
    ]


def _fitted(timings: dict[Route, dict[int, Timing]]) -> MappingProxyType[Route, Curve]:
    return MappingProxyType(
        {
            path: fit(
                Point(size, timing.p20, timing.p50, timing.p80) for size, timing in points.items()
            )
            for path, points in timings.items()
        }
    )
