"""What a change of one file does to the others that are open.

After each analysis of a changed text, the open files that may rest on it are analysed again in the
background; where their findings changed, the listeners of the session hear of it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from functools import partial
from typing import Any

from device_lens.lsp.documents import View
from device_lens.lsp.result import Result
from device_lens.lsp.scheduler import BACKGROUND, Stale
from device_lens.lsp.session import AnalysisFailed, Session

logger = logging.getLogger(__name__)


GATHER = 0.3
"""Seconds in which news are gathered before everything open is analysed again."""


class Neighbours:
    """Keeps the open files of a session consistent with each other."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._timer: asyncio.TimerHandle | None = None
        session.listeners.append(self._on_result)
        session.on_known_class = self.refresh_soon

    def close(self) -> None:
        for task in list(self._tasks.values()):
            task.cancel()

    def refresh_all(self) -> None:
        """Analyses everything open again: files on disk or settings changed."""
        for view in list(self._session.documents.views()):
            self._start(view.path, self._again(view))

    def refresh_soon(self) -> None:
        """Analyses everything open again once nothing new has come for a moment."""
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(GATHER, self.refresh_all)

    def follow(self, view: View) -> None:
        """Looks at the open files around a view that came, changed or went."""
        self._start(view.path, self._follow(view))

    def _on_result(self, result: Result, before: Result | None) -> None:
        """A text that is new to us changes what is known around it; the same text looked at
        again does not."""
        if before is None:
            self._start(f"callers of {result.view.path}", self._seek_callers(result.view))
        is_new = before is None or before.view is not result.view
        if is_new and any(each is not result.view for each in self._session.documents.views()):
            self.follow(result.view)

    async def _seek_callers(self, view: View) -> None:
        """Looks for callers on disk of a file that was opened."""
        session = self._session
        work = session.with_request(view, session.analyst.find_callers)
        callers = await session.scheduler.submit(("callers", view.path), work, BACKGROUND)
        now = session.documents.view(view.uri)
        if now is None:
            return
        for tell in session.searches:
            tell(now, callers.left_out)
        if callers.are_known:
            await self._again(now)

    async def _follow(self, view: View) -> None:
        session = self._session
        work = session.with_request(view, session.analyst.dependents)
        key = ("dependents", view.path)
        paths = await session.scheduler.submit(key, work, BACKGROUND)
        others = [each for each in session.documents.views() if each.path in paths]
        for other in others:
            if session.documents.view(other.uri) is other:
                await self._again(other)

    async def _again(self, view: View) -> None:
        if not self._session.settings_of(view.path).enable:
            return
        await self._session.analyse_again(view)

    def _start(self, key: str, work: Coroutine[Any, Any, None]) -> None:
        """Starts work that follows from a change; what the last such change began is overtaken."""
        before = self._tasks.get(key)
        if before is not None:
            before.cancel()
        task = self._tasks[key] = asyncio.ensure_future(work)
        task.add_done_callback(partial(self._done, key))

    def _done(self, key: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]
        if task.cancelled():
            return
        error = task.exception()
        if error is not None and not isinstance(error, Stale | AnalysisFailed):
            logger.error("Following a change failed", exc_info=error)
