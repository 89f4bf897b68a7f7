"""Open documents and notebooks, as immutable versions. Text changes are applied here, with the
line ends of the protocol (`\\n`, `\\r\\n`, `\\r` and no others) and in the client's encoding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from lsprotocol import types
from pygls.uris import to_fs_path

from device_lens.syntax.position import Encoding, LineIndex, Position

CODE = types.NotebookCellKind.Code


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """One version of a text document: a file, or a cell of a notebook."""

    uri: str
    version: int
    language: str
    lines: LineIndex


@dataclass(frozen=True, slots=True)
class CellReference:
    """A cell of a notebook by the URI of its text."""

    uri: str
    kind: types.NotebookCellKind


@dataclass(frozen=True, slots=True, eq=False)
class Notebook:
    """One version of a notebook: its cells in order."""

    uri: str
    version: int
    cells: tuple[CellReference, ...]


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A file or notebook at one moment: what a request works on. Two views are the same version
    exactly when they are the same object."""

    path: str
    uri: str
    documents: tuple[Document | None, ...]
    """The file's text, or a notebook's cells in order, None for those that are not Python."""
    is_notebook: bool

    def document(self, uri: str) -> Document | None:
        """The part of the view with that URI."""
        return next((each for each in self.documents if each and each.uri == uri), None)

    def cell_number(self, uri: str) -> int:
        """The number of a cell among cells of every kind."""
        for number, document in enumerate(self.documents):
            if document is not None and document.uri == uri:
                return number
        raise KeyError(uri)


class Documents:
    """What is open. Belongs to the event loop; views of it may go anywhere."""

    def __init__(self) -> None:
        self.encoding: Encoding = "utf-16"
        self._documents: dict[str, Document] = {}
        self._notebooks: dict[str, Notebook] = {}
        self._notebook_of: dict[str, str] = {}
        self._views: dict[str, View] = {}

    def open(self, item: types.TextDocumentItem) -> None:
        """A document as the client has it; an earlier one of that URI is replaced."""
        self._documents[item.uri] = Document(
            item.uri, item.version, item.language_id, LineIndex(item.text)
        )
        self._forget(item.uri)

    def change(
        self,
        identifier: types.VersionedTextDocumentIdentifier,
        changes: Iterable[types.TextDocumentContentChangeEvent],
    ) -> None:
        """Applies changes, each to the text that the one before it left. Unknown URIs are none
        of ours."""
        document = self._documents.get(identifier.uri)
        if document is None:
            return
        text = document.lines
        for change in changes:
            text = LineIndex(changed_text(text, change, self.encoding))
        self._documents[identifier.uri] = replace(document, version=identifier.version, lines=text)
        self._forget(identifier.uri)

    def close(self, uri: str) -> None:
        self._forget(uri)
        self._documents.pop(uri, None)

    def open_notebook(self, params: types.DidOpenNotebookDocumentParams) -> None:
        for item in params.cell_text_documents:
            self.open(item)
        found = params.notebook_document
        self._set_notebook(Notebook(found.uri, found.version, _references(found.cells)))

    def change_notebook(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """Applies structural changes first, then changes of texts, as the protocol has it."""
        notebook = self._notebooks.get(params.notebook_document.uri)
        if notebook is None:
            return
        cells = list(notebook.cells)
        change = params.change.cells
        if change is not None and change.structure is not None:
            for item in change.structure.did_open or ():
                self.open(item)
            array = change.structure.array
            stop = array.start + array.delete_count
            cells[array.start : stop] = _references(array.cells or ())
        if change is not None:
            kinds = {cell.document: cell.kind for cell in change.data or ()}
            cells = [replace(cell, kind=kinds.get(cell.uri, cell.kind)) for cell in cells]
        version = params.notebook_document.version
        self._set_notebook(Notebook(notebook.uri, version, tuple(cells)))
        if change is not None and change.structure is not None:
            for closed in change.structure.did_close or ():
                self.close(closed.uri)
        for text in (change.text_content or ()) if change is not None else ():
            self.change(text.document, text.changes)

    def close_notebook(self, params: types.DidCloseNotebookDocumentParams) -> None:
        notebook = self._notebooks.pop(params.notebook_document.uri, None)
        self._views.pop(params.notebook_document.uri, None)
        for closed in params.cell_text_documents:
            self._documents.pop(closed.uri, None)
        for cell in notebook.cells if notebook is not None else ():
            self._notebook_of.pop(cell.uri, None)

    def view(self, uri: str) -> View | None:
        """The file or notebook that a URI belongs to, or None where it is not open."""
        unit = self._notebook_of.get(uri, uri)
        view = self._views.get(unit)
        if view is None:
            view = self._make_view(unit)
            if view is not None:
                self._views[unit] = view
        return view

    def views(self) -> Iterator[View]:
        """Everything open, each file and notebook once."""
        units = dict.fromkeys(self._notebook_of.get(uri, uri) for uri in self._documents)
        for unit in dict.fromkeys([*units, *self._notebooks]):
            view = self.view(unit)
            if view is not None:
                yield view

    def _set_notebook(self, notebook: Notebook) -> None:
        old = self._notebooks.get(notebook.uri)
        for cell in old.cells if old is not None else ():
            self._notebook_of.pop(cell.uri, None)
        self._notebooks[notebook.uri] = notebook
        for cell in notebook.cells:
            self._notebook_of[cell.uri] = notebook.uri
        self._views.pop(notebook.uri, None)

    def _forget(self, uri: str) -> None:
        self._views.pop(self._notebook_of.get(uri, uri), None)

    def _make_view(self, unit: str) -> View | None:
        notebook = self._notebooks.get(unit)
        if notebook is not None:
            cells = tuple(self._python_cell(cell) for cell in notebook.cells)
            return View(path_of(unit), unit, cells, True)
        document = self._documents.get(unit)
        if document is None:
            return None
        return View(path_of(unit), unit, (document,), False)

    def _python_cell(self, cell: CellReference) -> Document | None:
        document = self._documents.get(cell.uri)
        if document is None or cell.kind is not CODE or document.language != "python":
            return None
        return document


def changed_text(
    text: LineIndex, change: types.TextDocumentContentChangeEvent, encoding: Encoding
) -> str:
    """The text after one change; places outside it are clamped into it."""
    if isinstance(change, types.TextDocumentContentChangeWholeDocument):
        return change.text
    start = text.offset(position_from(text, change.range.start, encoding))
    end = text.offset(position_from(text, change.range.end, encoding))
    start, end = min(start, end), max(start, end)
    return text.text[:start] + change.text + text.text[end:]


def position_from(lines: LineIndex, position: types.Position, encoding: Encoding) -> Position:
    """A position of the client in code points."""
    if position.line >= len(lines.lines):
        return lines.end
    return lines.from_units(position.line, position.character, encoding)


def path_of(uri: str) -> str:
    """The path of a file, or the URI itself for what is on no disk."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return path or uri


def _references(cells: Iterable[types.NotebookCell]) -> tuple[CellReference, ...]:
    return tuple(CellReference(cell.document, cell.kind) for cell in cells)
