"""Who sits before the client and does anything, sound and broken: opens, types, asks, cancels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from fuzz_checks import FOLDER
from fuzz_client import Client
from fuzz_documents import Book, Json, Text
from fuzz_mutations import mutated

from device_lens.syntax.position import LineIndex

_JUNK: list[Any] = [
    None, -1, 0, 1.5, 2**31, 2**70, "", "x", [], {}, [[]], True, "file:///%zz", "untitled:",
    {"line": -1, "character": -1}, {"start": {"line": 5, "character": 0}}, "\ud800", "a" * 3000,
]  # fmt: skip
_STRANGERS = ["file:///nowhere/unknown.py", "untitled:Untitled-9", "git:/x.py?{}", "", "file://",
              "vscode-notebook-cell:/lost.ipynb#W0", "http://x/y.py"]  # fmt: skip
_NAMES = ["main.py", "helper.py", "é 😀.py", "a%20b.py"]
_REQUESTS = ["hover", "codeAction", "inlayHint", "diagnostic", "foldingRange"]


class User:
    """Acts through a client."""

    def __init__(self, client: Client, random: Random, corpus: Sequence[str]) -> None:
        self._client = client
        self._documents = client.documents
        self._random = random
        self._corpus = corpus

    def act(self) -> None:
        """Does one thing."""
        actions = [
            self._open, self._edit, self._edit, self._edit, self._ask, self._ask, self._ask,
            self._close, self._save, self._cancel, self._break, self._ask_stranger,
            self._open_book, self._edit_book, self._edit_book, self._other,
        ]  # fmt: skip
        self._random.choice(actions)()

    def ask_about_all(self) -> None:
        """Asks for everything once more, of the texts as they are now."""
        for text in list(self._documents.texts()):
            for name in ("diagnostic", "hover", "inlayHint", "codeAction"):
                self._ask_about(text, name)

    def _open(self) -> None:
        random = self._random
        uri = f"file://{FOLDER}/{random.choice(_NAMES)}"
        text = Text(uri, LineIndex(mutated(random, self._corpus)), random.randint(0, 5))
        self._documents.files[uri] = text
        self._client.notify("textDocument/didOpen", {"textDocument": text.item})

    def _edit(self) -> None:
        text = self._documents.some_text(self._random)
        if text is not None and not self._documents.is_cell(text):
            self._send_changes(text, self._changes(text), text.version)

    def _changes(self, text: Text) -> list[Json]:
        return text.changed(self._random, self._corpus, self._client.encoding)

    def _send_changes(self, text: Text, changes: list[Json], version: int) -> None:
        identifier = {"uri": text.uri, "version": version}
        params = {"textDocument": identifier, "contentChanges": changes}
        self._client.notify("textDocument/didChange", params)

    def _ask(self) -> None:
        text = self._documents.some_text(self._random)
        if text is not None:
            self._ask_about(text, self._random.choice(_REQUESTS))

    def _ask_about(self, text: Text, name: str) -> None:
        random, encoding = self._random, self._client.encoding
        start, end = sorted((text.some_offset(random), text.some_offset(random)))
        params: Json = {"textDocument": {"uri": text.uri}}
        if name == "hover":
            params["position"] = text.at(start, encoding)
            if random.random() < 0.1:
                params["position"] = {"line": 10**6, "character": 2**31 - 1}
        elif name != "diagnostic":
            params["range"] = {"start": text.at(start, encoding), "end": text.at(end, encoding)}
        if name == "codeAction":
            params["context"] = {"diagnostics": []}
        if name == "diagnostic" and random.random() < 0.3:
            params["previousResultId"] = random.choice(["", "nonsense"])
        self._client.request(f"textDocument/{name}", params, text)

    def _close(self) -> None:
        random, files, books = self._random, self._documents.files, self._documents.books
        if books and random.random() < 0.3:
            book = books.pop(random.choice(list(books)))
            cells = [{"uri": each.uri} for each in book.cells]
            params = {"notebookDocument": {"uri": book.uri}, "cellTextDocuments": cells}
            self._client.notify("notebookDocument/didClose", params)
        elif files:
            uri = random.choice(list(files))
            del files[uri]
            self._client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def _save(self) -> None:
        text = self._documents.some_text(self._random)
        if text is not None:
            self._client.notify("textDocument/didSave", {"textDocument": {"uri": text.uri}})

    def _cancel(self) -> None:
        self._client.notify("$/cancelRequest", {"id": self._client.some_request(self._random)})

    def _other(self) -> None:
        """What is about no document that is open."""
        random, client = self._random, self._client
        file = f"file://{FOLDER}/{random.choice(_NAMES)}"
        changes = [{"uri": file, "type": random.randint(1, 3)}]
        choice = random.randrange(5)
        if choice == 0:
            client.notify("workspace/didChangeWatchedFiles", {"changes": changes})
        elif choice == 1:
            client.notify("workspace/didChangeConfiguration", {"settings": random.choice(_JUNK)})
        elif choice == 2:
            folder = {"uri": f"file://{FOLDER}/sub", "name": "sub"}
            event = {"added": [folder], "removed": [folder]}
            client.notify("workspace/didChangeWorkspaceFolders", {"event": event})
        elif choice == 3:
            client.request("workspace/diagnostic", {"previousResultIds": []})
        else:
            rule = random.choice([*_JUNK, {"rule": "device-mismatch"}])
            client.request("deviceLens/rulePage", rule)

    def _ask_stranger(self) -> None:
        """A sound message about what is not open."""
        stranger = Text(self._random.choice(_STRANGERS), LineIndex("x = 1\n"))
        if self._random.random() < 0.5:
            self._ask_about(stranger, self._random.choice(_REQUESTS))
        else:
            self._send_changes(stranger, self._changes(stranger), 1)

    def _break(self) -> None:
        """A message with something wrong in it. What it may have changed is opened anew."""
        random, client = self._random, self._client
        files = list(self._documents.files.values())
        text = random.choice(files) if files else Text(_STRANGERS[0], LineIndex(""))
        message: Json = {"jsonrpc": "2.0", **random.choice(self._sound_messages(text))}
        _spoil(random, message)
        client.send(message)
        if text.uri in self._documents.files:
            client.notify("textDocument/didClose", {"textDocument": {"uri": text.uri}})
            client.notify("textDocument/didOpen", {"textDocument": text.item})
            text.version += 1000
            self._send_changes(text, [{"text": text.lines.text}], text.version)

    def _sound_messages(self, text: Text) -> list[Json]:
        """Messages about a text; those that want an answer have no number that is waited for."""
        where = {end: text.at(0, self._client.encoding) for end in ("start", "end")}
        identifier = {"uri": text.uri, "version": 3}
        number = f"b{self._client.new_number()}"
        return [
            {"method": "textDocument/didChange", "params": {
                "textDocument": identifier, "contentChanges": [{"range": where, "text": "x"}]}},
            {"id": number, "method": "textDocument/hover", "params": {
                "textDocument": identifier, "position": where["start"]}},
            {"id": number, "method": "textDocument/codeAction", "params": {
                "textDocument": identifier, "range": where, "context": {"diagnostics": []}}},
            {"id": number, "method": "textDocument/diagnostic",
             "params": {"textDocument": identifier}},
            {"id": number, "method": "codeAction/resolve",
             "params": {"title": "x", "data": {"uri": text.uri}}},
            {"id": number, "method": "inlayHint/resolve",
             "params": {"position": where["start"], "label": "x", "data": {"uri": text.uri}}},
            {"id": number, "method": "workspace/executeCommand",
             "params": {"command": "deviceLens.measure", "arguments": [1]}},
            {"method": "deviceLens/environment", "params": {"trusted": False}},
            {"method": "textDocument/didSave", "params": {"textDocument": identifier}},
        ]  # fmt: skip

    def _open_book(self) -> None:
        random = self._random
        uri = f"file://{FOLDER}/book{random.randrange(2)}.ipynb"
        if uri in self._documents.books:
            return
        book = self._documents.books[uri] = Book(uri)
        count = random.randint(0, 4)
        numbers = self._numbers()
        book.cells = [book.new_cell(random, self._corpus, next(numbers)) for _ in range(count)]
        notebook = {"uri": uri, "notebookType": "jupyter-notebook", "version": 1,
                    "cells": [each.cell for each in book.cells]}  # fmt: skip
        items = [each.item for each in book.cells]
        params = {"notebookDocument": notebook, "cellTextDocuments": items}
        self._client.notify("notebookDocument/didOpen", params)

    def _edit_book(self) -> None:
        random, books = self._random, self._documents.books
        if not books:
            return
        book = random.choice(list(books.values()))
        book.version += 1
        if book.cells and random.random() < 0.5:
            cell = random.choice(book.cells)
            changes = self._changes(cell)
            content = {"document": {"uri": cell.uri, "version": cell.version}, "changes": changes}
            cells: Json = {"textContent": [content]}
        else:
            cells = {"structure": book.restructured(random, self._corpus, self._numbers())}
        identifier = {"uri": book.uri, "version": book.version}
        params = {"notebookDocument": identifier, "change": {"cells": cells}}
        self._client.notify("notebookDocument/didChange", params)

    def _numbers(self) -> Iterator[int]:
        while True:
            yield self._client.new_number()


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
