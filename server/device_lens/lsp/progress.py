"""Progress of a request that a client wants to hear of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lsprotocol import types
from pygls.lsp.server import LanguageServer


@contextmanager
def reporting(
    server: LanguageServer, token: types.ProgressToken | None, title: str
) -> Iterator[Callable[[int, int], None]]:
    """Gives a function that takes how much is done, and of how much. The progress begins with its
    first call; nothing is sent where the client gave no token."""
    progress = server.work_done_progress
    begun = False

    def report(done: int, total: int) -> None:
        nonlocal begun
        if token is None:
            return
        percentage = 100 * done // max(total, 1)
        message = f"{done}/{total}"
        if not begun:
            begun = True
            progress.begin(token, types.WorkDoneProgressBegin(title, percentage=percentage))
        progress.report(token, types.WorkDoneProgressReport(message=message, percentage=percentage))

    try:
        yield report
    finally:
        if begun and token is not None:
            progress.end(token, types.WorkDoneProgressEnd())
            progress.tokens.pop(token, None)
