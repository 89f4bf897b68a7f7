"""What is known of the expression under the pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from device_lens.lsp.convert import Places, to_file_position
from device_lens.lsp.features import measuring
from device_lens.lsp.result import Result
from device_lens.lsp.scheduler import Stale
from device_lens.lsp.session import Session
from device_lens.syntax.position import Position

if TYPE_CHECKING:
    from device_lens.ide.hover import Hover, Told


async def hover(session: Session, params: types.HoverParams) -> types.Hover | None:
    """The hover at a position, None where nothing is known."""
    uri = params.text_document.uri
    result = await session.result(uri)
    if result is None or not result.settings.hover:
        return None
    encoding = session.documents.encoding
    position = to_file_position(result.view, result.source, uri, params.position, encoding)
    if position is None:
        return None

    found = _find(session, result, position)
    if found is None:
        return None
    wanted = found.measurable
    if wanted is not None and await measuring.attend(session, result, wanted):
        if not session.is_current(result):
            raise Stale
        found = _find(session, result, position) or found
    below = "" if wanted is None else measuring.note(session, result, wanted)
    return _shown(session, result, found, below)


def _find(session: Session, result: Result, position: Position) -> Hover | None:
    """The hover with what is measured by now."""
    from device_lens.ide.hover import hover as find
    from device_lens.ide.places import Location

    places = Places(session.documents, result.view, result.source, result.sources)

    def link(location: Location) -> str | None:
        found = places.location(location.path, location.range)
        return None if found is None else f"{found.uri}#L{found.range.start.line + 1}"

    priced = measuring.priced(session, result)
    told = _told(session, result, position)
    return find(result.facts, position, priced, result.sources, link, told)


def _told(session: Session, result: Result, position: Position) -> Told:
    """The places that findings at a position point to, where the editor shows these with them."""
    if not (session.client.is_ours and session.client.related_information):
        return frozenset()
    return frozenset(
        (each.path, each.range)
        for finding in result.findings
        if finding.path == result.view.path and position in finding.range
        for each in finding.related
    )


def _shown(session: Session, result: Result, found: Hover, below: str) -> types.Hover:
    """The hover as the client shows it, with a note below."""
    from device_lens.ide.markdown import join, spaced

    places = Places(session.documents, result.view, result.source, result.sources)
    place = places.find(result.view.path, found.range)
    kind = types.MarkupKind.Markdown if session.client.markdown else types.MarkupKind.PlainText
    text = join([found.markdown, below]) if session.client.markdown else found.plain
    if session.client.is_ours:
        text = spaced(text)
    return types.Hover(types.MarkupContent(kind, text), None if place is None else place.range)
