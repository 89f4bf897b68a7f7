"""`deviceLens/status`: how the server is, for a status item. Sent when it changes.

`{state, message?, details?, remedy?}`. The `message` is a few words, which fit into one line of a
status item; `details` are sentences for a log. A `remedy` names what the user can do about it:
`project-interpreter`, to choose the Python that measures, or `trust`, to trust the workspace.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from device_lens.lsp.documents import View
from device_lens.lsp.measurements import NO_ACCELERATOR
from device_lens.lsp.result import Result
from device_lens.lsp.session import Session

METHOD = "deviceLens/status"
PATIENCE = 0.3
"""Seconds of work before it is worth a word."""

_OF_THE_INTERPRETER = frozenset(
    {"no-torch", "torch-broken", "no-interpreter", "cpu-only-torch", "slow-start"}
)
"""Problems that measuring with another interpreter may not have."""

_OFF = "off: deviceLens.enable is false"
_UNTRUSTED = "not trusted: nothing is measured"

Send = Callable[[str, dict[str, str]], None]


class Status:
    """Follows a session and tells the client."""

    def __init__(self, session: Session, send: Send) -> None:
        self._session = session
        self._send = send
        self._sent: dict[str, str] = {}
        self._limits: dict[str, tuple[str, ...]] = {}
        self._failures: dict[str, str] = {}
        self._left_out: dict[str, tuple[str, ...]] = {}
        self._unsearched: dict[str, str] = {}
        self._timer: asyncio.TimerHandle | None = None
        session.listeners.append(self._on_result)
        session.failures.append(self._on_failure)
        session.searches.append(self._on_search)
        session.measurements.on_problem = self.settled

    def working(self) -> None:
        """Work began: after a while without an end the client hears of it."""
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(PATIENCE, self._on_patience)

    def settled(self) -> None:
        """Tells how things are now."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._tell(self._state())

    def closed(self, path: str) -> None:
        """A file that is not open any more has no part in the status."""
        for known in (self._limits, self._failures, self._left_out, self._unsearched):
            known.pop(path, None)
        self.settled()

    def _on_result(self, result: Result, before: Result | None) -> None:
        self._failures.pop(result.view.path, None)
        self._limits[result.view.path] = result.limits
        self._left_out[result.view.path] = result.left_out
        if result.is_glance:
            self.working()
        else:
            self.settled()

    def _on_search(self, view: View, left_out: str) -> None:
        self._unsearched[view.path] = left_out
        self.settled()

    def _on_failure(self, view: View, error: BaseException) -> None:
        self._failures[view.path] = f"{type(error).__name__}: {error}"
        self.settled()

    def _on_patience(self) -> None:
        self._timer = None
        if not self._session.scheduler.idle:
            self._tell({"state": "analysing"})

    def _state(self) -> dict[str, str]:
        settings = self._session.settings
        if settings and not any(each.enable for each in settings.values()):
            return {"state": "ready", "message": _OFF}
        if self._failures:
            path, failure = next(iter(self._failures.items()))
            return {
                "state": "degraded",
                "message": f"{_name(path)}: analysis failed",
                "details": failure,
            }
        for path, limits in self._limits.items():
            if limits:
                message = f"{_name(path)}: partly analysed"
                return {"state": "degraded", "message": message, "details": " ".join(limits)}
        return self._with_left_out(self._measuring())

    def _with_left_out(self, state: dict[str, str]) -> dict[str, str]:
        """The state with what was left out so that nobody waits: no defect, but never silent."""
        found = [
            (_name(path), sentence)
            for path in dict.fromkeys((*self._left_out, *self._unsearched))
            for sentence in (*self._left_out.get(path, ()), self._unsearched.get(path, ""))
            if sentence
        ]
        if not found:
            return state
        told = "; ".join(f"{name}: {sentence}" for name, sentence in found)
        details = " ".join(filter(None, (state.get("details"), f"{told}.")))
        return {"message": f"some callers left out: {found[0][0]}", **state, "details": details}

    def _measuring(self) -> dict[str, str]:
        """Why transfers are not measured. A machine without an accelerator is no defect."""
        client, problem = self._session.client, self._session.measurements.problem
        if client.speaks_of_trust and not client.trusted:
            return {"state": "ready", "message": _UNTRUSTED, "remedy": "trust"}
        if problem is None:
            return {"state": "ready"}
        state = "ready" if problem.code in NO_ACCELERATOR else "degraded"
        sentence = problem.sentence.replace("`", "")
        found = {"state": state, "message": problem.brief, "details": sentence}
        if problem.code in _OF_THE_INTERPRETER:
            found["remedy"] = "project-interpreter"
        return found

    def _tell(self, state: dict[str, str]) -> None:
        if state != self._sent:
            self._sent = state
            self._send(METHOD, state)


def _name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
