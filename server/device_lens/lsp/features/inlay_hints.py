"""Inlay hints: what transfers cost and, on request, where variables live."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from device_lens.lsp.convert import in_view, to_file_range
from device_lens.lsp.features import measuring
from device_lens.lsp.result import Result
from device_lens.lsp.session import Session
from device_lens.syntax.position import Position, Range

if TYPE_CHECKING:
    from device_lens.ide.inlay_hints import HintOptions


async def inlay_hints(
    session: Session, params: types.InlayHintParams
) -> list[types.InlayHint] | None:
    """The hints within a range; their tooltips come when they are asked for."""
    uri = params.text_document.uri
    result = await session.result(uri)
    if result is None or not (result.settings.transfer_hints or result.settings.device_hints):
        return None
    return _hints(session, result, uri, params.range)


async def resolve(session: Session, hint: types.InlayHint) -> types.InlayHint:
    """The hint with its tooltip, as long as the text is the one it was made for."""
    data = hint.data if isinstance(hint.data, dict) else {}
    uri = data.get("uri")
    view = session.documents.view(uri) if isinstance(uri, str) else None
    result = None if view is None else session.last(view.path)
    if result is None or result.view is not view or not isinstance(uri, str):
        return hint
    where = types.Range(hint.position, hint.position)
    for other in _hints(session, result, uri, where, with_tooltips=True):
        if other.label == hint.label:
            hint.tooltip = other.tooltip
    return hint


def same_hints(before: Result, after: Result) -> bool:
    """Whether two results for one text have the same hints."""
    return _found(before) == _found(after)


def _found(result: Result) -> object:
    from device_lens.ide.inlay_hints import inlay_hints as find

    window = Range(Position(0, 0), result.source.lines.end)
    return find(result.facts, window, result.costs, _options(result))


def _options(result: Result) -> HintOptions:
    from device_lens.ide.inlay_hints import HintOptions

    settings = result.settings
    return HintOptions(settings.transfer_hints, settings.device_hints, settings.threshold_ms)


def _hints(
    session: Session,
    result: Result,
    uri: str,
    where: types.Range,
    with_tooltips: bool = False,
) -> list[types.InlayHint]:
    from device_lens.ide.inlay_hints import inlay_hints as find

    encoding = session.documents.encoding
    window = to_file_range(result.view, result.source, uri, where, encoding)
    if window is None:
        return []
    lazily = session.client.resolves_hints and not with_tooltips
    found: list[types.InlayHint] = []
    costs = measuring.priced(session, result)
    for hint in find(result.facts, window, costs, _options(result)):
        at = Range(hint.position, hint.position)
        place = in_view(result.view, result.source, at, encoding)
        if place is None or place.uri != uri:
            continue
        tooltip = types.MarkupContent(types.MarkupKind.Markdown, hint.tooltip)
        found.append(
            types.InlayHint(
                position=place.range.start,
                label=hint.label,
                tooltip=tooltip if hint.tooltip and not lazily else None,
                padding_left=hint.kind == "transfer",
                data={"uri": uri} if lazily and hint.tooltip else None,
            )
        )
    return found
