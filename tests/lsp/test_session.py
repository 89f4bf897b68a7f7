"""The session: a failure of the analysis is said once, and nothing else ends; work that waited is
about the texts as they are by then."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from lsprotocol import types

from device_lens.lsp.analyst import Analyst, Request
from device_lens.lsp.features.status import Status
from device_lens.lsp.result import Result
from device_lens.lsp.scheduler import Stale, Token
from device_lens.lsp.session import AnalysisFailed, Session
from device_lens.lsp.settings import Settings

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def session(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Session]:
    analyse = Analyst.first_look

    def failing(self: Analyst, request: Any, token: Any) -> Any:
        if "broken" in request.view.path:
            raise ZeroDivisionError("our defect")
        return analyse(self, request, token)

    monkeypatch.setattr(Analyst, "first_look", failing)
    found = Session()
    found.start()
    found.configure({})
    yield found
    found.close()


def opened(session: Session, name: str, text: str = "import torch\n") -> str:
    uri = f"untitled:{name}"
    session.documents.open(types.TextDocumentItem(uri, "python", 1, text))
    return uri


async def test_a_failure_is_logged_once_and_others_go_on(
    session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    broken, sound = opened(session, "broken"), opened(session, "sound")
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            with pytest.raises(AnalysisFailed):
                await session.result(broken)
    assert len(caplog.records) == 1
    assert await session.result(sound) is not None


async def test_the_status_tells_of_a_failure_until_it_is_over(session: Session) -> None:
    sent: list[dict[str, str]] = []
    status = Status(session, lambda method, params: sent.append(params))
    broken = opened(session, "broken")
    with pytest.raises(AnalysisFailed):
        await session.result(broken)
    assert sent[-1]["state"] == "degraded"
    assert sent[-1]["details"] == "ZeroDivisionError: our defect"
    session.documents.close(broken)
    session.closed(broken)
    status.closed(broken)
    assert sent[-1] == {"state": "ready"}


async def test_a_document_closed_before_the_settings_came_is_no_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    session = Session()
    session.start()
    try:
        uri = opened(session, "soon-closed")
        asked = asyncio.ensure_future(session.result(uri))
        await asyncio.sleep(0)
        session.documents.close(uri)
        session.closed(uri)
        session.configure({})
        with pytest.raises(Stale):
            await asked
        assert not caplog.records
    finally:
        session.close()


async def test_what_is_asked_while_the_settings_change_is_answered_under_the_new_ones(
    session: Session,
) -> None:
    uri = opened(session, "asked")
    asked = asyncio.ensure_future(session.result(uri))
    while not session._pending:
        await asyncio.sleep(0)
    session.configure({"": Settings(ignore=("discarded-transfer",))})
    result = await asked
    assert result is not None
    assert result.settings.ignore == ("discarded-transfer",)


async def test_work_that_waited_sees_the_texts_as_they_are_when_it_starts(
    session: Session,
) -> None:
    """The look at a file around the edited one waits behind the next letter: it must not take the
    program back to the text before that."""
    waits = opened(session, "waits")
    edited = opened(session, "edited")
    await session.result(waits)
    await session.result(edited)
    view = session.documents.view(waits)
    assert view is not None
    seen: list[object] = []

    def look(request: Request, token: Token) -> None:
        seen.extend(each.content for each in request.snapshot.documents.values())

    work = session.with_request(view, look)
    session.documents.change(
        types.VersionedTextDocumentIdentifier(2, edited),
        [types.TextDocumentContentChangeWholeDocument("import torch\n\n")],
    )
    session.changed(edited)
    await session.result(edited)
    work(Token())
    assert seen == ["import torch\n", "import torch\n\n"]


async def test_the_fixes_of_a_text_that_rests_are_made_before_anyone_asks(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Result] = []

    def noted(self: Analyst, result: Result, token: Token) -> None:
        make_fixes(self, result, token)
        made.append(result)

    make_fixes = Analyst.make_fixes
    monkeypatch.setattr(Analyst, "make_fixes", noted)
    uri = opened(session, "dropped", "import torch\nx = torch.ones(3)\nx.to('cuda')\n")
    result = await session.result(uri)
    assert result is not None
    assert not made, "a letter may follow"
    async with asyncio.timeout(10):
        while not made:
            await asyncio.sleep(0.02)
    assert made == [result]
    assert [fix.title for each in result.findings for fix in each.fixes][:1] == [
        "Assign the result: x = x.to('cuda')"
    ]
