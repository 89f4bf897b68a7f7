"""The state of one client's session: what is open, how it is configured, what is known of it.

Belongs to the event loop. Requests ask `result` for what is known of the text as it is now.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from device_lens.lsp.analyst import Analyst, Request, settings_for
from device_lens.lsp.client import Client, read_interpreter
from device_lens.lsp.documents import Documents, View
from device_lens.lsp.measurements import Measurements, interpreter_name
from device_lens.lsp.result import Result
from device_lens.lsp.scheduler import BACKGROUND, URGENT, Scheduler, Stale, Token
from device_lens.lsp.settings import Settings, read_settings

if TYPE_CHECKING:
    from device_lens.cost.calibration import Calibration
    from device_lens.project.files import FileStore

logger = logging.getLogger(__name__)
T = TypeVar("T")

RESTS_AFTER = 0.3
"""Seconds without a letter after which somebody may look at what a text offers."""
CONFIGURATION_TIMEOUT = 2.0
"""Seconds to wait for the client's settings before the defaults count, until they come."""


class AnalysisFailed(Exception):
    """A defect of ours kept a text from being analysed. It is in the log, once."""


class Session:
    """Everything about one client."""

    def __init__(self) -> None:
        self.client = Client()
        self.documents = Documents()
        self.measurements = Measurements()
        self.folders: tuple[str, ...] = ()
        self.settings: dict[str, Settings] = {}
        self.listeners: list[Callable[[Result, Result | None], None]] = []
        """Called on the event loop with each new result and the one before it."""
        self.failures: list[Callable[[View, BaseException], None]] = []
        """Called when an analysis failed, which is a defect of ours."""
        self.searches: list[Callable[[View, str], None]] = []
        """Called after each search for callers on disk, with what it left out, if anything."""
        self.on_known_class: Callable[[], None] = lambda: None
        """Called when more is known of classes outside the workspace."""
        self._configured = asyncio.Event()
        self._news = asyncio.Event()
        self._results: dict[str, Result] = {}
        self._failed: dict[str, View] = {}
        self._pending: dict[str, tuple[View, asyncio.Future[Result]]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        """What waits for a text to rest. It holds a whole result: one of each file is enough."""
        self._analyst = Analyst()
        self._scheduler: Scheduler | None = None
        self._store: FileStore | None = None
        self._stored: dict[str, View] = {}
        self._used: tuple[str, ...] | None = None
        self._count = 0
        self._invalidations = 0

    def start(self) -> None:
        """Starts the analysis thread and loads the analysis there."""
        self._scheduler = Scheduler(asyncio.get_running_loop())
        self._scheduler.submit("warm up", self._analyst.warm_up)
        self.use_interpreter()

    def close(self) -> None:
        """Stops the analysis."""
        if self._scheduler is not None:
            self._scheduler.close()
        self._analyst.close()
        self.measurements.close()

    @property
    def scheduler(self) -> Scheduler:
        """The analysis thread. Raises before `start`."""
        if self._scheduler is None:
            raise RuntimeError("the session has not started")
        return self._scheduler

    @property
    def analyst(self) -> Analyst:
        """What runs on the analysis thread."""
        return self._analyst

    def configure(self, settings: dict[str, Settings]) -> None:
        """Takes the client's settings; everything known under others is forgotten."""
        changed = settings != self.settings
        self.settings = settings
        self._configured.set()
        if changed:
            if self._scheduler is None or self._interpreter() == self._used:
                self._use_measurements()
            else:
                self.use_interpreter()
            self.invalidate()

    async def configured(self) -> None:
        """Waits for the client's settings, as long as one that knows them may take to answer."""
        if not self._configured.is_set():
            try:
                await asyncio.wait_for(self._configured.wait(), CONFIGURATION_TIMEOUT)
            except asyncio.TimeoutError:
                logger.warning("The client does not answer for its settings: defaults are used.")
                self.configure(self.first_settings)

    @property
    def first_settings(self) -> dict[str, Settings]:
        """What counts until the client answers: what it said at its start, or the defaults."""
        return {"": read_settings(self.client.first_settings)}

    def forget_projects(self) -> None:
        """Lets projects be made anew, with the settings as they are now."""
        self.scheduler.submit("forget projects", self._analyst.forget_projects)

    def set_environment(self, sent: object) -> None:
        """Takes the project's interpreter and whether the workspace is trusted."""
        if not isinstance(sent, dict):
            return
        interpreter = read_interpreter(sent)
        self.client = replace(
            self.client,
            trusted=sent.get("trusted") is True,
            speaks_of_trust=self.client.speaks_of_trust or "trusted" in sent,
            project_interpreter=interpreter,
        )
        self.use_interpreter()

    def use_interpreter(self) -> None:
        """Lets estimates rest on what was measured with the project's interpreter, and classes be
        looked up among its packages. A workspace that is not trusted names no program to run."""
        self._used = self._interpreter()
        self._use_measurements()
        self.use_calibration()
        trusted = self._used if self.client.trusted else None
        packages = partial(self._analyst.use_packages, trusted, self._on_known_class())
        future = self.scheduler.submit("packages", packages, BACKGROUND)
        if trusted is not None:  # what was analysed before could not ask about classes
            future.add_done_callback(lambda done: self.on_known_class())

    async def calibration(self) -> Calibration | None:
        """What estimates rest on, where there is no result to ask."""
        return await self.scheduler.submit("calibration", self._analyst.calibration)

    def use_calibration(self) -> None:
        """Lets estimates rest on what is kept of this machine now."""
        interpreter = self._interpreter()
        name = interpreter_name(interpreter) if interpreter else None
        self.scheduler.submit("interpreter", partial(self._analyst.use_interpreter, name))

    def _use_measurements(self) -> None:
        """Measures with the project's interpreter. Whether anything may be measured is asked with
        each measurement."""
        settings = self.settings_of("")
        self.measurements.use(self._interpreter(), settings.benchmark_timeout_s)

    def _interpreter(self) -> tuple[str, ...] | None:
        """The project's interpreter, which an editor names by itself or in its settings."""
        if self.client.speaks_of_trust and not self.client.trusted:
            return None
        return self.client.project_interpreter or self.settings_of("").project_interpreter

    def _on_known_class(self) -> Callable[[str], None]:
        """What is called, on any thread, when a class outside the workspace becomes known."""
        loop = asyncio.get_running_loop()

        def tell(name: str) -> None:
            with suppress(RuntimeError):  # the loop is closed: no one wants to know
                loop.call_soon_threadsafe(self.on_known_class)

        return tell

    def settings_of(self, path: str) -> Settings:
        return settings_for(path, self.settings)

    def invalidate(self) -> None:
        """What is known no longer holds: settings or files on disk changed."""
        self._invalidations += 1
        self._results.clear()
        self._failed.clear()
        self.tell_news()
        for path in list(self._pending):
            self._stop(path)

    def changed(self, uri: str) -> View | None:
        """Notes that a document is another one now; stops the analysis of the older text."""
        view = self.documents.view(uri)
        if view is not None:
            self._stop(view.path)
        return view

    def closed(self, path: str) -> None:
        """Notes that a file is no longer open."""
        self._stop(path)
        self._results.pop(path, None)
        self._failed.pop(path, None)
        self.tell_news()

    def news(self) -> asyncio.Event:
        """An event that is set once files or settings have changed from now on."""
        return self._news

    def tell_news(self) -> None:
        """Files or settings changed: whoever waits for that looks again."""
        self._news.set()
        self._news = asyncio.Event()

    def last(self, path: str) -> Result | None:
        """The newest result for a path, of whatever version."""
        return self._results.get(path)

    def is_current(self, result: Result) -> bool:
        """Whether a result is about the text as it is now."""
        return self.documents.view(result.view.uri) is result.view

    async def result(self, uri: str) -> Result | None:
        """What is known of a document's present text; None when it is not open or not wanted.

        Raises `Stale` when the text changes meanwhile, and `AnalysisFailed`. An analysis that ends
        because settings or other files changed is asked for again: editors drop what was asked
        about a text that changed, which this one did not.
        """
        view = self.documents.view(uri)
        while view is not None and await self._is_wanted(view):
            if self.documents.view(uri) is not view:  # closed or changed before settings came
                raise Stale
            count = self._invalidations
            try:
                result = await self.analyse(view)
            except Stale:
                if self._invalidations == count:
                    raise
                continue
            if not self.is_current(result):
                raise Stale
            return result
        return None

    async def analyse(self, view: View, urgency: int = URGENT) -> Result:
        """The result for a view, from memory where it is there. Raises `Stale`, and
        `AnalysisFailed` without trying the same text twice."""
        if self._failed.get(view.path) is view:
            raise AnalysisFailed
        known = self._results.get(view.path)
        if known is not None and known.view is view:
            return known
        pending = self._pending.get(view.path)
        if pending is None or pending[0] is not view:
            pending = self._submit(view, urgency)
        return await self._outcome(pending[1])

    async def analyse_again(self, view: View) -> None:
        """Analyses a view with what other files are now, in the background. Raises as `analyse`
        does."""
        pending = self._pending.get(view.path)
        if pending is not None and pending[0] is view:
            await self._outcome(pending[1])  # it may have begun before the others changed
        if self.documents.view(view.uri) is view:
            await self._outcome(self._submit(view, BACKGROUND)[1])

    def request(self, view: View) -> Request:
        """What the analysis needs to know, as it is now."""
        return Request(view, self._store_now().snapshot(), self.folders, dict(self.settings))

    def with_request(self, view: View, look: Callable[[Request, Token], T]) -> Callable[[Token], T]:
        """Work on a view with the other documents as the newest request has them when it starts:
        work that has waited would take the program back to former texts of theirs, and the next
        work would take it forth again, which costs a whole run each time."""
        request = self.request(view)

        def work(token: Token) -> T:
            assert self._store is not None  # the request has come from it
            return look(replace(request, snapshot=self._store.snapshot()), token)

        return work

    async def _is_wanted(self, view: View) -> bool:
        await self.configured()
        return self.settings_of(view.path).enable

    async def _outcome(self, future: asyncio.Future[Result]) -> Result:
        try:
            return await asyncio.shield(future)
        except (Stale, asyncio.CancelledError):
            raise
        except Exception as error:  # `_take` has logged it
            raise AnalysisFailed from error

    def _submit(self, view: View, urgency: int) -> tuple[View, asyncio.Future[Result]]:
        may_glance = urgency == URGENT and self.client.hears_news
        look = self._analyst.first_look if may_glance else self._analyst.analyse
        future = self.scheduler.submit(view.path, self.with_request(view, look), urgency)
        pending = self._pending[view.path] = (view, future)
        future.add_done_callback(partial(self._take, view))
        return pending

    def _take(self, view: View, future: asyncio.Future[Result]) -> None:
        """Keeps a result and tells the listeners."""
        pending = self._pending.get(view.path)
        if pending is not None and pending[1] is future:
            del self._pending[view.path]
        if future.cancelled() or isinstance(future.exception(), Stale):
            return
        error = future.exception()
        if error is not None:
            logger.error("The analysis of %s failed", view.path, exc_info=error)
            self._failed[view.path] = view
            for report in self.failures:
                report(view, error)
            return
        if self.documents.view(view.uri) is not view:
            return
        if not self._results:
            self.scheduler.submit("answers", self._analyst.get_ready, BACKGROUND)
        before = self._results.get(view.path)
        self.tell_news()
        result = self._results[view.path] = future.result()
        if result.is_glance:
            self._submit(view, BACKGROUND)
        else:
            self._drop_timer(view.path)
            later = asyncio.get_running_loop().call_later
            self._timers[view.path] = later(RESTS_AFTER, self._prepare, result)
        for listener in self.listeners:
            listener(result, before)

    def _prepare(self, result: Result) -> None:
        """Lets fixes be made before they are asked for, where the text rests."""
        self._drop_timer(result.view.path)
        if self.is_current(result):
            work = partial(self._analyst.make_fixes, result)
            self.scheduler.submit(_fixes_of(result.view.path), work, BACKGROUND)

    def _drop_timer(self, path: str) -> None:
        timer = self._timers.pop(path, None)
        if timer is not None:
            timer.cancel()

    def _stop(self, path: str) -> None:
        self._drop_timer(path)
        if self._scheduler is not None:
            self._scheduler.cancel(_fixes_of(path))
        pending = self._pending.pop(path, None)
        if pending is not None:
            self.scheduler.cancel(path)

    def _store_now(self) -> FileStore:
        """The open documents as the analysis reads them."""
        from device_lens.project.files import FileStore

        if self._store is None:
            self._store = FileStore()
        now = {view.path: view for view in self.documents.views()}
        for path in self._stored.keys() - now.keys():
            self._store.close(path)
        for path, view in now.items():
            if self._stored.get(path) is not view:
                self._put(self._store, view)
        self._stored = now
        return self._store

    def _put(self, store: FileStore, view: View) -> None:
        self._count += 1
        texts = [None if each is None else each.lines.text for each in view.documents]
        if view.is_notebook:
            store.put_notebook(view.path, self._count, texts)
        else:
            store.change(view.path, self._count, texts[0] or "")


def _fixes_of(path: str) -> tuple[str, str]:
    """The key of the work that makes the fixes of a file."""
    return "fixes", path
