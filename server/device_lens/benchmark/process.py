"""One worker process and its pipes: lines in, lines out, with a time limit on every wait.

Nothing here knows what the lines mean. The process gets the user's environment without the
variables by which this server finds its own libraries, a folder of no consequence to work in, and a
process group of its own, so that an interrupt at the terminal reaches the supervisor only.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import IO, Any

LONGEST_LINE = 1 << 16
_NOT_INHERITED = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONSAFEPATH", "PYTHONINSPECT")
_KEPT_ERROR_LINES = 20
_PATIENCE_S = 2.0


class WorkerGone(Exception):
    """The process has ended, or its last line has no end."""


class WorkerSilent(Exception):
    """The process said nothing within the time allowed."""


class WorkerProcess:
    """A running process that is talked to in lines. Raises OSError if it cannot be started."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None):
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tempfile.gettempdir(),
            env=worker_environment(os.environ if environment is None else environment),
            **_apart(),
        )
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._errors: deque[str] = deque(maxlen=_KEPT_ERROR_LINES)
        self._start_reading(self._read_lines, self._process.stdout)
        self._start_reading(self._read_errors, self._process.stderr)

    def send(self, line: bytes) -> None:
        """Writes one line. Raises WorkerGone."""
        pipe = self._process.stdin
        try:
            assert pipe is not None
            pipe.write(line + b"\n")
            pipe.flush()
        except (OSError, ValueError) as error:
            raise WorkerGone(self.last_errors) from error

    def receive(self, timeout_s: float) -> bytes:
        """The next whole line. Raises WorkerSilent after `timeout_s`, WorkerGone at the end."""
        try:
            line = self._lines.get(timeout=timeout_s)
        except queue.Empty:
            raise WorkerSilent from None
        if line is None or not line.endswith(b"\n"):
            self._lines.put(None)
            raise WorkerGone(self.last_errors)
        return line

    @property
    def last_errors(self) -> str:
        """The last lines that the process wrote to its standard error."""
        return "\n".join(self._errors)

    @property
    def is_running(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def stop(self) -> None:
        """Asks the process to end by closing its input; kills it if it does not."""
        with contextlib.suppress(OSError, ValueError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Ends the process now, and waits until it is gone."""
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE_S)
        with contextlib.suppress(OSError, ValueError):
            if self._process.stdin is not None:
                self._process.stdin.close()

    def _start_reading(self, read: Any, pipe: IO[bytes] | None) -> None:
        threading.Thread(target=read, args=(pipe,), daemon=True).start()

    def _read_lines(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError), pipe:
            for line in iter(lambda: pipe.readline(LONGEST_LINE), b""):
                self._lines.put(line)
        self._lines.put(None)

    def _read_errors(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError), pipe:
            for line in iter(lambda: pipe.readline(LONGEST_LINE), b""):
                self._errors.append(line.decode("utf-8", "replace").rstrip())


def worker_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """`environment` without what would lead the user's interpreter to this server's libraries."""
    kept = {name: value for name, value in environment.items() if name not in _NOT_INHERITED}
    kept["PYTHONDONTWRITEBYTECODE"] = "1"
    return kept


def _apart() -> dict[str, Any]:
    if os.name == "nt":
        return {"creationflags": getattr(subprocess, "CREATE_NO_WINDOW", 0)}
    return {"start_new_session": True}
