"""A client: it knows what it has open, and holds every answer of the server against it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from fuzz_checks import FOLDER
from fuzz_documents import Documents, Json, Text

from device_lens.syntax.position import Encoding, LineIndex

_EXPECTED = {-32800, -32801, -32802, -32803, -32601}
"""Cancelled, modified, cancelled by the server, failed; and no such method."""


@dataclass
class _Asked:
    """A request, and the text of its document when it was sent."""

    method: str
    text: Text | None
    lines: LineIndex | None


class Client:
    """Sends to a reader, and is the server's writer."""

    def __init__(self, reader: asyncio.StreamReader, random: Random) -> None:
        self.complaints: list[str] = []
        self.waiting: dict[int, str] = {}
        self.encoding: Encoding = "utf-16"
        self.documents = Documents()
        self._reader = reader
        self._random = random
        self._asked: dict[int, _Asked] = {}
        self._held: list[Json] = []
        self._made = 0
        self._answer = asyncio.Event()

    # What the server writes

    def write(self, data: bytes) -> None:
        message = json.loads(data.partition(b"\r\n\r\n")[2])
        if "method" in message:
            if "id" in message:
                self._held.append(self._reply(message))
                if self._random.random() < 0.8:
                    self.release()
            elif message["method"] == "textDocument/publishDiagnostics":
                self._check_push(message["params"])
            return
        asked = self._asked.pop(message.get("id"), None)
        if asked is None:
            return  # the answer to a broken message
        self.waiting.pop(message.get("id"), None)
        self._answer.set()
        self._check_answer(asked, message)

    def close(self) -> None:
        """As a writer: nothing to close."""

    def release(self) -> None:
        """Sends the answers to the server's questions, in any order."""
        self._random.shuffle(self._held)
        held, self._held = self._held, []
        for each in held:
            self.send(each)

    def _reply(self, message: Json) -> Json:
        answer: Json = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "workspace/configuration":
            items = len(message["params"]["items"])
            return {**answer, "result": self._random.choice([[None] * items, [{}] * items, []])}
        if self._random.random() < 0.1:
            return {**answer, "error": {"code": -32601, "message": "no"}}
        return {**answer, "result": None}

    async def answered(self) -> None:
        """Waits until no request is left without an answer."""
        self.release()
        while self.waiting:
            self._answer.clear()
            await self._answer.wait()
            self.release()

    # What the client writes

    def initialize(self) -> None:
        random = self._random
        capabilities: Json = {
            "general": {},
            "textDocument": {},
            "workspace": {"configuration": True},
        }
        self.encoding = random.choice(["utf-8", "utf-16", "utf-32"])
        capabilities["general"]["positionEncodings"] = [self.encoding]
        if random.random() < 0.5:
            capabilities["textDocument"]["diagnostic"] = {"dynamicRegistration": False}
        if random.random() < 0.5:
            capabilities["textDocument"]["hover"] = {"contentFormat": ["markdown"]}
        folders = [{"uri": f"file://{FOLDER}", "name": "fuzz"}]
        params: Json = {"processId": None, "rootUri": None, "capabilities": capabilities}
        params["workspaceFolders"] = random.choice([folders, None])
        self.request("initialize", params)
        self.notify("initialized", {})

    def request(self, method: str, params: Any, text: Text | None = None) -> None:
        number = self.new_number()
        self._asked[number] = _Asked(method, text, None if text is None else text.lines)
        if method != "workspace/diagnostic":  # is answered when there is news
            self.waiting[number] = method
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    def notify(self, method: str, params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def send(self, message: Any) -> None:
        body = json.dumps(message).encode()
        self._reader.feed_data(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def new_number(self) -> int:
        """A number that nothing else has."""
        self._made += 1
        return self._made

    def some_request(self, random: Random) -> int | str:
        """The number of a request that waits, or of none."""
        return random.choice([*self._asked, 10**6]) if self._asked else "x"

    # What must hold of answers

    def _check_answer(self, asked: _Asked, message: Json) -> None:
        error = message.get("error")
        if error is not None:
            if error["code"] not in _EXPECTED:
                self.complaints.append(f"{asked.method} answered {str(error)[:300]}")
            return
        text = asked.text
        if text is None or text.lines is not asked.lines:
            return
        if text not in list(self.documents.texts()):
            return
        for where in _ranges(message.get("result")):
            self._check_range(text, where, asked.method)

    def _check_push(self, params: Json) -> None:
        every = self.documents.texts()
        text = next((each for each in every if each.uri == params["uri"]), None)
        if text is None or not text.counts or params.get("version") != text.version:
            return
        for diagnostic in params["diagnostics"]:
            self._check_range(text, diagnostic["range"], "publishDiagnostics")

    def _check_range(self, text: Text, where: Json, what: str) -> None:
        start, end = where["start"], where["end"]
        ordered = (start["line"], start["character"]) <= (end["line"], end["character"])
        inside = all(text.has(place, self.encoding) for place in (start, end))
        if not ordered or not inside:
            beginning = text.lines.text[:200]
            self.complaints.append(f"{what}: {where} is no range of {text.uri} ({beginning!r})")


def _ranges(result: Any) -> Iterator[Json]:
    """The ranges of an answer that are in the document that was asked about."""
    if isinstance(result, dict):
        where = result.get("range")
        if isinstance(where, dict):
            yield where
        if isinstance(result.get("position"), dict):
            yield {"start": result["position"], "end": result["position"]}
        for each in result.get("items") or ():
            yield from _ranges(each)
    elif isinstance(result, list):
        for each in result:
            yield from _ranges(each)
