"""What there is to measure near a caret: for whoever asks without a pointer to rest on it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from device_lens.ide.costs import Costs, Measurable
from device_lens.ide.operations import MeasurableOperation, estimate
from device_lens.ide.places import lines_of, range_of
from device_lens.interpreter.computation import Operation
from device_lens.interpreter.facts import FileFacts, Transfer
from device_lens.syntax.position import Position, Range
from device_lens.syntax.source import SourceFile

T = TypeVar("T", Transfer, Operation)


@dataclass(frozen=True, slots=True)
class Found:
    """A transfer or an operation that can be measured. `spot` is where a hover tells of it, and
    not of one of its parts."""

    range: Range
    spot: Position
    wanted: Measurable | MeasurableOperation

    @property
    def what(self) -> str:
        """`transfer` or `operation`."""
        return "transfer" if isinstance(self.wanted, Measurable) else "operation"


def measurable_at(facts: FileFacts, position: Position, costs: Costs) -> Found | None:
    """The innermost one around the position, else the first transfer on its line, else the first
    operation there."""
    around: list[Found] = []
    on_line: list[Found] = []
    for found in _every(facts, position.line, costs):
        (around if position in found.range else on_line).append(found)
    if around:
        return max(around, key=lambda each: (each.range.start, -each.range.end.column))
    transfers_first = sorted(on_line, key=lambda each: (each.what == "operation", each.spot))
    return transfers_first[0] if transfers_first else None


def _every(facts: FileFacts, line: int, costs: Costs) -> Iterator[Found]:
    """What can be measured of that which reaches over the line."""
    source = facts.source
    expressions = {each.site.node: each for each in facts.expressions}
    for transfer in _on(source, line, facts.transfers):
        subject = expressions.get(transfer.subject.node)
        wanted = costs.estimate(transfer, subject).measurable if transfer.called else None
        if wanted is not None:
            where = range_of(source, transfer.site)
            yield Found(where, _before(where.end), wanted)
    for operation in _on(source, line, facts.operations):
        node = operation.site.node
        known = (
            estimate(operation, expressions[node].device, costs) if node in expressions else None
        )
        if known is None or known.measurable is None:
            continue
        where = range_of(source, operation.site)
        spot = _before(where.end)
        if isinstance(node, ast.BinOp):
            spot = source.range(operation.site.chunk, node.left).end
        yield Found(where, spot, known.measurable)


def _on(source: SourceFile, line: int, items: list[T]) -> Iterator[T]:
    """Those of a file's transfers or operations that take part of the line."""
    chunk = source.chunk_at(line)
    for item in items:
        if chunk is not None and item.site.chunk.lineage is chunk.lineage:
            lines = lines_of(source, item.site)
            if lines is not None and lines[0] <= line <= lines[1]:
                yield item


def _before(end: Position) -> Position:
    """On the closing parenthesis of a call."""
    return Position(end.line, end.column - 1)
