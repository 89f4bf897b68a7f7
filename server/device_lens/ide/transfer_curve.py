"""The picture of what transfers cost: time against bytes, with the transfers of one file on it.

A curve is what this machine measured on one route, or what a named assumption says of a kind of
route; a transfer is a point, and belongs to the curve that its estimate is read off. What has no
place in the picture, because its size or its devices are not known, is counted in words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from device_lens.cost.calibration import Calibration
from device_lens.cost.curve import Point
from device_lens.cost.hardware import Link, assumption_for
from device_lens.cost.route import Direction, Memory, Route, route
from device_lens.cost.transfer import Source, TransferCost
from device_lens.cost.units import format_bytes
from device_lens.ide.costs import Costs, TransferEstimate, expressions_by_site, touches_host
from device_lens.ide.places import range_of
from device_lens.ide.summary import time_text
from device_lens.interpreter.facts import FileFacts, Transfer
from device_lens.syntax.position import Range

SMALLEST, LARGEST = 1 << 10, 1 << 28
"""Bytes that the picture spans where nothing asks for more: what a calibration measures."""

MOST_TRANSFERS = 500
"""Points of one file; more would hide one another."""

_STEPS_PER_DOUBLING = 4
_LONGEST_TEXT = 60


@dataclass(frozen=True, slots=True)
class DrawnCurve:
    """Time against bytes on a route: microseconds at each size of the picture.

    `basis` names what it rests on; `points` are the measured ones that the model was fitted to,
    none where it is typical. `bytes_per_us` is what large transfers approach.
    """

    label: str
    direction: Direction
    memory: Memory | None
    source: Source
    basis: str
    points: tuple[Point, ...]
    times: tuple[float, ...]
    latency_us: float
    bytes_per_us: float | None


@dataclass(frozen=True, slots=True)
class DrawnTransfer:
    """A transfer of the file: one execution of it. `curve` is the place of its curve in the list,
    `range` its place in the text of the file."""

    range: Range
    text: str
    route: str
    bytes: int
    bytes_text: str
    cost: TransferCost
    time_text: str
    in_loop: bool
    curve: int


@dataclass(frozen=True, slots=True)
class TransferCurves:
    """The picture, with `sizes` in bytes on its horizontal axis. `basis` says in words what it
    rests on, `left_out` which transfers have no place in it, and why."""

    sizes: tuple[int, ...]
    curves: tuple[DrawnCurve, ...]
    transfers: tuple[DrawnTransfer, ...]
    basis: str
    left_out: str


@dataclass(frozen=True, slots=True)
class _Placed:
    transfer: Transfer
    estimate: TransferEstimate
    path: Route
    bytes: int
    cost: TransferCost


def transfer_curves(facts: FileFacts | None, costs: Costs, accelerator: str) -> TransferCurves:
    """The picture of a file, or of the machine alone.

    `accelerator` is the device type whose assumption is drawn where none was measured.
    """
    reasons: Counter[str] = Counter()
    placed = [] if facts is None else list(_placed(facts, costs, reasons))
    if len(placed) > MOST_TRANSFERS:
        reasons[f"past the first {MOST_TRANSFERS}"] = len(placed) - MOST_TRANSFERS
        del placed[MOST_TRANSFERS:]
    sizes = _sizes([each.bytes for each in placed], costs.calibration)
    curves: dict[object, DrawnCurve] = {}
    if costs.calibration is not None:
        for path in costs.calibration.curves:
            curves[path] = _measured(path, costs.calibration, sizes)
    for path in [*_expected(costs.calibration, accelerator), *(each.path for each in placed)]:
        key = _key(path, costs.calibration)
        if key not in curves:
            curves[key] = _typical(path, sizes)
    keys = list(curves)
    transfers = () if facts is None else tuple(_drawn(facts, placed, keys, costs.calibration))
    found = tuple(curves.values())
    return TransferCurves(sizes, found, transfers, _basis(found), _left_out(reasons))


def _placed(facts: FileFacts, costs: Costs, reasons: Counter[str]) -> Iterator[_Placed]:
    subjects = expressions_by_site(facts)
    for transfer in facts.transfers:
        if not transfer.moves or not transfer.called or transfer.redundant:
            continue
        estimate = costs.estimate(transfer, subjects.get(transfer.subject))
        path, size, cost = estimate.path, estimate.bytes, estimate.cost
        if path is None:
            reasons["between devices that are not known"] += 1
        elif path.source != path.target and size is None:
            reasons["of unknown size"] += 1
        elif path.source != path.target and size and cost is not None:
            yield _Placed(transfer, estimate, path, size, cost)


def _sizes(wanted: list[int], calibration: Calibration | None) -> tuple[int, ...]:
    """Sizes at which models are drawn: evenly spaced on a logarithmic axis, and the measured ones,
    where models have their corners."""
    known = [SMALLEST, LARGEST, *wanted]
    low = min(known).bit_length() - 1
    high = (max(known) - 1).bit_length()
    steps = range((high - low) * _STEPS_PER_DOUBLING + 1)
    sizes = {round(2 ** (low + step / _STEPS_PER_DOUBLING)) for step in steps}
    for curve in calibration.curves.values() if calibration is not None else ():
        sizes.update(point.size for point in curve.points)
    return tuple(sorted(sizes))


def _measured(path: Route, calibration: Calibration, sizes: tuple[int, ...]) -> DrawnCurve:
    curve = calibration.curves[path]
    return DrawnCurve(
        f"{path.text}{_memory_text(path)}",
        path.direction,
        path.memory if touches_host(path) else None,
        "measured",
        calibration.label,
        curve.points,
        tuple(curve.microseconds(size) for size in sizes),
        curve.latency_us,
        curve.bytes_per_us,
    )


def _typical(path: Route, sizes: tuple[int, ...]) -> DrawnCurve:
    assumption = assumption_for(path.accelerator)
    link: Link = assumption.link(path)
    ends = " → ".join(end.partition(":")[0] for end in (path.source, path.target))
    return DrawnCurve(
        f"{ends}{_memory_text(path)}",
        path.direction,
        path.memory if touches_host(path) else None,
        "typical",
        assumption.name,
        (),
        tuple(link.microseconds(size) for size in sizes),
        link.latency_us,
        link.bytes_per_us,
    )


def _expected(calibration: Calibration | None, accelerator: str) -> Iterator[Route]:
    """Routes that are worth a curve though nothing was measured: to an accelerator and back."""
    if calibration is not None and any(path.accelerator for path in calibration.curves):
        return
    for memory in Memory:
        for ends in (("cpu", accelerator), (accelerator, "cpu")):
            path = route(*ends, memory)
            if path is not None:
                yield path


def _key(path: Route, calibration: Calibration | None) -> object:
    """What tells curves apart: the route where it was measured, else what the assumption knows."""
    if calibration is not None and path in calibration.curves:
        return path
    return path.direction, path.memory, path.accelerator


def _drawn(
    facts: FileFacts, placed: list[_Placed], keys: list[object], calibration: Calibration | None
) -> Iterator[DrawnTransfer]:
    for each in placed:
        where = range_of(facts.source, each.transfer.site)
        yield DrawnTransfer(
            where,
            _short(facts.source.text_of(where)),
            f"{each.estimate.source} → {each.estimate.target}{_memory_text(each.path)}",
            each.bytes,
            format_bytes(each.bytes),
            each.cost,
            time_text(each.estimate),
            bool(each.transfer.loops),
            keys.index(_key(each.path, calibration)),
        )


def _short(text: str) -> str:
    """A call on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_TEXT else line[: _LONGEST_TEXT - 1] + "…"


