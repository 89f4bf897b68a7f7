"""Answers `deviceLens/transferCurve`: what transfers cost on this machine, and those of a file.

`{uri?}` → the curves, the transfers with their places in the client's documents, and sentences that
say what it all rests on. Times are microseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.lsp.convert import in_view
from device_lens.lsp.features import calibrating, measuring
from device_lens.lsp.result import Result
from device_lens.lsp.session import Session

if TYPE_CHECKING:
    from device_lens.ide.transfer_curve import DrawnCurve, DrawnTransfer, TransferCurves

METHOD = "deviceLens/transferCurve"
CHANGED = "deviceLens/measured"
"""Tells our own client that another answer is due: something is measured or forgotten, or a
calibration began or ended."""

VERSION = 1


async def transfer_curve(session: Session, params: object) -> dict[str, Any]:
    """The picture for a document, or for the machine alone where the document is not known."""
    from device_lens.ide.costs import Costs
    from device_lens.ide.transfer_curve import transfer_curves

    uri = params.get("uri") if isinstance(params, dict) else None
    result = await session.result(uri) if isinstance(uri, str) else None
    if result is None:
        calibration = await session.calibration()
        accelerator = session.settings_of("").assume_accelerator or "cuda"
        found = transfer_curves(None, Costs(calibration), accelerator)
    else:
        accelerator = result.configuration.assume_accelerator
        costs = measuring.priced(session, result)
        found = transfer_curves(result.facts, costs, accelerator)
    refusal = calibrating.refusal(session)
    return {
        "version": VERSION,
        "uri": None if result is None else uri,
        "basis": found.basis,
        "leftOut": found.left_out,
        "sizes": list(found.sizes),
        "curves": [_curve(each) for each in found.curves],
        "transfers": [] if result is None else _transfers(session, result, found),
        "calibration": {"running": session.measurements.is_calibrating, "refusal": refusal},
    }


def _curve(curve: DrawnCurve) -> dict[str, Any]:
    return {
        "label": curve.label,
        "direction": curve.direction.value,
        "memory": None if curve.memory is None else curve.memory.value,
        "source": curve.source,
        "basis": curve.basis,
        "points": [[each.size, each.p20, each.p50, each.p80] for each in curve.points],
        "times": list(curve.times),
        "latency": curve.latency_us,
        "bytesPerSecond": None if curve.bytes_per_us is None else curve.bytes_per_us * 1e6,
    }


def _transfers(session: Session, result: Result, found: TransferCurves) -> list[dict[str, Any]]:
    transfers = [_transfer(session, result, each) for each in found.transfers]
    return [each for each in transfers if each is not None]


def _transfer(session: Session, result: Result, drawn: DrawnTransfer) -> dict[str, Any] | None:
    """A transfer as the client shows it; None where its cell is not open."""
    place = in_view(result.view, result.source, drawn.range, session.documents.encoding)
    if place is None:
        return None
    start, end = place.range.start, place.range.end
    cost = drawn.cost
    return {
        "uri": place.uri,
        "range": {
            "start": {"line": start.line, "character": start.character},
            "end": {"line": end.line, "character": end.character},
        },
        "text": drawn.text,
        "route": drawn.route,
        "bytes": drawn.bytes,
        "bytesText": drawn.bytes_text,
        "time": cost.microseconds,
        "timeText": drawn.time_text,
        "spread": None if cost.spread is None else list(cost.spread),
        "source": cost.source,
        "basis": cost.assumption,
        "inLoop": drawn.in_loop,
        "curve": drawn.curve,
    }
