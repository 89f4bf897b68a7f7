"""A client that does anything: it knows what it has open, and holds every answer against it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from fuzz_checks import FOLDER
from fuzz_mutations import mutated

from device_lens.syntax.position import Encoding, LineIndex, Position

Json = dict[str, Any]
_JUNK: list[Any] = [
    None, -1, 0, 1.5, 2**31, 2**70, "", "x", [], {}, [[]], True, "file:///%zz", "untitled:",
    {"line": -1, "character": -1}, {"start": {"line": 5, "character": 0}}, "\ud800", "a" * 3000,
]  # fmt: skip
_STRANGERS = ["file:///nowhere/unknown.py", "untitled:Untitled-9", "git:/x.py?{}", "", "file://",
              "vscode-notebook-cell:/lost.ipynb#W0", "http://x/y.py"]  # fmt: skip
_NAMES = ["main.py", "helper.py", "é 😀.py", "a%20b.py"]
_REQUESTS = ["hover", "codeAction", "inlayHint", "diagnostic", "foldingRange"]
_EXPECTED = {-32800, -32801, -32802, -32803, -32601}
"""Cancelled, modified, cancelled by the server, failed; and no such method."""


@dataclass(eq=False)
class Text:
    """A document that the client has open."""

    uri: str
    lines: LineIndex
    version: int = 1
    counts: bool = True
    """Whether each of its texts had a version of its own."""


@dataclass(eq=False)
class Book:
    """A notebook that the client has open. Cells that are no code have no text of Python."""

    uri: str
    cells: list[Text] = field(default_factory=list)
    version: int = 1


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
        self._reader = reader
        self._random = random
        self._files: dict[str, Text] = {}
        self._books: dict[str, Book] = {}
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
            self._send(each)

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

    # What the client does

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

    def act(self, random: Random, corpus: Sequence[str]) -> None:
        """Does one thing."""
        actions = [
            self._open, self._edit, self._edit, self._edit, self._ask, self._ask, self._ask,
            self._close, self._save, self._cancel, self._break, self._strange, self._open_book,
            self._edit_book, self._edit_book, self._other,
        ]  # fmt: skip
        random.choice(actions)(random, corpus)

    def texts(self) -> Iterator[Text]:
        """Everything open, cells of notebooks too."""
        yield from self._files.values()
        for book in self._books.values():
            yield from book.cells

    def ask_about_all(self) -> None:
        for text in list(self.texts()):
            for name in ("diagnostic", "hover", "inlayHint", "codeAction"):
                self._ask_about(text, name, self._random)

    def request(self, method: str, params: Any, text: Text | None = None) -> int:
        self._made += 1
        self._asked[self._made] = _Asked(method, text, None if text is None else text.lines)
        if method != "workspace/diagnostic":  # is answered when there is news
            self.waiting[self._made] = method
        self._send({"jsonrpc": "2.0", "id": self._made, "method": method, "params": params})
        return self._made

    def notify(self, method: str, params: Any) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def _send(self, message: Any) -> None:
        body = json.dumps(message).encode()
        self._reader.feed_data(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def _open(self, random: Random, corpus: Sequence[str]) -> None:
        uri = f"file://{FOLDER}/{random.choice(_NAMES)}"
        text = Text(uri, LineIndex(mutated(random, corpus)), random.randint(0, 5))
        self._files[uri] = text
        self.notify("textDocument/didOpen", {"textDocument": self._item(text)})

    def _item(self, text: Text) -> Json:
        return {"uri": text.uri, "languageId": "python", "version": text.version,
                "text": text.lines.text}  # fmt: skip

    def _edit(self, random: Random, corpus: Sequence[str]) -> None:
        text = self._any(random)
        if text is None or any(text in book.cells for book in self._books.values()):
            return
        changes = self._changes(random, corpus, text)
        identifier = {"uri": text.uri, "version": text.version}
        self.notify(
            "textDocument/didChange", {"textDocument": identifier, "contentChanges": changes}
        )

    def _changes(self, random: Random, corpus: Sequence[str], text: Text) -> list[Json]:
        """Changes of a text, applied here as well."""
        changes: list[Json] = []
        for _ in range(random.choice([1, 1, 1, 2, 4])):
            if random.random() < 0.15:
                new = mutated(random, corpus)
                changes.append({"text": new})
                text.lines = LineIndex(new)
                continue
            start, end = sorted((self._offset(random, text), self._offset(random, text)))
            end = min(end, start + random.choice([0, 0, 1, 40]))
            new = random.choice(["x", "(", "\n", "😀", "\r", "", " = torch.ones(3)\n", "'''"])
            where = {"start": self._at(text, start), "end": self._at(text, end)}
            changes.append({"range": where, "text": new})
            # Inside a line end there is no position: the client has none to send either.
            first = text.lines.offset(text.lines.position(start))
            last = text.lines.offset(text.lines.position(end))
            text.lines = LineIndex(text.lines.text[:first] + new + text.lines.text[last:])
        step = random.choice([1, 1, 1, 7, 0, -1])
        text.version += step
        text.counts &= step > 0
        return changes

    def _offset(self, random: Random, text: Text) -> int:
        return random.randint(0, len(text.lines.text))

    def _at(self, text: Text, offset: int) -> Json:
        position = text.lines.position(offset)
        units = text.lines.to_units(position, self.encoding)
        return {"line": position.line, "character": units}

    def _any(self, random: Random) -> Text | None:
        every = list(self.texts())
        return random.choice(every) if every else None

    def _ask(self, random: Random, corpus: Sequence[str]) -> None:
        text = self._any(random)
        if text is not None:
            self._ask_about(text, random.choice(_REQUESTS), random)

    def _ask_about(self, text: Text, name: str, random: Random) -> None:
        start, end = sorted((self._offset(random, text), self._offset(random, text)))
        params: Json = {"textDocument": {"uri": text.uri}}
        if name == "hover":
            params["position"] = self._at(text, start)
            if random.random() < 0.1:
                params["position"] = {"line": 10**6, "character": 2**31 - 1}
        elif name != "diagnostic":
            params["range"] = {"start": self._at(text, start), "end": self._at(text, end)}
        if name == "codeAction":
            params["context"] = {"diagnostics": []}
        if name == "diagnostic" and random.random() < 0.3:
            params["previousResultId"] = random.choice(["", "nonsense"])
        self.request(f"textDocument/{name}", params, text)

    def _close(self, random: Random, corpus: Sequence[str]) -> None:
        if self._books and random.random() < 0.3:
            book = self._books.pop(random.choice(list(self._books)))
            cells = [{"uri": each.uri} for each in book.cells]
            params = {"notebookDocument": {"uri": book.uri}, "cellTextDocuments": cells}
            self.notify("notebookDocument/didClose", params)
        elif self._files:
            uri = random.choice(list(self._files))
            del self._files[uri]
            self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def _save(self, random: Random, corpus: Sequence[str]) -> None:
        text = self._any(random)
        if text is not None:
            self.notify("textDocument/didSave", {"textDocument": {"uri": text.uri}})

    def _cancel(self, random: Random, corpus: Sequence[str]) -> None:
        number = random.choice([*self._asked, 10**6]) if self._asked else "x"
        self.notify("$/cancelRequest", {"id": number})

    def _other(self, random: Random, corpus: Sequence[str]) -> None:
        changes = [
            {"uri": f"file://{FOLDER}/{random.choice(_NAMES)}", "type": random.randint(1, 3)}
        ]
        choice = random.randrange(5)
        if choice == 0:
            self.notify("workspace/didChangeWatchedFiles", {"changes": changes})
        elif choice == 1:
            self.notify("workspace/didChangeConfiguration", {"settings": random.choice(_JUNK)})
        elif choice == 2:
            folder = {"uri": f"file://{FOLDER}/sub", "name": "sub"}
            event = {"added": [folder], "removed": [folder]}
            self.notify("workspace/didChangeWorkspaceFolders", {"event": event})
        elif choice == 3:
            self.request("workspace/diagnostic", {"previousResultIds": []})
        else:
            self.request(
                "deviceLens/rulePage", random.choice([*_JUNK, {"rule": "device-mismatch"}])
            )

    def _strange(self, random: Random, corpus: Sequence[str]) -> None:
        """A sound message about what is not open."""
        stranger = Text(random.choice(_STRANGERS), LineIndex("x = 1\n"))
        if random.random() < 0.5:
            self._ask_about(stranger, random.choice(_REQUESTS), random)
        else:
            changes = self._changes(random, corpus, stranger)
            identifier = {"uri": stranger.uri, "version": 1}
            self.notify(
                "textDocument/didChange", {"textDocument": identifier, "contentChanges": changes}
            )

    def _break(self, random: Random, corpus: Sequence[str]) -> None:
        """A message with something wrong in it. What it may have changed is opened anew."""
        files = list(self._files.values())
        text = random.choice(files) if files else Text(_STRANGERS[0], LineIndex(""))
        where = {"start": self._at(text, 0), "end": self._at(text, 0)}
        identifier = {"uri": text.uri, "version": 3}
        message: Json = {"jsonrpc": "2.0", **random.choice([
            {"method": "textDocument/didChange", "params": {
                "textDocument": identifier, "contentChanges": [{"range": where, "text": "x"}]}},
            {"id": f"b{self._made}", "method": "textDocument/hover", "params": {
                "textDocument": identifier, "position": where["start"]}},
            {"id": f"b{self._made}", "method": "textDocument/codeAction", "params": {
                "textDocument": identifier, "range": where, "context": {"diagnostics": []}}},
            {"id": f"b{self._made}", "method": "textDocument/diagnostic",
             "params": {"textDocument": identifier}},
            {"id": f"b{self._made}", "method": "codeAction/resolve",
             "params": {"title": "x", "data": {"uri": text.uri}}},
            {"id": f"b{self._made}", "method": "inlayHint/resolve",
             "params": {"position": where["start"], "label": "x", "data": {"uri": text.uri}}},
            {"id": f"b{self._made}", "method": "workspace/executeCommand",
             "params": {"command": "deviceLens.measure", "arguments": [1]}},
            {"method": "deviceLens/environment", "params": {"trusted": False}},
            {"method": "textDocument/didSave", "params": {"textDocument": identifier}},
        ])}  # fmt: skip
        _spoil(random, message)
        self._send(message)
        if text.uri in self._files:
            self.notify("textDocument/didClose", {"textDocument": {"uri": text.uri}})
            self.notify("textDocument/didOpen", {"textDocument": self._item(text)})
            text.version += 1000
            self._edit_nothing(text)

    def _edit_nothing(self, text: Text) -> None:
        identifier = {"uri": text.uri, "version": text.version}
        changes = [{"text": text.lines.text}]
        self.notify(
            "textDocument/didChange", {"textDocument": identifier, "contentChanges": changes}
        )

    def _open_book(self, random: Random, corpus: Sequence[str]) -> None:
        uri = f"file://{FOLDER}/book{random.randrange(2)}.ipynb"
        if uri in self._books:
            return
        book = self._books[uri] = Book(uri)
        book.cells = [self._cell(random, corpus, book) for _ in range(random.randint(0, 4))]
        notebook = {"uri": uri, "notebookType": "jupyter-notebook", "version": 1,
                    "cells": [_cell_of(each) for each in book.cells]}  # fmt: skip
        items = [self._item(each) for each in book.cells]
        self.notify(
            "notebookDocument/didOpen", {"notebookDocument": notebook, "cellTextDocuments": items}
        )

    def _cell(self, random: Random, corpus: Sequence[str], book: Book) -> Text:
        self._made += 1
        path = book.uri.removeprefix("file://")
        uri = f"vscode-notebook-cell://{path}#W{self._made}"
        return Text(uri, LineIndex(mutated(random, corpus)[:600]))

    def _edit_book(self, random: Random, corpus: Sequence[str]) -> None:
        if not self._books:
            return
        book = random.choice(list(self._books.values()))
        book.version += 1
        if book.cells and random.random() < 0.5:
            cell = random.choice(book.cells)
            changes = self._changes(random, corpus, cell)
            content = {"document": {"uri": cell.uri, "version": cell.version}, "changes": changes}
            cells: Json = {"textContent": [content]}
        else:
            cells = {"structure": self._restructured(random, corpus, book)}
        identifier = {"uri": book.uri, "version": book.version}
        params = {"notebookDocument": identifier, "change": {"cells": cells}}
        self.notify("notebookDocument/didChange", params)

    def _restructured(self, random: Random, corpus: Sequence[str], book: Book) -> Json:
        start = random.randint(0, len(book.cells))
        stop = min(len(book.cells), start + random.randint(0, 2))
        gone = book.cells[start:stop]
        new = [self._cell(random, corpus, book) for _ in range(random.randint(0, 2))]
        if gone and random.random() < 0.3:
            new.append(gone.pop())  # moved within what is replaced
        array = {"start": start, "deleteCount": stop - start, "cells": [_cell_of(c) for c in new]}
        opened = [self._item(each) for each in new if each not in book.cells]
        book.cells[start:stop] = new
        closed = [{"uri": each.uri} for each in gone]
        return {"array": array, "didOpen": opened, "didClose": closed}

    # What must hold of answers

    def _check_answer(self, asked: _Asked, message: Json) -> None:
        error = message.get("error")
        if error is not None:
            if error["code"] not in _EXPECTED:
                self._complain(f"{asked.method} answered {str(error)[:300]}")
            return
        text = asked.text
        if text is None or text.lines is not asked.lines or text not in list(self.texts()):
            return
        for where in _ranges(message.get("result")):
            self._check_range(text, where, asked.method)

    def _check_push(self, params: Json) -> None:
        text = next((each for each in self.texts() if each.uri == params["uri"]), None)
        if text is None or not text.counts or params.get("version") != text.version:
            return
        for diagnostic in params["diagnostics"]:
            self._check_range(text, diagnostic["range"], "publishDiagnostics")

    def _check_range(self, text: Text, where: Json, what: str) -> None:
        start, end = where["start"], where["end"]
        ordered = (start["line"], start["character"]) <= (end["line"], end["character"])
        inside = all(self._is_inside(text, place) for place in (start, end))
        if not ordered or not inside:
            self._complain(f"{what}: {where} is no range of {text.uri} ({text.lines.text[:200]!r})")

    def _is_inside(self, text: Text, place: Json) -> bool:
        line = text.lines.line(place["line"])
        last = text.lines.to_units(Position(place["line"], len(line)), self.encoding)
        return place["line"] < len(text.lines.lines) and place["character"] <= last

    def _complain(self, sentence: str) -> None:
        self.complaints.append(sentence)


def _cell_of(cell: Text) -> Json:
    return {"kind": 2, "document": cell.uri}


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


def _spoil(random: Random, message: Json) -> None:
    """Makes one thing in a message another, or takes it away."""
    holder: Any = message
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        keys = [key for key in keys if key != "jsonrpc"]
        if not keys:
            return
        key = random.choice(keys)
        inner = holder[key]
        if isinstance(inner, dict | list) and inner and random.random() < 0.75:
            holder = inner
            continue
        if random.random() < 0.3 and isinstance(holder, dict):
            del holder[key]
        else:
            holder[key] = random.choice(_JUNK)
        return
