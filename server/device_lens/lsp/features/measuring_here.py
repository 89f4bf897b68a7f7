"""Measures what stands at a caret because the user asks for it: a command, and a code action for
editors without links in hovers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from device_lens.lsp.convert import Places, to_file_position
from device_lens.lsp.features import calibrating, measuring
from device_lens.lsp.result import Result
from device_lens.lsp.session import AnalysisFailed, Session
from device_lens.syntax.position import Range

if TYPE_CHECKING:
    from device_lens.ide.measurables import Found
    from device_lens.lsp.server import Server

MEASURE_AT = "deviceLens.measureAt"
KIND = "source.measure.deviceLens"
"""Of the code action. Editors keep source actions out of the menu that opens by itself."""

_NOTHING = (
    "Nothing here can be measured: put the cursor on a transfer or an operation of known size."
)

_LONGEST_WAIT_S = 300.0
"""What is under way ends long before: the worker's start and each job have limits of their own."""


async def measure_at(server: Server, uri: str, position: types.Position) -> dict[str, Any]:
    """Measures what is innermost at a position, or on its line.

    The answer has a `message` that says what came out, or why nothing did, and the `position` at
    which a hover tells more of it, if one does. A client that is not ours is shown the message,
    since it does not look at answers of commands.
    """
    answer = await _measured(server.session, uri, position)
    answer["message"] = answer["message"].replace("`", "")
    if not server.session.client.is_ours:
        text = f"Device Lens: {answer['message']}"
        server.window_show_message(types.ShowMessageParams(types.MessageType.Info, text))
    return answer


async def _measured(session: Session, uri: str, position: types.Position) -> dict[str, Any]:
    from device_lens.ide.hover import hover

    reason = calibrating.refusal(session)
    if reason is not None:
        return {"message": reason}
    try:
        result = await session.result(uri)
    except AnalysisFailed:
        result = None
    found = None if result is None else find(session, result, uri, position)
    if result is None or found is None:
        return {"message": _NOTHING}
    measurements, settings = session.measurements, result.settings
    job = measurements.job(found.wanted, settings.benchmark_device)
    if job is None:
        return {"message": _NOTHING}
    if measurements.record(job) is None:
        measurements.begin(job)
        await measurements.wait(job, _LONGEST_WAIT_S)
    problem = None if measurements.record(job) is not None else measurements.problem_of(job)
    if problem is not None and measurements.record_instead(job) is None:
        return {"message": problem.sentence}
    costs = measuring.priced(session, result)
    shown = hover(result.facts, found.spot, costs, result.sources)
    places = Places(session.documents, result.view, result.source, result.sources)
    place = places.find(result.view.path, Range(found.spot, found.spot))
    sentences = ("" if problem is None else problem.sentence, "" if shown is None else shown.answer)
    return {
        "message": " ".join(filter(None, sentences)),
        "position": None if place is None else place.range.start,
    }


def find(session: Session, result: Result, uri: str, position: types.Position) -> Found | None:
    """What there is to measure at a position of a document."""
    from device_lens.ide.measurables import measurable_at

    encoding = session.documents.encoding
    at = to_file_position(result.view, result.source, uri, position, encoding)
    return None if at is None else measurable_at(result.facts, at, result.costs)


def action(
    session: Session, result: Result, uri: str, position: types.Position
) -> types.CodeAction | None:
    """The action that measures what is at a position; None where nothing may or can be measured."""
    if session.client.is_ours or calibrating.refusal(session) is not None:
        return None
    found = find(session, result, uri, position)
    if found is None:
        return None
    title = f"Measure this {found.what} on this machine"
    command = types.Command(title, MEASURE_AT, arguments=[uri, position])
    return types.CodeAction(title, kind=KIND, command=command)
