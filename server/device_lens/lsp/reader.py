"""Standard input, read a whole message at a time.

pygls asks a pool of threads for each header line, for the empty line and for the content: three
times from one thread to another and back for a letter that is typed.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections import deque
from contextlib import suppress
from typing import BinaryIO

_LENGTH = re.compile(rb"^Content-Length: (\d+)\r\n$")


class MessageReader:
    """Gives pygls the lines and the content of messages. A thread of its own waits for them and
    hands each message over as one; at the end of the stream comes an empty line."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._messages: deque[list[bytes]] = deque()
        self._parts: deque[bytes] = deque()
        self._waiting: asyncio.Future[None] | None = None
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._run, name="input", daemon=True).start()

    async def readline(self) -> bytes:
        """The next line."""
        return await self._next()

    async def readexactly(self, count: int) -> bytes:
        """The content of a message, whose length the reader has read itself."""
        return await self._next()

    def end(self) -> None:
        """Lets the stream end for whoever waits, though nobody closes it."""
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._take, [b""])

    async def _next(self) -> bytes:
        if not self._parts:
            if self._messages:
                await asyncio.sleep(0)  # all else that is due has its turn between two messages
            while not self._messages:
                self._waiting = self._loop.create_future()
                await self._waiting
            self._parts.extend(self._messages.popleft())
        return self._parts.popleft()

    def _run(self) -> None:
        parts: list[bytes] = []
        with suppress(RuntimeError):  # the loop is closed: nobody reads any more
            while parts != [b""]:
                parts = _message(self._stream)
                self._loop.call_soon_threadsafe(self._take, parts)

    def _take(self, parts: list[bytes]) -> None:
        self._messages.append(parts)
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


def _message(stream: BinaryIO) -> list[bytes]:
    """The lines of the next message and its content; an empty part last where the stream ends."""
    parts: list[bytes] = []
    length = 0
    while True:
        line = stream.readline()
        parts.append(line)
        if not line:
            return parts
        found = None if length else _LENGTH.fullmatch(line)
        if found is not None:
            length = int(found[1])
        elif length and not line.strip():
            parts.append(stream.read(length))
            return parts
