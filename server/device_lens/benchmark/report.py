"""A calibration as it is told: JSON for scripts, rows of text for a table."""

from __future__ import annotations

from device_lens.benchmark.calibrate import Outcome, Progress
from device_lens.benchmark.machine import Machine, machine_to_dict
from device_lens.benchmark.problem import WARNINGS
from device_lens.cost.route import Direction, Route
from device_lens.cost.units import format_bandwidth, format_bytes, format_microseconds

_SHOWN_SIZES = (1_000, 1_000_000, 100_000_000)
HEADINGS = (
    "transfer",
    "host memory",
    "latency",
    "bandwidth",
    *(format_bytes(size) for size in _SHOWN_SIZES),
)
_HOST_ONLY = (
    "No accelerator: these are copies in host memory. They say nothing about a GPU, and estimates "
    "for one keep their named assumption."
)


def to_json(machine: Machine, outcome: Outcome) -> dict[str, object]:
    """The calibration as JSON values: times in microseconds, rates in bytes per second."""
    calibration = outcome.calibration
    return {
        "version": 1,
        "machine": machine_to_dict(machine),
        "measured_on": calibration.measured_on,
        "host_only": _is_host_only(outcome),
        "routes": [_route_to_json(outcome, path) for path in calibration.curves],
        "problems": [problem.sentence for problem in outcome.problems],
    }


def rows(outcome: Outcome) -> list[tuple[str, ...]]:
    """One row of text for each route, under `HEADINGS`."""
    found = []
    for path, curve in outcome.calibration.curves.items():
        rate = _per_second(curve.bytes_per_us)
        found.append(
            (
                path.text,
                _memory_text(path),
                format_microseconds(curve.latency_us),
                "?" if rate is None else format_bandwidth(rate),
                *(format_microseconds(curve.microseconds(size)) for size in _SHOWN_SIZES),
            )
        )
    return found


def notes(outcome: Outcome) -> list[str]:
    """What a reader of the numbers has to know, one sentence each."""
    found = [_HOST_ONLY] if _is_host_only(outcome) else []
    found += [f"Left out at some sizes: {problem.sentence}" for problem in outcome.problems]
    codes = {
        code
        for points in outcome.timings.values()
        for _, timing in points
        for code in timing.warnings
    }
    return found + [
        f"Not every size is measured well: for some, {WARNINGS[code]}." for code in sorted(codes)
    ]


def progress_text(progress: Progress) -> str:
    """What is measured next: `cpu → cuda:0 pinned 67.1 MB`."""
    return f"{progress.path.text} {_memory_text(progress.path)} {format_bytes(progress.size)}"


def _route_to_json(outcome: Outcome, path: Route) -> dict[str, object]:
    curve = outcome.calibration.curves[path]
    return {
        "from": path.source,
        "to": path.target,
        "memory": path.memory.value,
        "direction": path.direction.value,
        "latency_us": curve.latency_us,
        "bytes_per_second": _per_second(curve.bytes_per_us),
        "points": [
            {
                "bytes": size,
                "p20_us": timing.p20,
                "median_us": timing.p50,
                "p80_us": timing.p80,
                "samples": timing.samples,
                "warnings": list(timing.warnings),
            }
            for size, timing in outcome.timings[path]
        ],
    }


def _is_host_only(outcome: Outcome) -> bool:
    return all(path.direction is Direction.HOST_TO_HOST for path in outcome.calibration.curves)


def _memory_text(path: Route) -> str:
    touches_host = path.direction in (Direction.HOST_TO_DEVICE, Direction.DEVICE_TO_HOST)
    return path.memory.value if touches_host else "-"


def _per_second(bytes_per_us: float | None) -> float | None:
    return None if bytes_per_us is None else bytes_per_us * 1e6
