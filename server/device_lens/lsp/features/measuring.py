"""Measures a transfer or an operation because a hover shows it, or because its link is followed."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote

from device_lens.lsp.client import Client
from device_lens.lsp.measurements import LASTING, NO_ACCELERATOR
from device_lens.lsp.result import Result
from device_lens.lsp.session import Session
from device_lens.lsp.settings import Settings

if TYPE_CHECKING:
    from device_lens.benchmark.job import Job
    from device_lens.benchmark.record import Record
    from device_lens.cost.operation import MeasuredOperation
    from device_lens.cost.transfer import TransferCost
    from device_lens.ide.costs import Costs, Measurable
    from device_lens.ide.operations import MeasurableOperation

MEASURE = "deviceLens.measure"
CLEAR_MEASUREMENTS = "deviceLens.clearMeasurements"

_NO_INTERPRETER = "No Python is known to measure with: `deviceLens.projectInterpreter` names one."


def trigger(client: Client, settings: Settings) -> str:
    """What starts a measurement: `hover`, `click`, or nothing at all, which is `off`.

    Only a trusted workspace measures by itself. An editor that says nothing of trust has its user
    ask for each measurement.
    """
    chosen = settings.benchmark_trigger
    if client.trusted or chosen == "off":
        return chosen
    return "off" if client.speaks_of_trust else "click"


def priced(session: Session, result: Result) -> Costs:
    """The costs of a result, with all that is measured by now."""
    device = result.settings.benchmark_device
    return replace(
        result.costs,
        measured=partial(_cost, session, device),
        measured_operation=partial(_operation, session, device),
    )


async def attend(
    session: Session, result: Result, wanted: Measurable | MeasurableOperation
) -> bool:
    """Has measured what a hover shows, if hovers do that; whether to look again.

    A running worker is waited for, as long as the budget of a hover allows.
    """
    settings, measurements = result.settings, session.measurements
    job = measurements.job(wanted, settings.benchmark_device)
    if job is None or trigger(session.client, settings) != "hover" or measurements.record(job):
        return False
    problem = measurements.problem_of(job)
    if problem is not None and problem.code in LASTING:
        return False
    warm = measurements.is_warm
    measurements.begin(job)
    if warm:
        await measurements.wait(job, settings.hover_budget_ms / 1000)
    found = measurements.record(job) or measurements.record_instead(job)
    return found is not None


def note(session: Session, result: Result, wanted: Measurable | MeasurableOperation) -> str:
    """How the measurement stands, for the end of its hover."""
    from device_lens.ide.measuring import Standing, standing_note

    measurements, started_by = session.measurements, trigger(session.client, result.settings)
    job = measurements.job(wanted, result.settings.benchmark_device)
    if job is None:
        return ""
    record = measurements.record(job)
    if record is not None:
        return standing_note(wanted, Standing(doubts=_doubts(record)))
    if started_by == "off":
        return ""
    if not measurements.has_interpreter:
        return standing_note(wanted, Standing(problem=_NO_INTERPRETER))
    problem, instead = measurements.problem_of(job), None
    lacks_device = problem is not None and problem.code in NO_ACCELERATOR
    if lacks_device:
        instead = measurements.record_instead(job)
    if problem is not None and problem.code == "no-accelerator" and instead and instead.operation:
        problem = None  # what was measured names the machine as one without
    standing = Standing(
        is_running=measurements.is_running(job),
        problem="" if problem is None else problem.sentence,
        lacks_device=lacks_device,
        host_copy=None if instead is None else instead.transfer_cost,
        doubts=() if instead is None else _doubts(instead),
        link=_link(session, job) if session.client.is_ours and not lacks_device else None,
        has_action=not session.client.is_ours and not lacks_device,
    )
    return standing_note(wanted, standing)


def measure(session: Session, name: object) -> None:
    """Measures what a link stands for, in a workspace that may."""
    job = session.measurements.offered(name)
    if job is not None and trigger(session.client, session.settings_of("")) != "off":
        session.measurements.begin(job)


async def clear(session: Session) -> None:
    """Forgets all measurements, and what rests on them."""
    await session.measurements.clear()
    session.use_calibration()
    session.invalidate()
    session.measurements.on_measured()


def _cost(session: Session, device: str | None, wanted: Measurable) -> TransferCost | None:
    job = session.measurements.job(wanted, device)
    record = None if job is None else session.measurements.record(job)
    return None if record is None else record.transfer_cost


def _operation(
    session: Session, device: str | None, wanted: MeasurableOperation
) -> MeasuredOperation | None:
    """Measured with an accelerator, else on the CPU of a machine that has none."""
    measurements = session.measurements
    job = measurements.job(wanted, device)
    if job is None:
        return None
    record = measurements.record(job) or measurements.record_instead(job)
    return None if record is None else record.operation


def _doubts(record: Record) -> tuple[str, ...]:
    """Why a measurement is not to be trusted."""
    from device_lens.benchmark.problem import WARNINGS

    return tuple(WARNINGS[each] for each in record.warnings)


def _link(session: Session, job: Job) -> str:
    return f"command:{MEASURE}?{quote(json.dumps([session.measurements.offer(job)]))}"
