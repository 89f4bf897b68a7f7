"""What can be measured, and what a measurement says: values, and their form on the wire.

A request is numbers and names from fixed sets and nothing else; `request` refuses every other job
before a worker sees it, and the worker checks again. Answers are checked as strictly, since the
worker runs in an environment that is not ours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, cast

from device_lens.benchmark.problem import CODES, WARNINGS
from device_lens.cost.bytes import item_size
from device_lens.cost.calibration import LARGEST_SIZE, LONGEST_MICROSECONDS
from device_lens.cost.route import Memory, Route, canonical_device, route
from device_lens.cost.work import OPERATIONS, operation_work

DTYPES = frozenset("float16 bfloat16 float32 float64 int8 uint8 int16 int32 int64".split())
LARGEST_TRANSFER = 1 << 40
MOST_FLOPS = 200_000_000_000  # a second or two on a processor: longer is not for a hover
LONGEST_BUDGET_MS = 5000
_MOST_DIMENSIONS = 8
_MOST_OPTION = 64
_MOST_DETAIL = 300


class InvalidJob(ValueError):
    """The job is not one that a worker may be asked; the message says why."""


class InvalidAnswer(ValueError):
    """The worker's answer does not have the promised form; the message names the field."""


@dataclass(frozen=True)
class TransferJob:
    """Time a transfer of `size` bytes along `path`, for about `budget_ms` milliseconds."""

    path: Route
    size: int
    non_blocking: bool = False
    budget_ms: int = 80


@dataclass(frozen=True)
class OperationJob:
    """Time an operation on the CPU, on `device`, and there with its inputs' transfer.

    `stride` and `padding` are those of a convolution.
    """

    operation: str
    shapes: tuple[tuple[int, ...], ...]
    dtype: str
    device: str
    stride: int = 1
    padding: int = 0
    budget_ms: int = 80


Job: TypeAlias = TransferJob | OperationJob


def transfer_job(
    source: str, target: str, size: int, memory: Literal["pageable", "pinned"] = "pageable"
) -> TransferJob | None:
    """The job for a transfer between devices as a program names them (`cuda`, `cuda:1`, `cpu`).

    None where there is nothing to measure: an unknown device, both ends the same, no bytes.
    """
    path = route(source, target, Memory(memory))
    if path is None or path.source == path.target or not _is_int(size, 1, LARGEST_TRANSFER):
        return None
    return TransferJob(path, size)


def host_copy_job(size: int) -> TransferJob | None:
    """The job for a plain copy of `size` bytes in host memory: what a machine without an
    accelerator can measure. None for no bytes."""
    if not _is_int(size, 1, LARGEST_TRANSFER):
        return None
    return TransferJob(Route("cpu", "cpu", Memory.PAGEABLE), size)


def operation_job(
    operation: str,
    shapes: tuple[tuple[int, ...], ...],
    dtype: str,
    device: str,
    stride: int = 1,
    padding: int = 0,
) -> OperationJob | None:
    """The job for an operation on a device as a program names it (`cuda`, `cuda:1`).

    None where there is nothing to measure: an unknown name, shapes that do not fit, too much work.
    """
    canonical = canonical_device(device)
    if canonical is None:
        return None
    job = OperationJob(operation, shapes, dtype, canonical, stride, padding)
    try:
        request(job)
    except InvalidJob:
        return None
    return job


def without_accelerator(job: Job) -> Job | None:
    """What a machine without an accelerator can measure in the job's place: a plain copy of as
    many bytes, the operation on the CPU. None where that is the job itself."""
    if isinstance(job, OperationJob):
        instead: Job | None = replace(job, device="cpu")
    else:
        instead = host_copy_job(job.size)
    return None if instead == job else instead


@dataclass(frozen=True)
class Timing:
    """Median, 20th and 80th percentile in microseconds over `samples` repetitions.

    `host_us` is how long the call kept the Python thread: less than the median where it returns
    early (`non_blocking`). `warnings` are from `problem.WARNINGS`; without one the median can be
    trusted.
    """

    p20: float
    p50: float
    p80: float
    host_us: float
    samples: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class TransferTiming:
    """How long the job's transfer took."""

    timing: Timing


@dataclass(frozen=True)
class OperationTiming:
    """How long the job's operation took; the last two are None when its device is the CPU."""

    cpu: Timing
    accelerator: Timing | None
    with_transfer: Timing | None


@dataclass(frozen=True)
class Refusal:
    """The worker could not measure; `code` is one of `problem.CODES`."""

    code: str
    detail: str


Answer: TypeAlias = TransferTiming | OperationTiming | Refusal


def request(job: Job) -> dict[str, object]:
    """The job as the worker's request, without its number. Raises InvalidJob."""
    if not _is_int(job.budget_ms, 1, LONGEST_BUDGET_MS):
        raise InvalidJob("the budget is out of range")
    if isinstance(job, TransferJob):
        return _transfer_request(job)
    return _operation_request(job)


def answer(job: Job, data: object) -> Answer:
    """The worker's answer to `job`, without its number. Raises InvalidAnswer."""
    if not isinstance(data, dict):
        raise InvalidAnswer("an answer is an object")
    fields = cast("dict[str, object]", data)
    if set(fields) == {"problem", "detail"}:
        return refusal(fields["problem"], fields["detail"])
    if isinstance(job, TransferJob):
        _expect(fields, {"timing"})
        return TransferTiming(timing_from_dict(fields["timing"]))
    if job.device == "cpu":
        _expect(fields, {"cpu"})
        return OperationTiming(timing_from_dict(fields["cpu"]), None, None)
    _expect(fields, {"cpu", "accelerator", "with_transfer"})
    return OperationTiming(
        timing_from_dict(fields["cpu"]),
        timing_from_dict(fields["accelerator"]),
        timing_from_dict(fields["with_transfer"]),
    )


