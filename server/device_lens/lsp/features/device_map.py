"""`deviceLens/deviceMap`: the flow of values through a part of a document, as a graph to draw.

`{textDocument: {uri}, part?}` → `{parts, part, nodes, edges, remark, notes}`; see
`docs/device-map.md`.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from device_lens.lsp.convert import in_view
from device_lens.lsp.features import measuring
from device_lens.lsp.result import Result
from device_lens.lsp.session import AnalysisFailed, Session

if TYPE_CHECKING:
    from device_lens.ide.device_map import DeviceMap
    from device_lens.syntax.position import Range

METHOD = "deviceLens/deviceMap"

_NOT_ANALYSED = (
    "Device Lens does not look at this file: it is closed, or turned off for its folder."
)
_UNTRUSTED = "The workspace is not trusted: times are estimated, and nothing is measured."
_FAILED = "The analysis of this file failed; the log of Device Lens says why."


async def device_map(session: Session, params: Any) -> dict[str, Any] | None:
    """The map of a document. A document of which nothing is known has one without nodes, which
    says why. None for a request that names no document."""
    uri, part = _asked(params)
    if uri is None:
        return None
    try:
        result = await session.result(uri)
    except AnalysisFailed:
        return _empty(_FAILED)
    return _empty(_NOT_ANALYSED) if result is None else _map(session, result, part)


def _map(session: Session, result: Result, part: str | None) -> dict[str, Any]:
    from device_lens.ide.device_map import device_map as draw

    drawn = draw(result.facts, result.findings, measuring.priced(session, result), part)

    def sent(item: Any) -> dict[str, Any]:
        where = _location(session, result, item.range)
        return {**{k: v for k, v in asdict(item).items() if k != "range"}, "location": where}

    return {
        "parts": [asdict(each) for each in drawn.parts],
        "part": drawn.part,
        "nodes": [sent(each) for each in drawn.nodes],
        "edges": [sent(each) for each in drawn.edges],
        "remark": drawn.remark,
        "notes": [*drawn.notes, *_trust_note(session, drawn)],
    }


def _trust_note(session: Session, drawn: DeviceMap) -> list[str]:
    untrusted = session.client.speaks_of_trust and not session.client.trusted
    moves = any(each.kind == "transfer" for each in drawn.edges)
    return [_UNTRUSTED] if untrusted and moves else []


def _location(session: Session, result: Result, where: Range) -> types.Location | None:
    place = in_view(result.view, result.source, where, session.documents.encoding)
    return None if place is None else types.Location(place.uri, place.range)


def _empty(remark: str) -> dict[str, Any]:
    return {"parts": [], "part": None, "nodes": [], "edges": [], "remark": remark, "notes": []}


def _asked(params: Any) -> tuple[str | None, str | None]:
    """The document and the part that a request names."""
    if not isinstance(params, dict):
        return None, None
    document = params.get("textDocument")
    uri = document.get("uri") if isinstance(document, dict) else None
    part = params.get("part")
    return uri if isinstance(uri, str) else None, part if isinstance(part, str) else None
