"""Which findings belong to which values and transfers of a device map."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from device_lens.domain.trail import Site
from device_lens.ide.map_graph import Graph
from device_lens.ide.places import range_of
from device_lens.interpreter.facts import FileFacts
from device_lens.rules.finding import Finding
from device_lens.syntax.position import Range

Key = tuple[str, int]
"""`value` with its number, or `flow` with its place in the list of moves and waits."""
_Span = tuple[int, int, int]


def marks_of(
    facts: FileFacts, graph: Graph, findings: Iterable[Finding]
) -> tuple[dict[int, list[Finding]], dict[int, list[Finding]], list[Finding]]:
    """The findings by value, by the `id` of a move or a wait, and those that belong to none.

    A finding belongs to the smallest piece of the program that it touches.
    """
    pieces = list(_pieces(facts, graph))
    on_values: dict[int, list[Finding]] = {}
    on_flows: dict[int, list[Finding]] = {}
    others: list[Finding] = []
    for finding in findings:
        touched = [piece for piece in pieces if _overlap(piece[1], finding.range)]
        if not touched:
            others.append(finding)
            continue
        (kind, number), _ = min(touched, key=_size)
        found = on_values if kind == "value" else on_flows
        found.setdefault(number, []).append(finding)
    return on_values, on_flows, others


def _pieces(facts: FileFacts, graph: Graph) -> Iterator[tuple[Key, Range]]:
    """Moves before values: of equals the first is taken."""
    for flow in graph.flows:
        if not flow.is_plain:
            sites = [flow.site] if flow.transfer is None else [flow.site, flow.transfer.subject]
            for where in _ranges(facts, sites):
                yield ("flow", id(flow)), where
    for value in graph.values.values():
        for where in _ranges(facts, value.sites):
            yield ("value", value.id), where


def _ranges(facts: FileFacts, sites: Sequence[Site]) -> Iterator[Range]:
    return (range_of(facts.source, site) for site in sites if site.path == facts.path)


def _overlap(one: Range, other: Range) -> bool:
    return one.start < other.end and other.start < one.end


def _size(piece: tuple[Key, Range]) -> _Span:
    (kind, _), where = piece
    lines = where.end.line - where.start.line
    return lines, where.end.column - where.start.column, int(kind == "value")
