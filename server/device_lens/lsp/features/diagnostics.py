"""Diagnostics: pulled where the client can pull, pushed where it cannot, never both.

The client is told of a version once; what other files change reaches it by a refresh.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from lsprotocol import types

from device_lens.lsp.client import Client
from device_lens.lsp.convert import Place, Places
from device_lens.lsp.documents import View
from device_lens.lsp.features.rule_pages import page_uri
from device_lens.lsp.result import Result
from device_lens.lsp.session import Session

if TYPE_CHECKING:
    from device_lens.rules.finding import Finding, Related

SOURCE = "Device Lens"

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}
_TAGS = {
    "unnecessary": types.DiagnosticTag.Unnecessary,
    "deprecated": types.DiagnosticTag.Deprecated,
}


async def pull(
    session: Session, params: types.DocumentDiagnosticParams
) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
    """The diagnostics of a document, or that they are what they were."""
    uri = params.text_document.uri
    result = await session.result(uri)
    items = [] if result is None else by_document(session, result).get(uri, [])
    result_id = digest(items)
    if params.previous_result_id == result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result_id)
    return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=result_id)


def pushes(session: Session, result: Result) -> list[types.PublishDiagnosticsParams]:
    """What to publish for each document of a result."""
    found = by_document(session, result)
    return [
        types.PublishDiagnosticsParams(
            uri=document.uri, version=document.version, diagnostics=found.get(document.uri, [])
        )
        for document in result.view.documents
        if document is not None
    ]


def clearing(view: View) -> list[types.PublishDiagnosticsParams]:
    """What to publish for documents that are closed."""
    return [
        types.PublishDiagnosticsParams(uri=document.uri, diagnostics=[])
        for document in view.documents
        if document is not None
    ]


def by_document(session: Session, result: Result) -> dict[str, list[types.Diagnostic]]:
    """The diagnostics of a result, by the document that they stand in."""
    places = Places(session.documents, result.view, result.source, result.sources)
    found: dict[str, list[types.Diagnostic]] = {}
    for finding in result.findings:
        place = places.find(finding.path, finding.range)
        if place is not None:
            item = to_diagnostic(finding, place, places, session.client, result)
            found.setdefault(place.uri, []).append(item)
    return found


def to_diagnostic(
    finding: Finding, place: Place, places: Places, client: Client, result: Result
) -> types.Diagnostic:
    """One finding as the client takes it."""
    href = page_uri(finding.rule, result.configuration.docs_url)
    related = _related(finding.related, places) if client.related_information else None
    tags = [_TAGS[tag] for tag in finding.tags if _TAGS.get(tag) in client.tags]
    return types.Diagnostic(
        range=place.range,
        message=finding.message,
        severity=_SEVERITIES[finding.severity.value],
        code=finding.rule,
        code_description=(
            types.CodeDescription(href) if href is not None and client.code_description else None
        ),
        source=SOURCE,
        tags=tags or None,
        related_information=related,
    )


def digest(items: Iterable[types.Diagnostic]) -> str:
    """Tells whether two lists of diagnostics are the same."""
    return hashlib.blake2b(repr(list(items)).encode(), digest_size=12).hexdigest()


def _related(
    related: Iterable[Related], places: Places
) -> list[types.DiagnosticRelatedInformation] | None:
    found = [
        types.DiagnosticRelatedInformation(_beginning(location), each.message)
        for each in related
        if (location := places.location(each.path, each.range)) is not None
    ]
    return found or None


def _beginning(location: types.Location) -> types.Location:
    """Where a statement of several lines begins: whoever follows a link to a loop does not want all
    of it selected."""
    start, end = location.range.start, location.range.end
    return (
        location
        if start.line == end.line
        else types.Location(location.uri, types.Range(start, start))
    )
