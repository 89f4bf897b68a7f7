"""Diagnostics of files that are not open: only where `diagnosticMode` is `workspace`.

The client asks again as soon as it has an answer, so an answer is given only when there is
something to tell; until then the request waits, as the protocol means it to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from lsprotocol import types

from device_lens.lsp.convert import Places
from device_lens.lsp.documents import View
from device_lens.lsp.features.diagnostics import digest, to_diagnostic
from device_lens.lsp.result import Result
from device_lens.lsp.scheduler import BACKGROUND
from device_lens.lsp.session import Session

BATCH = 5
"""Files of one job, so that others come between."""

Report = Callable[[int, int], None]
"""Takes how many files are done, and of how many."""
Item = types.WorkspaceFullDocumentDiagnosticReport


async def pull(
    session: Session, params: types.WorkspaceDiagnosticParams, report: Report
) -> types.WorkspaceDiagnosticReport:
    """What is new about the files that are not open; waits until something is."""
    known = {each.uri: each.value for each in params.previous_result_ids}
    while True:
        news = session.news()
        items = await _look(session, report)
        fresh = [each for each in items if known.get(each.uri, EMPTY) != each.result_id]
        present = {each.uri for each in items}
        fresh += [_nothing(uri) for uri in known if uri not in present and known[uri] != EMPTY]
        if fresh:
            return types.WorkspaceDiagnosticReport(items=fresh)
        await news.wait()


async def _look(session: Session, report: Report) -> list[Item]:
    """The diagnostics of every file that is not open."""
    if not any(each.whole_workspace for each in session.settings.values()):
        return []
    request = session.request(View("", "", (), False))
    files = await session.scheduler.submit(
        "workspace files", partial(session.analyst.files, request), BACKGROUND
    )
    opened = {view.path for view in session.documents.views()}
    closed = [path for path in files if path not in opened and not path.endswith(".ipynb")]
    found: list[Item] = []
    for done in range(0, len(closed), BATCH):
        report(done, len(closed))
        batch = tuple(closed[done : done + BATCH])
        work = partial(session.analyst.check_files, batch, request)
        key = ("workspace", batch)
        found += _items(session, await session.scheduler.submit(key, work, BACKGROUND))
        await asyncio.sleep(0)
    return found


def _items(session: Session, results: Sequence[Result]) -> Iterator[Item]:
    for result in results:
        places = Places(session.documents, result.view, result.source, result.sources)
        diagnostics = [
            to_diagnostic(finding, place, places, session.client, result)
            for finding in result.findings
            if (place := places.find(finding.path, finding.range)) is not None
        ]
        yield Item(result.view.uri, diagnostics, result_id=digest(diagnostics))


def _nothing(uri: str) -> Item:
    return Item(uri, [], result_id=EMPTY)


EMPTY = digest([])
