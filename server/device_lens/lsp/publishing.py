"""What the server does of its own accord: push diagnostics, ask for settings, ask the client to
look again, register what only some clients can do."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from device_lens.lsp.answers import answering
from device_lens.lsp.documents import View
from device_lens.lsp.features import (
    configuration,
    diagnostics,
    semantic_tokens,
    transfer_curve,
)
from device_lens.lsp.features.inlay_hints import same_hints
from device_lens.lsp.result import Result
from device_lens.lsp.scheduler import Stale
from device_lens.lsp.session import AnalysisFailed
from device_lens.lsp.settings import read_settings

if TYPE_CHECKING:
    from device_lens.lsp.server import Server

logger = logging.getLogger(__name__)

QUICK = 0.05
"""Seconds: after an analysis that took no longer, a change is analysed at once."""
PAUSE = 0.3
"""Where analysis takes longer and typing goes on, a change waits as long as the last analysis took,
at most these seconds: what the next key makes stale is then not begun."""
REFRESH_PAUSE = 0.2
"""Seconds in which requests to look again are gathered into one."""
ANALYSED = "deviceLens/analysed"
"""Tells our extension that more, or something else, is known of documents: `{uris}`."""
WATCHED = ("**/*.py", "**/*.ipynb", "**/pyproject.toml", "**/.gitignore")


class Publishing:
    """Follows the documents of a server and tells its client."""

    def __init__(self, server: Server) -> None:
        self.folder_uris: list[str] = []
        self.token_handlers: dict[str, Callable[..., Awaitable[Any]]] = {}
        self._server = server
        self._session = server.session
        self._changed_at: dict[str, float] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._on_save: dict[str, View] = {}
        self._refresh: asyncio.TimerHandle | None = None
        self._tokens_registered = False
        self._asked = self._answered = 0
        self._session.listeners.append(self._on_result)
        self._session.measurements.on_measured = self._on_measured
        self._session.measurements.on_calibrating = self._tell_curve

    def opened(self, uri: str) -> None:
        """A document is new: its diagnostics are due at once."""
        view = self._session.changed(uri)
        if view is not None:
            self._on_save[view.path] = view
            self._analyse(view)

    def changed(self, uri: str, before: View | None = None) -> None:
        """A document has another text; `before` is the notebook that lost cells, perhaps."""
        view = self._session.changed(uri)
        if view is None:
            return
        if before is not None and self._pushes:
            gone = {each.uri for each in before.documents if each is not None}
            gone -= {each.uri for each in view.documents if each is not None}
            for cell in gone:
                self._publish(types.PublishDiagnosticsParams(cell, []))
        now = time.monotonic()
        since = now - self._changed_at.get(view.path, 0.0)
        self._changed_at[view.path] = now
        if self._pushes and not self._session.settings_of(view.path).on_save_only:
            last = self._session.last(view.path)
            seconds = 0.0 if last is None else last.seconds
            self._later(view, min(seconds, PAUSE) if seconds > QUICK and since < PAUSE else 0.0)

    def saved(self, uri: str) -> None:
        """A document was saved: with `run: onSave` its diagnostics are due now."""
        view = self._session.documents.view(uri)
        if view is None:
            return
        self._on_save[view.path] = view
        last = self._session.last(view.path)
        if self._pushes and last is not None and last.view is view:
            self._push(last)
        else:
            self._analyse(view)

    def closed(self, view: View | None) -> None:
        """A document is gone from the editor, with its diagnostics."""
        if view is None:
            return
        self._on_save.pop(view.path, None)
        self._changed_at.pop(view.path, None)
        timer = self._timers.pop(view.path, None)
        if timer is not None:
            timer.cancel()
        self._session.closed(view.path)
        self._server.status.closed(view.path)
        if self._pushes:
            for params in diagnostics.clearing(view):
                self._publish(params)
        self._server.neighbours.follow(view)

    async def ask_for_settings(self, sent: object = None) -> None:
        """Takes the client's settings, asked for or sent, and lets everything open be looked at
        again where they are others. An answer may come late, but not after that to a later
        question."""
        self._asked += 1
        number = self._asked
        question = self._server.workspace_configuration_async
        found = await configuration.ask(self._session, self.folder_uris, question, sent)
        if number < self._answered:
            return
        self._answered = number
        before = self._session.settings
        self._session.configure(found)
        if found == before:
            return
        self._session.forget_projects()
        for view in list(self._session.documents.views()):
            if self._session.settings_of(view.path).enable:
                self._analyse(view)
            elif self._pushes:
                for params in diagnostics.clearing(view):
                    self._publish(params)
        await self._register_tokens()
        if before:
            self._refresh_soon()

    def offer_tokens(self) -> None:
        """Offers semantic tokens from the start to a client that registers nothing late, where its
        first settings want them."""
        client = self._session.client
        if client.registers_tokens or not read_settings(client.first_settings).semantic_tokens:
            return
        self._tokens_registered = True
        for method, work in self.token_handlers.items():
            handler = answering(self._session, work)
            self._server.feature(method, semantic_tokens.legend())(handler)

    async def register(self) -> None:
        """Registers what the client allows to register late."""
        client = self._session.client
        registrations = []
        if client.registers_configuration:
            registrations.append(
                types.Registration(
                    "configuration",
                    types.WORKSPACE_DID_CHANGE_CONFIGURATION,
                    {"section": "deviceLens"},
                )
            )
        if client.registers_watchers:
            watchers = [{"globPattern": pattern} for pattern in WATCHED]
            registrations.append(
                types.Registration(
                    "watched-files",
                    types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
                    {"watchers": watchers},
                )
            )
        await self._register(registrations)

    @property
    def _pushes(self) -> bool:
        return not self._session.client.pulls_diagnostics

    def _later(self, view: View, delay: float) -> None:
        timer = self._timers.pop(view.path, None)
        if timer is not None:
            timer.cancel()
        if not delay:
            self._analyse(view)
            return
        loop = asyncio.get_running_loop()
        self._timers[view.path] = loop.call_later(delay, self._analyse_now, view.path, view.uri)

    def _analyse_now(self, path: str, uri: str) -> None:
        self._timers.pop(path, None)
        view = self._session.documents.view(uri)
        if view is not None:
            self._analyse(view)

    def _analyse(self, view: View) -> None:
        """Starts the analysis; who pulls has it ready, to others `_on_result` publishes it."""
        self._server.status.working()
        self._server.spawn(self._result(view))

    async def _result(self, view: View) -> None:
        with suppress(Stale, AnalysisFailed):
            await self._session.result(view.uri)

    def _on_result(self, result: Result, before: Result | None) -> None:
        same_text = before is not None and before.view is result.view
        if self._pushes:
            if before is None or not same_text or before.findings != result.findings:
                self._push(result)
        elif before is not None and same_text and before.findings != result.findings:
            self._refresh_soon()
        if before is not None and same_text and not same_hints(before, result):
            self._refresh_soon()
        self._tell_analysed(result.view)

    def _on_measured(self) -> None:
        """Costs are others now, wherever they are shown."""
        self._refresh_hints()
        self._tell_curve()
        for view in list(self._session.documents.views()):
            self._tell_analysed(view)

    def _tell_analysed(self, view: View) -> None:
        """Lets the panels of our extension ask anew."""
        if self._session.client.is_ours:
            uris = [each.uri for each in view.documents if each is not None]
            self._server.protocol.notify(ANALYSED, {"uris": uris})

    def _push(self, result: Result) -> None:
        path = result.view.path
        if not result.settings.enable:
            return
        if result.settings.on_save_only and self._on_save.get(path) is not result.view:
            return
        for params in diagnostics.pushes(self._session, result):
            self._publish(params)

    def _publish(self, params: types.PublishDiagnosticsParams) -> None:
        self._server.text_document_publish_diagnostics(params)

    def _refresh_soon(self) -> None:
        if self._refresh is None:
            loop = asyncio.get_running_loop()
            self._refresh = loop.call_later(REFRESH_PAUSE, self._refresh_now)

    def _refresh_now(self) -> None:
        self._refresh = None
        client = self._session.client
        server = self._server
        if client.pulls_diagnostics and client.refreshes_diagnostics:
            server.spawn(server.workspace_diagnostic_refresh_async(None))
        self._refresh_hints()
        if client.refreshes_tokens and self._tokens_registered:
            server.spawn(server.workspace_semantic_tokens_refresh_async(None))

    def _tell_curve(self) -> None:
        if self._session.client.is_ours:
            self._server.protocol.notify(transfer_curve.CHANGED, {})

    def _refresh_hints(self) -> None:
        if self._session.client.refreshes_hints:
            self._server.spawn(self._server.workspace_inlay_hint_refresh_async(None))

    async def _register_tokens(self) -> None:
        """Registers semantic tokens once they are wanted anywhere."""
        wanted = any(each.semantic_tokens for each in self._session.settings.values())
        if not wanted or self._tokens_registered or not self._session.client.registers_tokens:
            return
        self._tokens_registered = True
        for method, work in self.token_handlers.items():
            self._server.feature(method)(answering(self._session, work))
        options = types.SemanticTokensRegistrationOptions(
            legend=semantic_tokens.legend(),
            document_selector=[types.TextDocumentFilterLanguage(language="python")],
            full=True,
            range=True,
        )
        await self._register([types.Registration("tokens", "textDocument/semanticTokens", options)])

    async def _register(self, registrations: list[types.Registration]) -> None:
        if not registrations:
            return
        try:
            await self._server.client_register_capability_async(
                types.RegistrationParams(registrations)
            )
        except Exception as error:  # whatever a client answers, the server goes on without
            logger.warning("The client did not register %s: %s", registrations[0].method, error)
