"""A measurement as it is kept: what was measured, how long it took, where and when.

Transfers are kept by class of size, eight to a doubling: within a class sizes differ by at most
nine percent, which is less than what repeated measurements of one size differ by.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, replace
from datetime import date
from typing import cast

from device_lens.benchmark import job as jobs
from device_lens.cost.calibration import InvalidCalibration, label
from device_lens.cost.operation import MeasuredOperation
from device_lens.cost.transfer import TransferCost

VERSION = 1
_CLASSES_PER_DOUBLING = 8


class InvalidRecord(ValueError):
    """The data is not a record of the job asked for."""


@dataclass(frozen=True)
class Record:
    """A kept measurement. `job` is the one that was measured; `measured_on` an ISO date."""

    job: jobs.Job
    timing: jobs.TransferTiming | jobs.OperationTiming
    machine: str
    measured_on: str

    @property
    def transfer_cost(self) -> TransferCost | None:
        """The measured cost of a transfer, with its spread; None for an operation."""
        if not isinstance(self.timing, jobs.TransferTiming):
            return None
        timing = self.timing.timing
        basis = f"{self.machine}, {self.measured_on}"
        return TransferCost(timing.p50, "measured", basis, (timing.p20, timing.p80))

    @property
    def operation(self) -> MeasuredOperation | None:
        """The measured times of an operation; None for a transfer."""
        timing = self.timing
        if isinstance(timing, jobs.TransferTiming):
            return None
        there, moved = timing.accelerator, timing.with_transfer
        return MeasuredOperation(
            timing.cpu.p50,
            (timing.cpu.p20, timing.cpu.p80),
            None if there is None else there.p50,
            None if moved is None else moved.p50,
            f"{self.machine}, {self.measured_on}",
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What speaks against trusting the numbers, from `problem.WARNINGS`, each once."""
        timing = self.timing
        if isinstance(timing, jobs.TransferTiming):
            return timing.timing.warnings
        parts = (timing.cpu, timing.accelerator, timing.with_transfer)
        return tuple(dict.fromkeys(each for part in parts if part for each in part.warnings))


def size_class(size: int) -> int:
    """The class of sizes that `size` bytes belongs to."""
    return round(_CLASSES_PER_DOUBLING * math.log2(size))


def record_key(job: jobs.Job) -> str:
    """A name for the job's record, equal for jobs that share one. Raises InvalidJob.

    How long was measured does not matter, nor a transfer's size within its class.
    """
    parts = jobs.request(job)
    del parts["budget_ms"]
    if isinstance(job, jobs.TransferJob):
        parts["size"] = f"class {size_class(job.size)}"
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def record_to_dict(record: Record) -> dict[str, object]:
    """The record as JSON values."""
    timing = record.timing
    if isinstance(timing, jobs.TransferTiming):
        answer: dict[str, object] = {"timing": jobs.timing_to_dict(timing.timing)}
    else:
        parts = {
            "cpu": timing.cpu,
            "accelerator": timing.accelerator,
            "with_transfer": timing.with_transfer,
        }
        answer = {name: jobs.timing_to_dict(part) for name, part in parts.items() if part}
    return {
        "version": VERSION,
        "request": jobs.request(record.job),
        "answer": answer,
        "machine": record.machine,
        "measured_on": record.measured_on,
    }


def record_from_dict(job: jobs.Job, data: object) -> Record:
    """The record of `job`, or of one that shares its key. Raises InvalidRecord."""
    if not isinstance(data, dict):
        raise InvalidRecord("a record is an object")
    fields = cast("dict[str, object]", data)
    if set(fields) != {"version", "request", "answer", "machine", "measured_on"}:
        raise InvalidRecord("a record has other fields")
    if fields["version"] != VERSION:
        raise InvalidRecord(f"version is not {VERSION}")
    try:
        measured = _measured_job(job, fields["request"])
        answer = jobs.answer(measured, fields["answer"])
        machine = label(fields["machine"], "machine")
        measured_on = date.fromisoformat(str(fields["measured_on"])).isoformat()
    except (jobs.InvalidJob, jobs.InvalidAnswer, InvalidCalibration, ValueError) as error:
        raise InvalidRecord(str(error)) from error
    if isinstance(answer, jobs.Refusal):
        raise InvalidRecord("a record of a refusal")
    return Record(measured, answer, machine, measured_on)


def _measured_job(job: jobs.Job, request: object) -> jobs.Job:
    """`job` with the size and budget that were measured, if the rest of `request` is its own."""
    if not isinstance(request, dict):
        raise InvalidRecord("a request is an object")
    measured = replace(job, budget_ms=cast("int", request.get("budget_ms")))
    if isinstance(measured, jobs.TransferJob):
        measured = replace(measured, size=cast("int", request.get("size")))
    if jobs.request(measured) != request or record_key(measured) != record_key(job):
        raise InvalidRecord("a record of another job")
    return measured
