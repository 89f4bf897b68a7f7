"""What `device-lens explain` says: the facts of a file as plain data, and as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from device_lens.domain.trail import Trail
from device_lens.ide.cases import read
from device_lens.ide.costs import Costs, expressions_by_site
from device_lens.ide.locations import Json, Printer
from device_lens.ide.places import Location, Lookup, locate, range_of
from device_lens.interpreter.facts import Expression, FileFacts, Synchronization, Transfer
from device_lens.syntax.position import Position, Range


@dataclass(frozen=True, slots=True)
class Explained:
    """One entry of the answer with its range, so that it can be sorted and filtered."""

    range: Range
    data: Json


def explain(
    facts: FileFacts,
    sources: Lookup,
    costs: Costs,
    printer: Printer,
    position: Position | None = None,
    line: int | None = None,
) -> Json:
    """The answer of the contract. With a position the innermost expression there and the
    transfers and synchronisations that it is, with a line only what starts on it."""
    expressions = _sorted(_expressions(facts, sources, costs, printer))
    transfers = _sorted(_transfers(facts, costs, printer))
    waits = _sorted(_synchronizations(facts, printer))
    if position is not None:
        expressions = _innermost(expressions, position)
        ranges = {each.range for each in expressions}
        transfers = [each for each in transfers if each.range in ranges]
        waits = [each for each in waits if each.range in ranges]
    elif line is not None:
        expressions, transfers, waits = (
            [each for each in group if each.range.start.line == line]
            for group in (expressions, transfers, waits)
        )
    return {
        "version": 1,
        "file": printer.file(facts.path),
        "expressions": [each.data for each in expressions],
        "transfers": [each.data for each in transfers],
        "synchronizations": [each.data for each in waits],
    }


def _sorted(entries: Iterator[Explained]) -> list[Explained]:
    return sorted(entries, key=lambda each: (each.range.start, each.range.end))


def _innermost(entries: list[Explained], position: Position) -> list[Explained]:
    here = [each for each in entries if position in each.range]
    if not here:
        return []
    inner = max(here, key=lambda each: (each.range.start, _negative(each.range.end)))
    return [each for each in here if each.range == inner.range]


def _negative(position: Position) -> tuple[int, int]:
    return (-position.line, -position.column)


def _expressions(
    facts: FileFacts, sources: Lookup, costs: Costs, printer: Printer
) -> Iterator[Explained]:
    for expression in facts.expressions:
        where = range_of(facts.source, expression.site)
        yield Explained(where, _expression(expression, where, facts, sources, costs, printer))


def _expression(
    expression: Expression,
    where: Range,
    facts: FileFacts,
    sources: Lookup,
    costs: Costs,
    printer: Printer,
) -> Json:
    device = read(expression.device)
    return {
        **printer.place(facts.path, where),
        "text": facts.source.text_of(where),
        "kind": expression.kind.value,
        "device": device.device,
        "condition": device.condition,
        "alternatives": [
            {"condition": other.condition, "device": other.device} for other in device.alternatives
        ],
        "shape": _shape(expression),
        "dtype": expression.dtype,
        "bytes": costs.total(expression),
        "trail": [
            {**printer.location(place), "message": step.text}
            for step, place in steps(expression.trail, sources)
        ],
    }


def _shape(expression: Expression) -> list[int | None] | None:
    """Dimensions as numbers; the contract has null for what is not a number."""
    if expression.shape is None:
        return None
    return [each if isinstance(each, int) else None for each in expression.shape]


def steps(trail: Trail | None, sources: Lookup) -> Iterator[tuple[Trail, Location]]:
    """The steps of a trail whose places are at hand, oldest first."""
    if trail is None:
        return
    for step in trail.steps():
        place = locate(step.site, sources)
        if place is not None:
            yield step, place


def _transfers(facts: FileFacts, costs: Costs, printer: Printer) -> Iterator[Explained]:
    subjects = expressions_by_site(facts)
    for transfer in facts.transfers:
        if transfer.moves and transfer.called:
            where = range_of(facts.source, transfer.site)
            yield Explained(where, _transfer(transfer, where, facts, costs, subjects, printer))


def _transfer(
    transfer: Transfer,
    where: Range,
    facts: FileFacts,
    costs: Costs,
    subjects: dict[Any, Expression],
    printer: Printer,
) -> Json:
    estimate = costs.estimate(transfer, subjects.get(transfer.subject))
    cost = estimate.cost
    return {
        **printer.place(facts.path, where),
        "from": estimate.source,
        "to": estimate.target,
        "bytes": estimate.bytes,
        "loop_depth": len(transfer.loops),
        "loop_invariant": bool(transfer.invariant_in),
        "estimate_us": None if cost is None else round(cost.microseconds, 1),
        "estimate_source": "typical" if cost is None else cost.source,
    }


def _synchronizations(facts: FileFacts, printer: Printer) -> Iterator[Explained]:
    for wait in facts.synchronizations:
        where = range_of(facts.source, wait.site)
        yield Explained(where, _synchronization(wait, where, facts, printer))


def _synchronization(
    wait: Synchronization, where: Range, facts: FileFacts, printer: Printer
) -> Json:
    return {
        **printer.place(facts.path, where),
        "what": wait.what,
        "loop_depth": len(wait.loops),
    }
