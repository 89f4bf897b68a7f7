"""Facts and the cost model, made into numbers: bytes of a value, time of a transfer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from device_lens.cost.bytes import ByteSize, tensor_bytes
from device_lens.cost.calibration import Calibration
from device_lens.cost.operation import MeasuredOperation
from device_lens.cost.route import Direction, Memory, Route, route
from device_lens.cost.transfer import LoopCost, TransferCost, estimate_transfer, loop_cost
from device_lens.cost.units import format_bytes
from device_lens.domain.trail import Site
from device_lens.ide.cases import read
from device_lens.ide.operations import MeasurableOperation
from device_lens.interpreter.facts import Expression, FileFacts, Kind, Transfer


@dataclass(frozen=True, slots=True)
class Measurable:
    """A transfer as a measurement sees it: devices as the program names them, host memory, size."""

    source: str
    target: str
    bytes: int
    memory: Literal["pageable", "pinned"]


MeasuredCost: TypeAlias = Callable[[Measurable], "TransferCost | None"]
"""The kept measurement of a transfer, None where there is none."""
OperationCosts: TypeAlias = Callable[[MeasurableOperation], "MeasuredOperation | None"]
"""The same of an operation."""


@dataclass(frozen=True, slots=True)
class TransferEstimate:
    """One transfer in its primary case. Times are microseconds; None: not known.

    `bytes` is what moves (0 for a transfer to where the value is), `size_text` the same in words,
    with the dimensions that are not known. `loop` is set inside a loop. `measurable` is what to
    measure to know the cost: one tensor that moves, of known size.
    """

    source: str | None
    target: str | None
    path: Route | None
    bytes: int | None
    size_text: str | None
    cost: TransferCost | None
    loop: LoopCost | None
    invariant: bool
    measurable: Measurable | None


@dataclass(frozen=True)
class Costs:
    """Everything that numbers rest on beyond the facts: this machine's calibration, the numbers
    that the project gives to symbolic dimensions, what was measured, and the accelerator that
    operations on the CPU are compared with."""

    calibration: Calibration | None = None
    dims: Mapping[str, int] = field(default_factory=dict)
    measured: MeasuredCost | None = None
    measured_operation: OperationCosts | None = None
    accelerator: str = "cuda"
    memory: Mapping[str, int] = field(default_factory=dict)
    """Bytes of memory of this machine's accelerators, by name (`cuda:0`), as far as known."""

    def share(self, size: int, device: str | None) -> str | None:
        """`0.2 % of cuda:0's memory`: how much of a device a module takes, or would take of the
        first accelerator where it is on the host; None where the memory is not known."""
        host = device is None or device == "cpu"
        named = self.accelerator if host else str(device)
        name = named if ":" in named else f"{named}:0"
        total = self.memory.get(name)
        if not total:
            return None
        percent = 100 * size / total
        return f"{percent:.2g} % of {name}'s memory" if percent < 100 else f"more than {name} holds"

    def size(self, expression: Expression) -> ByteSize | int | None:
        """Bytes of a tensor, or the sum of a module's; None for what has no size."""
        if expression.bytes is not None:
            return expression.bytes
        if expression.kind is Kind.TENSOR and expression.shape is not None:
            return tensor_bytes(expression.shape, expression.dtype).substitute(self.dims)
        return None

    def total(self, expression: Expression) -> int | None:
        """Bytes as a number, where every dimension is known."""
        size = self.size(expression)
        return size.total if isinstance(size, ByteSize) else size

    def estimate(self, transfer: Transfer, subject: Expression | None = None) -> TransferEstimate:
        """What the transfer costs; `subject` is the expression that it moves, for modules."""
        start, end = read(transfer.source).device, read(transfer.target).device
        size = self._moved(transfer, subject)
        total = size.total if isinstance(size, ByteSize) else size
        path = self._path(transfer, start, end)
        unpriced = TransferEstimate(
            start,
            end,
            path,
            total,
            None if size is None else _size_text(size),
            None,
            None,
            bool(transfer.invariant_in),
            _measurable(transfer, path, start, end, total),
        )
        cost = None if path is None else self.in_memory(unpriced, path.memory)
        if cost is None:
            return unpriced
        loop = loop_cost([cost], iterations(transfer)) if transfer.loops else None
        return replace(unpriced, cost=cost, loop=loop)

    def in_memory(self, estimate: TransferEstimate, memory: Memory) -> TransferCost | None:
        """The cost of a transfer, were it from that kind of host memory: as measured, or
        estimated."""
        path = estimate.path
        if path is None:
            return None
        if self.measured is not None and estimate.measurable is not None:
            found = self.measured(replace(estimate.measurable, memory=memory.value))
            if found is not None:
                return found
        other = Route(path.source, path.target, memory)
        return estimate_transfer(other, estimate.bytes, self.calibration)

    def _moved(self, transfer: Transfer, subject: Expression | None) -> ByteSize | int | None:
        if transfer.kind is Kind.TENSOR and transfer.shape is not None:
            return tensor_bytes(transfer.shape, transfer.dtype).substitute(self.dims)
        return None if subject is None else self.size(subject)

    def _path(self, transfer: Transfer, start: str | None, end: str | None) -> Route | None:
        if not transfer.moves or not transfer.called or start is None or end is None:
            return None
        return route(start, end, Memory.PINNED if transfer.pinned else Memory.PAGEABLE)


def _measurable(
    transfer: Transfer, path: Route | None, start: str | None, end: str | None, size: int | None
) -> Measurable | None:
    """What to measure; a module is none: it moves one parameter after the other."""
    if path is None or start is None or end is None or not size or path.source == path.target:
        return None
    if transfer.kind is not Kind.TENSOR or transfer.redundant:
        return None
    return Measurable(start, end, size, path.memory.value)


def iterations(transfer: Transfer) -> int | None:
    """How often the transfer runs through all loops around it; None where one is not known."""
    total = 1
    for loop in transfer.loops:
        if loop.trip_count is None:
            return None
        total *= loop.trip_count
    return total


def touches_host(path: Route) -> bool:
    """Whether the kind of host memory makes a difference on this path."""
    return path.direction in (Direction.HOST_TO_DEVICE, Direction.DEVICE_TO_HOST)


def expressions_by_site(facts: FileFacts) -> dict[Site, Expression]:
    """The expressions of a file by their nodes."""
    return {expression.site: expression for expression in facts.expressions}


def _size_text(size: ByteSize | int) -> str:
    return size.text if isinstance(size, ByteSize) else format_bytes(size)
