"""What an operation costs on the processor, on the accelerator, and with its transfer.

The estimate is the roofline: a fixed overhead plus the slower of arithmetic and memory traffic.
`break_even` answers the question behind it: from what size on is it worth moving the operands?
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from device_lens.cost.calibration import Calibration
from device_lens.cost.hardware import Processor, assumption_for
from device_lens.cost.route import route
from device_lens.cost.transfer import Source, estimate_transfer
from device_lens.cost.work import Shape, Work, operation_work

_LARGEST_SIZE = 1 << 40


@dataclass(frozen=True)
class OperationCost:
    """Microseconds of one operation: on the CPU, on the accelerator, and moving its inputs there.

    The result stays on the accelerator: bringing it back is a transfer of its own.
    """

    cpu_us: float
    accelerator_us: float
    transfer_us: float
    transfer_source: Source

    @property
    def with_transfer_us(self) -> float:
        """Moving the inputs and computing."""
        return self.transfer_us + self.accelerator_us

    @property
    def worth_moving(self) -> bool:
        """Whether moving the inputs for this one operation is faster than staying."""
        return self.with_transfer_us < self.cpu_us


@dataclass(frozen=True)
class BreakEven:
    """The size from which moving wins: of a square matrix's side, or of the first dimension."""

    of: Literal["side", "first dimension"]
    size: int


def estimate_operation(
    work: Work, device: str, calibration: Calibration | None = None
) -> OperationCost | None:
    """Typical cost of `work` on `device` (an accelerator's name), None for other devices."""
    path = route("cpu", device)
    if path is None or path.accelerator is None:
        return None
    assumption = assumption_for(path.accelerator)
    transfer = estimate_transfer(path, work.moved, calibration)
    if transfer is None:
        return None
    return OperationCost(
        _roofline(work, assumption.cpu),
        _roofline(work, assumption.accelerator),
        transfer.microseconds,
        transfer.source,
    )


def operation_break_even(
    name: str,
    shapes: Sequence[Shape],
    item: int,
    device: str,
    calibration: Calibration | None = None,
) -> BreakEven | None:
    """From what size on moving the inputs of this operation to `device` is typically worth it.

    Square matrices grow along both sides, everything else along its first dimension (the batch).
    None where no size is worth it, or the operation, its shapes or the device are not known.
    """
    if not shapes:
        return None
    square = name == "matmul" and len(shapes[0]) == 2 and len({*shapes[0], *shapes[-1]}) == 1
    sized = _squares if square else _first_dimension

    def cost(size: int) -> OperationCost | None:
        work = operation_work(name, sized(shapes, size), item)
        return None if work is None else estimate_operation(work, device, calibration)

    def moved_us(size: int) -> float:
        known = cost(size)
        return math.inf if known is None else known.with_transfer_us

    def cpu_us(size: int) -> float:
        known = cost(size)
        return math.inf if known is None else known.cpu_us

    size = break_even(cpu_us, moved_us)
    return None if size is None else BreakEven("side" if square else "first dimension", size)


def break_even(
    cpu_us: Callable[[int], float],
    moved_us: Callable[[int], float],
    largest: int = _LARGEST_SIZE,
) -> int | None:
    """Smallest size from which moving wins (`moved_us < cpu_us`), None if it does not by `largest`.

    Sizes are doubled until moving wins, then bisected; where the advantage comes and goes, the
    answer is the last change before the doubled size at which it was first seen.
    """
    if moved_us(1) < cpu_us(1):
        return 1
    size = 1
    while size < largest:
        loses, size = size, min(size * 2, largest)
        if moved_us(size) < cpu_us(size):
            return _bisect(cpu_us, moved_us, loses, size)
    return None


def _bisect(
    cpu_us: Callable[[int], float], moved_us: Callable[[int], float], loses: int, wins: int
) -> int:
    while wins - loses > 1:
        middle = (loses + wins) // 2
        if moved_us(middle) < cpu_us(middle):
            wins = middle
        else:
            loses = middle
    return wins


def _squares(shapes: Sequence[Shape], size: int) -> list[Shape]:
    return [(size, size) for _ in shapes]


def _first_dimension(shapes: Sequence[Shape], size: int) -> list[Shape]:
    """The shapes with the first operand's first dimension, and what must equal it, at `size`."""
    first = shapes[0]
    same = [shape for shape in shapes if shape == first]
    return [(size, *shape[1:]) if shape in same else shape for shape in shapes]


def _roofline(work: Work, processor: Processor) -> float:
    arithmetic = work.flops / processor.flops_per_us
    traffic = work.touched / processor.bytes_per_us
    return processor.overhead_us + max(arithmetic, traffic)
