"""What is known of classes outside the workspace, asked of jedi in a process of its own.

The caller never waits: it gets what is known, and is called back when more is. The process is
started by the first question, ended after a while without one, and killed when it hangs.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import IO, Any

from device_lens.interpreter.protocol import ForeignClass

_HELPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "jedi_helper.py")
_MOST_WAITING = 1_000
_MOST_KNOWN = 20_000
_MOST_FAILURES = 3


class ForeignClasses:
    """Answers about classes by qualified name. ``lookup`` may be called on any thread."""

    def __init__(
        self,
        search_path: Sequence[str],
        on_ready: Callable[[str], None] = lambda name: None,
        *,
        idle_seconds: float = 60.0,
        answer_seconds: float = 20.0,
        helper: str = _HELPER,
    ) -> None:
        """``search_path`` is the project's interpreter's ``sys.path``. ``on_ready`` is called
        with each name that becomes known, on a thread of this object's own."""
        self._search_path = list(search_path)
        self._on_ready = on_ready
        self._idle_seconds = idle_seconds
        self._answer_seconds = answer_seconds
        self._helper_path = helper
        self._lock = threading.Lock()
        self._known: dict[str, ForeignClass] = {}
        self._waiting: queue.Queue[str | None] = queue.Queue()
        self._asked: set[str] = set()
        self._worker: threading.Thread | None = None
        self._process: _Helper | None = None
        self._failures = 0
        self._closed = False

    def lookup(self, name: str) -> ForeignClass | None:
        """What is known now; the first question for a name sets off finding out."""
        with self._lock:
            known = self._known.get(name)
            if known is not None or name in self._asked:
                return known
            if self._closed or self._failures >= _MOST_FAILURES:
                return None
            if self._waiting.qsize() >= _MOST_WAITING or len(self._known) >= _MOST_KNOWN:
                return None
            self._asked.add(name)
            self._waiting.put(name)
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, name="jedi", daemon=True)
                self._worker.start()
        return None

    @property
    def is_running(self) -> bool:
        """Whether the helper process is alive."""
        process = self._process
        return process is not None and process.is_alive

    @property
    def has_given_up(self) -> bool:
        """Whether the helper failed so often that it is asked no more."""
        return self._failures >= _MOST_FAILURES

    def close(self) -> None:
        """End the process and answer no new questions."""
        with self._lock:
            self._closed = True
            worker = self._worker
        self._waiting.put(None)
        process = self._process
        if process is not None:
            process.kill()
        if worker is not None and worker is not threading.current_thread():
            worker.join(timeout=5)

    def _work(self) -> None:
        """Answer questions until there are none for a while."""
        try:
            while True:
                try:
                    name = self._waiting.get(timeout=self._idle_seconds)
                except queue.Empty:
                    with self._lock:
                        if not self._waiting.empty():
                            continue
                        self._worker = None
                    return
                if name is None or self._closed:
                    return
                self._answer(name)
        finally:
            process, self._process = self._process, None
            if process is not None:
                process.kill()

    def _answer(self, name: str) -> None:
        if self._failures >= _MOST_FAILURES:
            return
        answer = self._ask(name)
        if answer is None:
            self._failures += 1
            return
        self._failures = 0
        with self._lock:
            self._known[name] = answer
        self._on_ready(name)

    def _ask(self, name: str) -> ForeignClass | None:
        """One question to the process, started where it does not run; None when it fails."""
        try:
            if self._process is None or not self._process.is_alive:
                self._process = _Helper(self._helper_path, self._search_path)
            reply = self._process.ask({"class": name}, self._answer_seconds)
        except (OSError, ValueError, queue.Empty):
            if self._process is not None:
                self._process.kill()
                self._process = None
            return None
        return _foreign_class(name, reply)


def _foreign_class(name: str, reply: dict[str, Any]) -> ForeignClass:
    is_module, bases = reply.get("is_module"), reply.get("bases")
    return ForeignClass(
        name,
        is_module if isinstance(is_module, bool) else None,
        tuple(map(str, bases)) if isinstance(bases, list) else None,
    )


class _Helper:
    """The process, spoken to in lines of JSON."""

    def __init__(self, path: str, search_path: list[str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=os.path.dirname(path),
            encoding="utf-8",
        )
        self._replies: queue.Queue[str] = queue.Queue()
        reader = threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)
        reader.start()
        self._send({"libraries": sys.path, "search_path": search_path})

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, question: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The reply to a question. Raises queue.Empty when it takes too long, OSError or
        ValueError when the process is gone or talks nonsense."""
        self._send(question)
        line = self._replies.get(timeout=seconds)
        reply = json.loads(line)
        if not isinstance(reply, dict):
            raise ValueError("the reply is not an object")
        return reply

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None and pipe is not self._process.stdout:
                try:
                    pipe.close()
                except OSError:
                    continue

    def _send(self, message: dict[str, Any]) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        pipe.write(json.dumps(message) + "\n")
        pipe.flush()

    def _read(self, pipe: IO[str]) -> None:
        """Pass lines on until the process ends; an empty line tells that it has."""
        with pipe:
            for line in pipe:
                self._replies.put(line)
        self._replies.put("")
