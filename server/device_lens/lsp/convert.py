"""Between the client's positions and ours: the only place where columns are not code points.

Inside, a notebook is one text; for the client each cell is a document.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.uris import from_fs_path

from device_lens.lsp.documents import Documents, View, position_from
from device_lens.syntax.cells import CellPosition
from device_lens.syntax.position import Encoding, LineIndex, Position, Range

if TYPE_CHECKING:
    from device_lens.ide.places import Lookup
    from device_lens.syntax.source import SourceFile

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+:")
_START = types.Range(types.Position(0, 0), types.Position(0, 0))


@dataclass(frozen=True, slots=True)
class Place:
    """A range of a document as the client knows it. `version` None: not open."""

    uri: str
    version: int | None
    range: types.Range


def to_client_range(lines: LineIndex, where: Range, encoding: Encoding) -> types.Range:
    """A range in the client's units."""
    return types.Range(
        _to_client(lines, where.start, encoding), _to_client(lines, where.end, encoding)
    )


def _to_client(lines: LineIndex, position: Position, encoding: Encoding) -> types.Position:
    return types.Position(position.line, lines.to_units(position, encoding))


def to_file_position(
    view: View, source: SourceFile, uri: str, position: types.Position, encoding: Encoding
) -> Position | None:
    """Where a position of a document is in the file's text; None for a cell that has no code."""
    document = view.document(uri)
    if document is None:
        return None
    found = position_from(document.lines, position, encoding)
    if source.cell_map is None:
        return found
    return source.cell_map.from_cell(CellPosition(view.cell_number(uri), found))


def to_file_range(
    view: View, source: SourceFile, uri: str, where: types.Range, encoding: Encoding
) -> Range | None:
    """Where a range of a document is in the file's text."""
    start = to_file_position(view, source, uri, where.start, encoding)
    end = to_file_position(view, source, uri, where.end, encoding)
    return None if start is None or end is None else Range(start, end)


def whole_range(view: View, source: SourceFile, uri: str) -> Range | None:
    """All of a document, as a range of the file's text."""
    document = view.document(uri)
    if document is None:
        return None
    if source.cell_map is None:
        return Range(Position(0, 0), source.lines.end)
    number = view.cell_number(uri)
    start = source.cell_map.from_cell(CellPosition(number, Position(0, 0)))
    end = source.cell_map.from_cell(CellPosition(number, document.lines.end))
    return None if start is None or end is None else Range(start, end)


def in_view(view: View, source: SourceFile, where: Range, encoding: Encoding) -> Place | None:
    """A range of a view's text as a range of one of its documents; None where it spans cells."""
    if source.cell_map is None:
        document = view.documents[0]
        inside = where
    else:
        cell = source.cell_map.range_to_cell(where)
        if cell is None or cell.cell >= len(view.documents):
            return None
        document = view.documents[cell.cell]
        inside = cell.range
    if document is None:
        return None
    found = to_client_range(document.lines, inside, encoding)
    return Place(document.uri, document.version, found)


class Places:
    """Finds places of any file for the client: open documents keep the client's own URI."""

    def __init__(self, documents: Documents, view: View, source: SourceFile, sources: Lookup):
        self.encoding = documents.encoding
        self.view = view
        self.source = source
        self._sources = sources
        self._open = {each.path: each for each in documents.views()}

    def find(self, path: str, where: Range) -> Place | None:
        """A place of any file; None where it cannot be shown."""
        if path == self.view.path and self.view.documents:
            return in_view(self.view, self.source, where, self.encoding)
        source = self._sources(path)
        if source is None:
            return None
        view = self._open.get(path)
        if view is not None:
            return in_view(view, source, where, self.encoding)
        uri = uri_of(path)
        if source.cell_map is not None:
            return Place(uri, None, _START)
        return Place(uri, None, to_client_range(source.lines, where, self.encoding))

    def location(self, path: str, where: Range) -> types.Location | None:
        """The same as a protocol location."""
        place = self.find(path, where)
        return None if place is None else types.Location(place.uri, place.range)


def uri_of(path: str) -> str:
    """The URI of a path, or of what is on no disk."""
    if _SCHEME.match(path):
        return path
    return from_fs_path(path) or path
