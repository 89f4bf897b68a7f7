"""Semantic tokens: names coloured by device. Opt-in, and registered only when it is on."""

from __future__ import annotations

from lsprotocol import types

from device_lens.lsp.convert import in_view, to_file_range, whole_range
from device_lens.lsp.result import Result
from device_lens.lsp.session import Session
from device_lens.syntax.position import Range


def legend() -> types.SemanticTokensLegend:
    """The names of our token types and modifiers."""
    from device_lens.ide.semantic_tokens import MODIFIERS, TYPES

    return types.SemanticTokensLegend(list(TYPES), list(MODIFIERS))


async def full(session: Session, params: types.SemanticTokensParams) -> types.SemanticTokens | None:
    """The tokens of a document."""
    uri = params.text_document.uri
    result = await session.result(uri)
    if result is None or not result.settings.semantic_tokens:
        return None
    window = whole_range(result.view, result.source, uri)
    return None if window is None else _tokens(session, result, uri, window)


async def ranged(
    session: Session, params: types.SemanticTokensRangeParams
) -> types.SemanticTokens | None:
    """The tokens of a part of a document."""
    uri = params.text_document.uri
    result = await session.result(uri)
    if result is None or not result.settings.semantic_tokens:
        return None
    encoding = session.documents.encoding
    window = to_file_range(result.view, result.source, uri, params.range, encoding)
    return None if window is None else _tokens(session, result, uri, window)


def _tokens(session: Session, result: Result, uri: str, window: Range) -> types.SemanticTokens:
    """Tokens as the protocol has them: each relative to the one before it."""
    from device_lens.ide.semantic_tokens import MODIFIERS, TYPES, semantic_tokens

    data: list[int] = []
    last = types.Position(0, 0)
    for token in semantic_tokens(result.facts, window):
        place = in_view(result.view, result.source, token.range, session.documents.encoding)
        if place is None or place.uri != uri:
            continue
        start = place.range.start
        lines = start.line - last.line
        data += [
            lines,
            start.character - (0 if lines else last.character),
            place.range.end.character - start.character,
            TYPES.index(token.type),
            sum(1 << MODIFIERS.index(modifier) for modifier in token.modifiers),
        ]
        last = start
    return types.SemanticTokens(data)
