"""How every request answers when the text changed under it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcContentModified, JsonRpcException

from device_lens.lsp.scheduler import Stale
from device_lens.lsp.session import AnalysisFailed, Session

P = TypeVar("P")
R = TypeVar("R")

SERVER_CANCELLED = -32802
REQUEST_FAILED = -32803


def answering(
    session: Session, work: Callable[[Session, P], Awaitable[R]]
) -> Callable[[P], Coroutine[Any, Any, R | None]]:
    """A handler for a request: a stale answer is `ContentModified`, and nothing is said of a text
    whose analysis failed."""

    async def handle(params: P) -> R | None:
        try:
            return await work(session, params)
        except AnalysisFailed:
            return None
        except Stale:
            raise JsonRpcContentModified("the text has changed") from None

    return handle


def answering_pull(
    session: Session, work: Callable[[Session, P], Awaitable[R]]
) -> Callable[[P], Coroutine[Any, Any, R]]:
    """A handler for pulled diagnostics: a stale answer asks the client to pull again, a failed
    one lets it keep what it has."""

    async def handle(params: P) -> R:
        try:
            return await work(session, params)
        except AnalysisFailed:
            raise JsonRpcException("the analysis failed", REQUEST_FAILED) from None
        except Stale:
            again = types.DiagnosticServerCancellationData(retrigger_request=True)
            raise JsonRpcException("the text has changed", SERVER_CANCELLED, again) from None

    return handle
