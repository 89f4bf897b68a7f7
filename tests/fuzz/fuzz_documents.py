"""What a client has open: documents, notebooks, and the changes that it makes to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from fuzz_mutations import mutated

from device_lens.syntax.position import Encoding, LineIndex, Position

Json = dict[str, Any]


@dataclass(eq=False)
class Text:
    """A document that the client has open."""

    uri: str
    lines: LineIndex
    version: int = 1
    counts: bool = True
    """Whether each of its texts had a version of its own."""

    @property
    def item(self) -> Json:
        """The document as it is opened."""
        return {"uri": self.uri, "languageId": "python", "version": self.version,
                "text": self.lines.text}  # fmt: skip

    @property
    def cell(self) -> Json:
        """The cell of a notebook that this is the text of."""
        return {"kind": 2, "document": self.uri}

    def some_offset(self, random: Random) -> int:
        return random.randint(0, len(self.lines.text))

    def at(self, offset: int, encoding: Encoding) -> Json:
        """A position, as the client sends it."""
        position = self.lines.position(offset)
        units = self.lines.to_units(position, encoding)
        return {"line": position.line, "character": units}

    def has(self, place: Json, encoding: Encoding) -> bool:
        """Whether a position is one of this text."""
        line = self.lines.line(place["line"])
        last = self.lines.to_units(Position(place["line"], len(line)), encoding)
        return place["line"] < len(self.lines.lines) and place["character"] <= last

    def changed(self, random: Random, corpus: Sequence[str], encoding: Encoding) -> list[Json]:
        """Changes that are made here, for the server to make as well."""
        changes: list[Json] = []
        for _ in range(random.choice([1, 1, 1, 2, 4])):
            if random.random() < 0.15:
                new = mutated(random, corpus)
                changes.append({"text": new})
                self.lines = LineIndex(new)
                continue
            start, end = sorted((self.some_offset(random), self.some_offset(random)))
            end = min(end, start + random.choice([0, 0, 1, 40]))
            new = random.choice(["x", "(", "\n", "😀", "\r", "", " = torch.ones(3)\n", "'''"])
            where = {"start": self.at(start, encoding), "end": self.at(end, encoding)}
            changes.append({"range": where, "text": new})
            # Inside a line end there is no position: the client has none to send either.
            first = self.lines.offset(self.lines.position(start))
            last = self.lines.offset(self.lines.position(end))
            self.lines = LineIndex(self.lines.text[:first] + new + self.lines.text[last:])
        step = random.choice([1, 1, 1, 7, 0, -1])
        self.version += step
        self.counts &= step > 0
        return changes


@dataclass(eq=False)
class Book:
    """A notebook that the client has open. Cells that are no code have no text of Python."""

    uri: str
    cells: list[Text] = field(default_factory=list)
    version: int = 1

    def new_cell(self, random: Random, corpus: Sequence[str], number: int) -> Text:
        """A cell of this notebook, which is not in it yet; no two have the same number."""
        uri = f"vscode-notebook-cell://{self.uri.removeprefix('file://')}#W{number}"
        return Text(uri, LineIndex(mutated(random, corpus)[:600]))

    def restructured(self, random: Random, corpus: Sequence[str], numbers: Iterator[int]) -> Json:
        """Cells come, go and move here: the change, for the server to make as well."""
        start = random.randint(0, len(self.cells))
        stop = min(len(self.cells), start + random.randint(0, 2))
        gone = self.cells[start:stop]
        new = [self.new_cell(random, corpus, next(numbers)) for _ in range(random.randint(0, 2))]
        if gone and random.random() < 0.3:
            new.append(gone.pop())  # moved within what is replaced
        array = {"start": start, "deleteCount": stop - start, "cells": [each.cell for each in new]}
        opened = [each.item for each in new if each not in self.cells]
        self.cells[start:stop] = new
        closed = [{"uri": each.uri} for each in gone]
        return {"array": array, "didOpen": opened, "didClose": closed}


class Documents:
    """Everything that the client has open, by URI."""

    def __init__(self) -> None:
        self.files: dict[str, Text] = {}
        self.books: dict[str, Book] = {}

    def texts(self) -> Iterator[Text]:
        """All of it, cells of notebooks too."""
        yield from self.files.values()
        for book in self.books.values():
            yield from book.cells

    def is_cell(self, text: Text) -> bool:
        return any(text in book.cells for book in self.books.values())

    def some_text(self, random: Random) -> Text | None:
        every = list(self.texts())
        return random.choice(every) if every else None
