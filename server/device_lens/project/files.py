"""The texts that count: what the editor holds, else what the disk holds, parsed once each."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from weakref import ReferenceType, ref

from device_lens.project.reading import (
    FileProblem,
    Stamp,
    decode,
    read_bytes,
    stamp_of,
    state_of,
)
from device_lens.syntax import resting
from device_lens.syntax.notebook import (
    NotebookProblem,
    NotebookSource,
    notebook_of_texts,
    parse_notebook,
    read_notebook,
)
from device_lens.syntax.source import SourceFile, parse


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """A document as the editor holds it: a text, or a notebook's cells."""

    version: int
    content: str | NotebookSource


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The open documents at one moment, by path. Never changes."""

    documents: Mapping[str, OpenDocument] = field(default_factory=lambda: MappingProxyType({}))

    def version(self, path: str) -> int | None:
        """The version of an open document; None for any other."""
        document = self.documents.get(path)
        return None if document is None else document.version


class FileStore:
    """The open documents. Changed on one thread; its snapshots may be read on any."""

    def __init__(self) -> None:
        self._snapshot = Snapshot()

    def snapshot(self) -> Snapshot:
        """The documents as they are now."""
        return self._snapshot

    def open(self, path: str, version: int, text: str) -> None:
        """A document was opened."""
        self._put(path, OpenDocument(version, text))

    def change(self, path: str, version: int, text: str) -> None:
        """A document's text changed; one that is not open is taken to be."""
        self._put(path, OpenDocument(version, text))

    def put_notebook(self, path: str, version: int, cells: Sequence[str | None]) -> None:
        """A notebook was opened or changed; cells that are not code are None."""
        self._put(path, OpenDocument(version, notebook_of_texts(cells)))

    def close(self, path: str) -> None:
        """A document was closed: from now on the disk counts."""
        documents = dict(self._snapshot.documents)
        documents.pop(path, None)
        self._snapshot = Snapshot(MappingProxyType(documents))

    def _put(self, path: str, document: OpenDocument) -> None:
        documents = {**self._snapshot.documents, path: document}
        self._snapshot = Snapshot(MappingProxyType(documents))


@dataclass(slots=True)
class _Entry:
    """A parse and what it was made from: a file's stamp, or an open document's content."""

    made_from: Stamp | str | NotebookSource | None
    result: SourceFile | FileProblem
    state: str = ""
    """What `state_of` says of the file on disk; empty for an open document."""


@dataclass(slots=True)
class _Former:
    """An entry that was let go, whose parse others may hold."""

    made_from: Stamp | str | NotebookSource | None
    result: ReferenceType[SourceFile]
    state: str


class ParseCache:
    """Parsed files, the least lately used let go first. For one thread at a time.

    A parse that somebody still holds is given again, whether or not it was let go: its nodes are
    what an analysis tells places by, so that two parses of one text must not meet.
    """

    def __init__(self, most_lines: int = 100_000, sparing: bool = False) -> None:
        """With `sparing`, functions of files that nobody edits rest until they are looked at."""
        self._sparing = sparing
        self._most_lines = most_lines
        self._lines = 0
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._former: dict[str, _Former] = {}

    def get(self, path: str, snapshot: Snapshot) -> SourceFile | FileProblem:
        """The file as the snapshot or else the disk has it. An edit costs what it touches."""
        document = snapshot.documents.get(path)
        origin = made_from(path, snapshot)
        known = self._entries.get(path) or self._held(path)
        if known is not None and known.made_from == origin and origin is not None:
            self._entries.move_to_end(path)
            return known.result
        previous = known.result if known and isinstance(known.result, SourceFile) else None
        state = ""
        if document is None:
            data = read_bytes(path)
            content, state = _content(path, data), state_of(data)
        else:
            content = document.content
        if previous is not None and document is not None and _is_from_disk(known):
            resting.wake(previous)  # it is edited from now on
        result = _parsed(path, content, previous)
        if self._sparing and document is None and previous is None:
            _let_rest(result)
        self._keep(path, _Entry(origin, result, state))
        return result

    def state(self, path: str) -> str:
        """The state that a file had when it was parsed; empty where the parse is forgotten or is
        that of an open document."""
        entry = self._entries.get(path)
        return "" if entry is None else entry.state

    def forget(self, path: str) -> None:
        """Read a file anew when it is next asked for."""
        self.let_go(path)
        former = self._former.get(path)
        if former is not None:
            former.made_from = None

    def holds(self, path: str) -> bool:
        """Whether a file is kept."""
        return path in self._entries

    def let_go(self, path: str) -> None:
        """Keeps a file for only as long as somebody else holds it."""
        entry = self._take_out(path)
        if entry is not None and isinstance(entry.result, SourceFile):
            self._former[path] = _Former(entry.made_from, ref(entry.result), entry.state)

    def _take_out(self, path: str) -> _Entry | None:
        entry = self._entries.pop(path, None)
        if entry is not None:
            self._lines -= _size(entry)
        return entry

    def _keep(self, path: str, entry: _Entry) -> None:
        self._take_out(path)
        self._former.pop(path, None)
        self._entries[path] = entry
        self._lines += _size(entry)
        while self._lines > self._most_lines and len(self._entries) > 1:
            self.let_go(next(iter(self._entries)))

    def _held(self, path: str) -> _Entry | None:
        """An entry that was let go while somebody held its parse, taken back."""
        former = self._former.pop(path, None)
        result = former.result() if former is not None else None
        if former is None or result is None:
            return None
        entry = _Entry(former.made_from, result, former.state)
        self._keep(path, entry)
        return entry


def made_from(path: str, snapshot: Snapshot) -> Stamp | str | NotebookSource | None:
    """What a file's parse is made from: the content of an open document, else the stamp of what
    the disk holds, None where it holds none."""
    document = snapshot.documents.get(path)
    return stamp_of(path) if document is None else document.content


def _is_from_disk(entry: _Entry | None) -> bool:
    return entry is not None and isinstance(entry.made_from, Stamp)


def _let_rest(result: SourceFile | FileProblem) -> None:
    if isinstance(result, SourceFile):
        resting.rest(result)


def _size(entry: _Entry) -> int:
    result = entry.result
    if not isinstance(result, SourceFile):
        return 1
    return len(result.starts) + result.lines.count


def _content(path: str, data: bytes | FileProblem) -> str | NotebookSource | FileProblem:
    """What the bytes of a file stand for."""
    read = data if isinstance(data, FileProblem) else decode(path, data)
    if isinstance(read, FileProblem) or not path.endswith(".ipynb"):
        return read if isinstance(read, FileProblem) else read.text
    notebook = read_notebook(read.text)
    if isinstance(notebook, NotebookProblem):
        return FileProblem(path, notebook.message)
    return notebook


def _parsed(
    path: str, content: str | NotebookSource | FileProblem, previous: SourceFile | None
) -> SourceFile | FileProblem:
    if isinstance(content, FileProblem):
        return content
    if isinstance(content, NotebookSource):
        return parse_notebook(path, content, previous)
    return parse(path, content, previous)
