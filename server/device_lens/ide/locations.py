"""Locations as the command line prints them: 1-based, in code points, relative to a folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from device_lens.ide.places import Location, Lookup
from device_lens.syntax.position import Position, Range

Json = dict[str, Any]


@dataclass(frozen=True)
class Printer:
    """Prints paths relative to `folder`, and places inside notebooks by their cell."""

    folder: str
    sources: Lookup

    def file(self, path: str) -> str:
        """The path relative to the folder, with forward slashes."""
        try:
            return Path(os.path.relpath(path, self.folder)).as_posix()
        except ValueError:  # another drive
            return Path(path).as_posix()

    def range(self, path: str, where: Range) -> Json:
        """`cell` and `range` of a place; lines count inside the cell."""
        cell, inside = self.cell(path, where)
        return {"cell": cell, "range": _range(inside)}

    def place(self, path: str, where: Range) -> Json:
        """`range`, and in a notebook `cell`."""
        printed = self.range(path, where)
        return printed if printed["cell"] is not None else {"range": printed["range"]}

    def location(self, place: Location) -> Json:
        """`file`, `cell` and `range`."""
        return {"file": self.file(place.path), **self.range(place.path, place.range)}

    def cell(self, path: str, where: Range) -> tuple[int | None, Range]:
        """The notebook's cell, None in a plain file, and the range inside it."""
        source = self.sources(path)
        if source is None or source.cell_map is None:
            return None, where
        start = source.cell_map.to_cell(where.start)
        if start is None:
            return None, where
        end = source.cell_map.to_cell(where.end)
        stop = end.position if end is not None and end.cell == start.cell else start.position
        return start.cell, Range(start.position, stop)


def _range(where: Range) -> Json:
    return {"start": _position(where.start), "end": _position(where.end)}


def _position(position: Position) -> Json:
    return {"line": position.line + 1, "column": position.column + 1}