def _memory_text(path: Route) -> str:
    return f", {path.memory.value}" if touches_host(path) else ""


def _basis(curves: tuple[DrawnCurve, ...]) -> str:
    measured = [each for each in curves if each.source == "measured"]
    assumed = list(dict.fromkeys(each.basis for each in curves if each.source == "typical"))
    typical = f"Dashed curves are estimates for {' and '.join(assumed)}."
    if not measured:
        return f"{typical} Nothing is measured on this machine yet."
    text = f"Measured on {measured[0].basis}."
    if all(each.direction is Direction.HOST_TO_HOST for each in measured):
        text += " It has no accelerator: what is measured are copies in host memory."
    return f"{text} {typical}" if assumed else text


def _left_out(reasons: Counter[str]) -> str:
    """`3 transfers are not shown: 2 of unknown size, 1 between devices that are not known.`; of
    one reason `2 transfers of unknown size are not shown.`"""
    count = reasons.total()
    if not count:
        return ""
    noun, verb = ("transfer", "is") if count == 1 else ("transfers", "are")
    if len(reasons) == 1:
        return f"{count} {noun} {next(iter(reasons))} {verb} not shown."
    parts = ", ".join(f"{number} {reason}" for reason, number in reasons.items())
    return f"{count} {noun} {verb} not shown: {parts}."
