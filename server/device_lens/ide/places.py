"""Where facts stand: from a node of a chunk to a range of a file, in whichever file it is."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from device_lens.domain.trail import Site
from device_lens.interpreter.facts import FileFacts
from device_lens.syntax.position import Position, Range
from device_lens.syntax.source import SourceFile

T = TypeVar("T")

Lookup = Callable[[str], "SourceFile | None"]
"""The source of a path, or None where it is not known."""


@dataclass(frozen=True, slots=True)
class Location:
    """A range of a file. Lines and columns are those of the whole text, also for notebooks."""

    path: str
    range: Range


def lookup_in(all_facts: Mapping[str, FileFacts], others: Lookup | None = None) -> Lookup:
    """Sources of the files that were analysed together, then of `others`."""

    def find(path: str) -> SourceFile | None:
        facts = all_facts.get(path)
        if facts is not None:
            source: SourceFile = facts.source
            return source
        return others(path) if others is not None else None

    return find


def range_of(source: SourceFile, site: Site) -> Range:
    """Where a site of this file stands; of a parameter's definition the bare name."""
    where = source.range(site.chunk, site.node)
    if isinstance(site.node, ast.arg):
        start = where.start
        return Range(start, Position(start.line, start.column + len(site.node.arg)))
    return where


def text_of(source: SourceFile, site: Site) -> str:
    """The source text of a site of this file."""
    return source.text_of(range_of(source, site))


def locate(site: Site, sources: Lookup) -> Location | None:
    """Where a site of any file stands; None when that file is not at hand."""
    source = sources(site.path)
    return None if source is None else Location(site.path, range_of(source, site))


def lines_of(source: SourceFile, site: Site) -> tuple[int, int] | None:
    """First and last line of a site, without the cost of its columns; None for a node without
    a place."""
    first: int | None = getattr(site.node, "lineno", None)
    if first is None:
        return None
    shift = source.start_of(site.chunk) - site.chunk.first_line
    return first + shift, (getattr(site.node, "end_lineno", None) or first) + shift


def sites_at(
    source: SourceFile, sites: Iterable[tuple[Site, T]], position: Position
) -> Iterator[tuple[Range, T]]:
    """The sites whose range has the position in it or at its end, with what belongs to them."""
    chunk = source.chunk_at(position.line)
    if chunk is None:
        return
    for site, item in sites:
        if site.chunk.lineage is not chunk.lineage:
            continue
        lines = lines_of(source, site)
        if lines is None or not lines[0] <= position.line <= lines[1]:
            continue
        where = range_of(source, site)
        if position in where:
            yield where, item


def sites_in(
    source: SourceFile, sites: Iterable[tuple[Site, T]], window: Range
) -> Iterator[tuple[Range, T]]:
    """The sites that end within a range, with what belongs to them."""
    for site, item in sites:
        lines = lines_of(source, site)
        if lines is None or not window.start.line <= lines[1] <= window.end.line:
            continue
        where = range_of(source, site)
        if window.start <= where.end <= window.end:
            yield where, item
