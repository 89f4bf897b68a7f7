"""Files that changed on disk: what rests on them is looked at again."""

from __future__ import annotations

from lsprotocol import types

from device_lens.lsp.documents import path_of
from device_lens.lsp.scheduler import URGENT, Stale, Token
from device_lens.lsp.session import Session


async def take(session: Session, params: types.DidChangeWatchedFilesParams) -> bool:
    """Forgets what was known of the files; whether anything open may rest on them."""
    opened = {view.path for view in session.documents.views()}
    paths = tuple(
        path
        for path in dict.fromkeys(path_of(change.uri) for change in params.changes)
        if path not in opened
    )
    if not paths:
        return False

    def forget(token: Token) -> None:
        session.analyst.forget(paths)

    try:
        await session.scheduler.submit(("forget", paths), forget, URGENT)
    except Stale:  # the same files changed again: that notification does the work
        return False
    session.tell_news()
    return bool(opened)
