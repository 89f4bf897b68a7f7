"""What an operation costs on the processor, on the accelerator, and with its transfer.

The estimate is the roofline: a fixed overhead plus the slower of arithmetic and memory traffic.
`break_even` answers the question behind it: from what size on is it worth moving the operands?
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from device_lens.cost.calibration import Calibration
from device_lens.cost.hardware import Processor, assumption_for
from device_lens.cost.route import route
from device_lens.cost.transfer import Source, estimate_transfer
from device_lens.cost.work import Shape, Work, operation_work

_LARGEST_SIZE = 1 << 40
_ON_EQUAL_TERMS = frozenset({"matmul", "add", "mul"})


@dataclass(frozen=True)
class OperationCost:
    """Microseconds of an operation: on the CPU, on the accelerator, and moving its inputs there.

    The result stays on the accelerator: bringing it back is a transfer of its own. `assumption`
    names the hardware that the typical ones of these numbers rest on.
    """

    cpu_us: float
    accelerator_us: float
    transfer_us: float
    transfer_source: Source
    assumption: str
    cpu_source: Source = "typical"
    accelerator_source: Source = "typical"

    @property
    def with_transfer_us(self) -> float:
        """Moving the inputs and computing."""
        return self.transfer_us + self.accelerator_us

    @property
    def worth_moving(self) -> bool:
        """Whether moving the inputs for this one operation is faster than staying."""
        return self.with_transfer_us < self.cpu_us


@dataclass(frozen=True)
class MeasuredOperation:
    """Measured medians in microseconds; those of an accelerator are None where there is none.

    `cpu_spread` is the 20th and the 80th percentile on the CPU, `basis` the machine and the date.
    """

    cpu_us: float
    cpu_spread: tuple[float, float]
    accelerator_us: float | None
    with_transfer_us: float | None
    basis: str

    def replacing(self, typical: OperationCost) -> OperationCost:
        """The cost with what was measured in place of what is typical."""
        cost = replace(typical, cpu_us=self.cpu_us, cpu_source="measured")
        if self.accelerator_us is None or self.with_transfer_us is None:
            return cost
        return replace(
            cost,
            accelerator_us=self.accelerator_us,
            accelerator_source="measured",
            transfer_us=max(self.with_transfer_us - self.accelerator_us, 0.0),
            transfer_source="measured",
        )


@dataclass(frozen=True)
class BreakEven:
    """The size from which moving wins: of a square matrix's side, or of the first dimension."""

    of: Literal["side", "first dimension"]
    size: int


def estimate_operation(
    work: Work, device: str, calibration: Calibration | None = None
) -> OperationCost | None:
    """Typical cost of `work` on `device` (an accelerator's name), None for other devices."""
    return estimate_sequence([(work, 1)], work.moved, device, calibration)


def estimate_sequence(
    works: Sequence[tuple[Work, int]],
    moved: int,
    device: str,
    calibration: Calibration | None = None,
) -> OperationCost | None:
    """Typical cost of operations in sequence, each so many times, on `moved` bytes of input.

    None where `device` is no accelerator.
    """
    path = route("cpu", device)
    if path is None or path.accelerator is None:
        return None
    assumption = assumption_for(path.accelerator)
    transfer = estimate_transfer(path, moved, calibration)
    if transfer is None:
        return None
    return OperationCost(
        sum(_roofline(work, assumption.cpu) * times for work, times in works),
        sum(_roofline(work, assumption.accelerator) * times for work, times in works),
        transfer.microseconds,
        transfer.source,
        assumption.name,
    )


def sequence_break_even(
    works: Sequence[tuple[Work, int]],
    moved: int,
    batch: int,
    device: str,
    calibration: Calibration | None = None,
) -> BreakEven | None:
    """From what first dimension on moving the inputs of such a sequence is typically worth it.

    `batch` is that dimension now; all but the overhead of each operation grows along with it.
    """
    path = route("cpu", device)
    if path is None or path.accelerator is None or batch < 1:
        return None
    assumption = assumption_for(path.accelerator)
    count = sum(times for _, times in works)

    def straight(processor: Processor) -> Callable[[int], float]:
        fixed = processor.overhead_us * count
        whole = sum(_roofline(work, processor) * times for work, times in works)
        return lambda size: fixed + (whole - fixed) * size / batch

    cpu_us, accelerator_us = straight(assumption.cpu), straight(assumption.accelerator)

    def moved_us(size: int) -> float:
        transfer = estimate_transfer(path, moved * size // batch, calibration)
        return math.inf if transfer is None else transfer.microseconds + accelerator_us(size)

    size = break_even(cpu_us, moved_us)
    return None if size is None else BreakEven("first dimension", size)


def operation_break_even(
    name: str,
    shapes: Sequence[Shape],
    item: int,
    device: str,
    calibration: Calibration | None = None,
    stride: int = 1,
    padding: int = 0,
) -> BreakEven | None:
    """From what size on moving the inputs of this operation to `device` is typically worth it.

    Square matrices grow along both sides, everything else along its first dimension (the batch).
    None where no size is worth it, or the operation, its shapes or the device are not known.
    """
    if not shapes:
        return None
    square = name == "matmul" and len(shapes[0]) == 2 and len({*shapes[0], *shapes[-1]}) == 1
    growing = _growing(name, shapes)

    @cache
    def cost(size: int) -> OperationCost | None:
        sized = _squares(shapes, size) if square else _first_dimension(shapes, growing, size)
        work = operation_work(name, sized, item, stride, padding)
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


def _growing(name: str, shapes: Sequence[Shape]) -> int:
    """How many of the operands grow along with the first one: those that share its batch."""
    if name not in _ON_EQUAL_TERMS:
        return 1
    batched = name != "matmul" or len(shapes[0]) > 2
    alike = {(len(shape), *shape[:1]) for shape in shapes}
    return len(shapes) if batched and len(alike) == 1 else 1


def _first_dimension(shapes: Sequence[Shape], growing: int, size: int) -> list[Shape]:
    """The shapes with the first dimension of the first `growing` operands at `size`."""
    return [
        (size, *shape[1:]) if place < growing and shape else shape
        for place, shape in enumerate(shapes)
    ]


def _roofline(work: Work, processor: Processor) -> float:
    arithmetic = work.flops / processor.flops_per_us
    traffic = work.touched / processor.bytes_per_us
    return processor.overhead_us + max(arithmetic, traffic)