def refusal(code: object, detail: object) -> Refusal:
    """The refusal with this code; the detail is cut to a line of a log. Raises InvalidAnswer."""
    if not isinstance(code, str) or code not in CODES or not isinstance(detail, str):
        raise InvalidAnswer("an unknown problem")
    return Refusal(code, "".join(c if c.isprintable() else " " for c in detail)[:_MOST_DETAIL])


def timing_to_dict(timing: Timing) -> dict[str, object]:
    """The timing as JSON values, in the form in which the worker sends it."""
    return {
        "p20": timing.p20,
        "p50": timing.p50,
        "p80": timing.p80,
        "host": timing.host_us,
        "samples": timing.samples,
        "warnings": list(timing.warnings),
    }


def timing_from_dict(data: object) -> Timing:
    """The timing that a worker or a cache file gives. Raises InvalidAnswer."""
    if not isinstance(data, dict):
        raise InvalidAnswer("a timing is an object")
    fields = cast("dict[str, object]", data)
    _expect(fields, {"p20", "p50", "p80", "host", "samples", "warnings"})
    p20, p50, p80, host = (_duration(fields[name]) for name in ("p20", "p50", "p80", "host"))
    samples, warnings = fields["samples"], fields["warnings"]
    if not p20 <= p50 <= p80:
        raise InvalidAnswer("percentiles are out of order")
    if type(samples) is not int or not 0 < samples < 1_000_000:
        raise InvalidAnswer("samples is not a count")
    if not isinstance(warnings, list) or len(warnings) > len(WARNINGS):
        raise InvalidAnswer("warnings is not a short list")
    if not all(isinstance(each, str) and each in WARNINGS for each in warnings):
        raise InvalidAnswer("an unknown warning")
    return Timing(p20, p50, p80, host, samples, tuple(dict.fromkeys(warnings)))


def _transfer_request(job: TransferJob) -> dict[str, object]:
    path = job.path
    if not isinstance(path, Route) or not isinstance(path.memory, Memory):
        raise InvalidJob("the path is not a route")
    if not (isinstance(path.source, str) and isinstance(path.target, str)):
        raise InvalidJob("a device is not a name")
    if route(path.source, path.target, path.memory) != path:
        raise InvalidJob("the route is not between known devices")
    if not _is_int(job.size, 1, min(LARGEST_TRANSFER, LARGEST_SIZE)):
        raise InvalidJob("the size is out of range")
    if type(job.non_blocking) is not bool:
        raise InvalidJob("non_blocking is neither true nor false")
    return {
        "kind": "transfer",
        "source": path.source,
        "target": path.target,
        "size": job.size,
        "memory": path.memory.value,
        "later": int(job.non_blocking),
        "budget_ms": job.budget_ms,
    }


def _operation_request(job: OperationJob) -> dict[str, object]:
    if not isinstance(job.operation, str) or job.operation not in OPERATIONS:
        raise InvalidJob("the operation is not known")
    if not isinstance(job.dtype, str) or job.dtype not in DTYPES:
        raise InvalidJob("the dtype is not known")
    if not isinstance(job.device, str) or canonical_device(job.device) != job.device:
        raise InvalidJob("the device is not known")
    if not _is_int(job.stride, 1, _MOST_OPTION) or not _is_int(job.padding, 0, _MOST_OPTION):
        raise InvalidJob("stride or padding is out of range")
    shapes = _checked_shapes(job.shapes)
    item = item_size(job.dtype) or 1
    work = operation_work(job.operation, shapes, item, job.stride, job.padding)
    if work is None:
        raise InvalidJob("the shapes do not fit the operation")
    if work.flops > MOST_FLOPS or work.touched > LARGEST_TRANSFER:
        raise InvalidJob("the operation is too large to repeat")
    return {
        "kind": "operation",
        "operation": job.operation,
        "shapes": [list(shape) for shape in shapes],
        "dtype": job.dtype,
        "device": job.device,
        "needed": work.touched,
        "stride": job.stride,
        "padding": job.padding,
        "budget_ms": job.budget_ms,
    }


def _checked_shapes(shapes: object) -> tuple[tuple[int, ...], ...]:
    if not isinstance(shapes, tuple) or len(shapes) > _MOST_DIMENSIONS:
        raise InvalidJob("shapes is not a tuple of shapes")
    for shape in shapes:
        if not isinstance(shape, tuple) or len(shape) > _MOST_DIMENSIONS:
            raise InvalidJob("a shape is not a tuple of dimensions")
        if not all(_is_int(dimension, 1, LARGEST_TRANSFER) for dimension in shape):
            raise InvalidJob("a dimension is not a number in range")
    return shapes


def _is_int(value: object, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high


def _expect(fields: dict[str, object], names: set[str]) -> None:
    if set(fields) != names:
        raise InvalidAnswer(f"the fields are not {sorted(names)}")


def _duration(value: object) -> float:
    if type(value) not in (int, float):
        raise InvalidAnswer("a time is not a number")
    number = cast("float", value)
    if not 0 < number <= LONGEST_MICROSECONDS:
        raise InvalidAnswer("a time is out of range")
    return float(number)
