"""One line that says what a value or a transfer is: the first line of a hover."""

from __future__ import annotations

from device_lens.cost.bytes import ByteSize
from device_lens.cost.units import format_bytes, format_count, format_microseconds
from device_lens.domain.values import Shape
from device_lens.ide.cases import Cases, read
from device_lens.ide.costs import Costs, TransferEstimate
from device_lens.interpreter.facts import Expression, Kind, Transfer

SEPARATOR = " · "


def of_expression(expression: Expression, costs: Costs) -> str:
    """`cuda:0 · float32 [64, 10] · 2.56 kB`."""
    where = where_text(read(expression.device))
    if expression.kind is Kind.DEVICE and where == "cuda":
        where = "cuda (the current CUDA device)"
    parts = [_NOUNS[expression.kind].format(where), *parts_of(expression, costs)]
    return SEPARATOR.join(parts)


def parts_of(expression: Expression, costs: Costs) -> list[str]:
    """What is known beside the device: `float32 [64, 10]`, `2.56 kB`."""
    parts: list[str] = []
    if expression.kind is Kind.TENSOR:
        parts.append(type_text(expression.dtype, expression.shape))
    if expression.kind is Kind.MODULE and expression.parameter_count is not None:
        parts.append(f"{format_count(expression.parameter_count)} parameters")
    size = costs.size(expression)
    if isinstance(size, ByteSize):
        parts.append(size.text)
    elif size is not None:
        parts.append(format_bytes(size))
        if expression.kind is Kind.MODULE:
            parts.append(costs.share(size, read(expression.device).device) or "")
    if expression.pinned:
        parts.append("pinned memory")
    return [part for part in parts if part]


def of_transfer(transfer: Transfer, estimate: TransferEstimate) -> str:
    """`cpu → cuda:0 · float32 [64, 3, 224, 224] · 38.5 MB · ≈ 3.1 ms each iteration`."""
    parts = [_route_text(transfer, estimate)]
    if transfer.kind is Kind.TENSOR:
        parts.append(type_text(transfer.dtype, transfer.shape))
    if estimate.size_text is not None:
        parts.append(estimate.size_text)
    if transfer.redundant:
        parts.append("already there: free")
    elif estimate.cost is not None:
        parts.append(time_text(estimate) + (" each iteration" if transfer.loops else ""))
    return SEPARATOR.join(part for part in parts if part)


def time_text(estimate: TransferEstimate) -> str:
    """`≈ 3.1 ms`, or `3.1 ms measured`."""
    cost = estimate.cost
    if cost is None:
        return ""
    time = format_microseconds(cost.microseconds)
    return f"{time} measured" if cost.source == "measured" else f"≈ {time}"


def type_text(dtype: str | None, shape: Shape) -> str:
    """`float32 [64, 3, N, ?]`; empty when nothing is known."""
    dims = (
        None if shape is None else ", ".join("?" if each is None else str(each) for each in shape)
    )
    return " ".join(part for part in (dtype, None if dims is None else f"[{dims}]") if part)


def where_text(cases: Cases) -> str:
    """`cuda:0`, `the device of x`, `unknown device`."""
    if cases.device is not None:
        return cases.device
    return f"the device of {cases.symbol}" if cases.symbol else "unknown device"


def _route_text(transfer: Transfer, estimate: TransferEstimate) -> str:
    source, target = read(transfer.source), read(transfer.target)
    if not transfer.moves:
        return where_text(source)
    if estimate.source is None and source.symbol is None:
        return f"→ {where_text(target)}"
    if source.symbol is not None and source.symbol == target.symbol:
        return where_text(target)
    return f"{where_text(source)} → {where_text(target)}"


_NOUNS = {
    Kind.TENSOR: "{}",
    Kind.MODULE: "module on {}",
    Kind.OPTIMIZER: "optimizer of parameters on {}",
    Kind.DATALOADER: "data loader, batches on {}",
    Kind.DEVICE: "device {}",
    Kind.CONTAINER: "holds tensors on {}",
}
