"""What a transfer would cost otherwise, and what the numbers rest on: Markdown below the answer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from device_lens.cost.route import Memory
from device_lens.cost.units import format_microseconds
from device_lens.ide.costs import Costs, TransferEstimate, touches_host
from device_lens.ide.markdown import join, plain, table
from device_lens.interpreter.facts import Transfer

MAX_COLUMNS = 5


def cost_notes(transfer: Transfer, estimate: TransferEstimate, costs: Costs) -> str:
    """A table of what the transfer would cost otherwise, and what the numbers rest on."""
    columns = islice(_columns(transfer, estimate, costs), MAX_COLUMNS)
    return join([table(columns), _assumption(estimate)])


def _columns(
    transfer: Transfer, estimate: TransferEstimate, costs: Costs
) -> Iterator[tuple[str, str]]:
    path, cost, size = estimate.path, estimate.cost, estimate.bytes
    if path is None or cost is None or size is None or path.source == path.target:
        return
    if touches_host(path):
        for memory in Memory:
            other = costs.in_memory(estimate, memory)
            if other is not None:
                mark = " (this one)" if memory is path.memory else ""
                yield f"{memory.value}{mark}", _time(other.microseconds, other.source)
        yield "`non_blocking`", _overlap(transfer)
    loop = estimate.loop
    if loop is not None and loop.total_us is not None:
        yield f"all {loop.iterations} passes", _time(loop.total_us, loop.source)
        if estimate.invariant and loop.saved_by_hoisting_us:
            yield "above the loop saves", _time(loop.saved_by_hoisting_us, loop.source)
    elif loop is not None and estimate.invariant:
        yield "above the loop saves", "all but the first pass"


def _time(microseconds: float, source: str) -> str:
    text = format_microseconds(microseconds)
    return text if source == "measured" else f"≈ {text}"


def _overlap(transfer: Transfer) -> str:
    if transfer.non_blocking and transfer.pinned:
        return "overlaps"
    if transfer.non_blocking:
        return "waits: not pinned"
    return "off: waits"


def _assumption(estimate: TransferEstimate) -> str:
    cost = estimate.cost
    if cost is None or not cost.microseconds:
        return ""
    if cost.spread is not None:
        low, high = (format_microseconds(each) for each in cost.spread)
        return f"Measured on {plain(cost.assumption)}: {low} to {high} in three of five runs."
    if cost.source == "measured":
        return f"Measured on {plain(cost.assumption)}."
    return f"Estimated for {plain(cost.assumption)}."
