"""Calibrates this machine because the user asks for it, with progress that can be cancelled."""

from __future__ import annotations

import asyncio
import logging
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from device_lens.lsp.session import Session

if TYPE_CHECKING:
    from concurrent.futures import Future

    from device_lens.benchmark.calibrate import Outcome, Progress
    from device_lens.benchmark.problem import Problem
    from device_lens.lsp.server import Server

logger = logging.getLogger(__name__)

CALIBRATE = "deviceLens.calibrate"
TITLE = "Calibrating transfers"

_UNTRUSTED = "Nothing is measured in a workspace that is not trusted."
_NO_INTERPRETER = "No Python is known to measure with: `deviceLens.projectInterpreter` names one."
_RUNNING = "This machine is being calibrated already."


def refusal(session: Session) -> str | None:
    """Why this machine cannot be calibrated from here, None where it can. Who asks for it means
    it: what sets off other measurements does not matter."""
    if session.client.speaks_of_trust and not session.client.trusted:
        return _UNTRUSTED
    return None if session.measurements.has_interpreter else _NO_INTERPRETER


async def calibrate(server: Server) -> bool:
    """Calibrates and tells how it went; whether there is a new model.

    Ends early when the user cancels the progress, or the client the request: what was measured
    until then is forgotten.
    """
    session = server.session
    await session.configured()  # they may name another interpreter
    reason = _RUNNING if session.measurements.is_calibrating else refusal(session)
    if reason is not None:
        _tell(server, types.MessageType.Warning, reason)
        return False
    progress = _Progress(server)
    # Before anything is awaited, so that a second request finds it under way.
    outcome = session.measurements.calibrate(progress.report)
    try:
        await progress.create()
        either: list[asyncio.Future[Any]] = [outcome, progress.cancelled]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    finally:
        progress.end()
    return not progress.is_cancelled and _take(server, await outcome)


def _take(server: Server, found: Outcome | Problem) -> bool:
    from device_lens.benchmark.problem import Problem

    if isinstance(found, Problem):
        if found.code not in ("cancelled", "closed"):
            _tell(server, types.MessageType.Warning, found.sentence)
        return False
    session = server.session
    session.use_calibration()
    session.invalidate()
    session.measurements.on_measured()
    _tell(server, types.MessageType.Info, _summary(found, session.client.is_ours))
    return True


def _summary(outcome: Outcome, is_ours: bool) -> str:
    from device_lens.benchmark.report import notes

    count = len(outcome.calibration.curves)
    routes = "1 route" if count == 1 else f"{count} routes"
    sentences = [f"Measured {routes} on {outcome.calibration.label}.", *notes(outcome)]
    if is_ours:
        sentences.append("“Show Transfer Curve” draws them.")
    return " ".join(sentences)


def _tell(server: Server, kind: types.MessageType, text: str) -> None:
    text = text.replace("`", "")
    server.window_show_message(types.ShowMessageParams(kind, f"Device Lens: {text}"))


class _Progress:
    """Work-done progress that the server begins, where the client shows such a thing. When it ends
    early, so does the work."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._token: str | None = None
        self._ended = False
        self.cancelled: asyncio.Future[None] = self._loop.create_future()
        """Done once the user does not want the rest."""

    @property
    def is_cancelled(self) -> bool:
        return self.cancelled.done()

    async def create(self) -> None:
        """Begins to show it. A client that cannot is left alone."""
        if not self._server.session.client.progress:
            return
        token = f"calibrate-{secrets.token_hex(8)}"
        shown = self._server.work_done_progress
        try:
            await shown.create_async(token)
        except Exception as error:  # whatever a client answers, the machine is calibrated
            logger.info("The client shows no progress: %s", error)
            return
        self._token = token
        shown.tokens[token].add_done_callback(self._on_cancelled)
        shown.begin(token, types.WorkDoneProgressBegin(TITLE, cancellable=True, percentage=0))

    def report(self, progress: Progress) -> bool:
        """Shows how far it is; whether to go on. Called on the measuring thread."""
        with suppress(RuntimeError):  # the loop is closed: no one wants to know
            self._loop.call_soon_threadsafe(self._show, progress)
        return not self._ended

    def end(self) -> None:
        """Shows it no more, and ends the work at its next step."""
        self._ended = True
        if self._token is not None:
            self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd())
            self._server.work_done_progress.tokens.pop(self._token, None)

    def _on_cancelled(self, future: Future[None]) -> None:
        if future.cancelled() and not self.cancelled.done():
            self.cancelled.set_result(None)

    def _show(self, progress: Progress) -> None:
        from device_lens.benchmark.report import progress_text

        if self._token is None or self._ended:
            return
        percentage = 100 * progress.done // max(progress.total, 1)
        report = types.WorkDoneProgressReport(
            message=progress_text(progress), percentage=percentage, cancellable=True
        )
        self._server.work_done_progress.report(self._token, report)
