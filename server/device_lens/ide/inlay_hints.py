"""Hints between the characters, few and short:

x = x.to(device)  ≈ 3.1 ms · 38.5 MB        what a transfer costs, above a threshold
y: cuda:0 = model(x)                         the device of a variable, where it is assigned
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from device_lens.ide import summary
from device_lens.ide.cases import read
from device_lens.ide.cost_notes import cost_notes
from device_lens.ide.costs import Costs, expressions_by_site
from device_lens.ide.places import sites_in
from device_lens.interpreter.facts import Expression, FileFacts, Kind, Transfer
from device_lens.syntax.position import Position, Range


@dataclass(frozen=True, slots=True)
class HintOptions:
    """Which hints are shown; transfers below `threshold_ms` have none."""

    transfers: bool = True
    devices: bool = False
    threshold_ms: float = 0.1


@dataclass(frozen=True, slots=True)
class InlayHint:
    """A label at a position. `tooltip` is Markdown, empty where the label says it all."""

    position: Position
    label: str
    tooltip: str
    kind: str
    """`transfer` or `device`."""


def inlay_hints(
    facts: FileFacts, window: Range, costs: Costs, options: HintOptions
) -> list[InlayHint]:
    """The hints within a range of the file, in order."""
    found: list[InlayHint] = []
    if options.transfers:
        found += _of_transfers(facts, window, costs, options.threshold_ms)
    if options.devices:
        found += _of_devices(facts, window)
    return sorted(found, key=lambda hint: hint.position)


def _of_transfers(
    facts: FileFacts, window: Range, costs: Costs, threshold_ms: float
) -> Iterator[InlayHint]:
    moving = [(each.site, each) for each in facts.transfers if _costs(each)]
    if not moving:
        return
    subjects = expressions_by_site(facts)
    for where, transfer in sites_in(facts.source, moving, window):
        estimate = costs.estimate(transfer, subjects.get(transfer.subject))
        cost = estimate.cost
        if cost is None or cost.microseconds < threshold_ms * 1000 or not cost.microseconds:
            continue
        parts = [summary.time_text(estimate), estimate.size_text or ""]
        label = summary.SEPARATOR.join(part for part in parts if part)
        yield InlayHint(where.end, label, cost_notes(transfer, estimate, costs), "transfer")


def _costs(transfer: Transfer) -> bool:
    return transfer.moves and transfer.called and not transfer.redundant


def _of_devices(facts: FileFacts, window: Range) -> Iterator[InlayHint]:
    assigned = [(each.site, each) for each in facts.expressions if _is_assigned(each)]
    for where, expression in sites_in(facts.source, assigned, window):
        device = read(expression.device).device
        if device is not None:
            yield InlayHint(where.end, f": {device}", "", "device")


def _is_assigned(expression: Expression) -> bool:
    if expression.kind not in (Kind.TENSOR, Kind.MODULE):
        return False
    node = expression.site.node
    if isinstance(node, ast.arg):
        return node.annotation is None
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
