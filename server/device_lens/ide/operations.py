"""What an operation costs where it is, and where it could be: from facts, the cost model and what
was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from device_lens.cost.bytes import item_size, tensor_bytes
from device_lens.cost.operation import (
    BreakEven,
    MeasuredOperation,
    OperationCost,
    estimate_sequence,
    operation_break_even,
    sequence_break_even,
)
from device_lens.cost.route import canonical_device
from device_lens.cost.work import Work, operation_work, traffic_work
from device_lens.ide.cases import read
from device_lens.interpreter.computation import TRAFFIC, Operation, Step

if TYPE_CHECKING:
    from device_lens.domain.device import DeviceTree
    from device_lens.ide.costs import Costs

Sizes: TypeAlias = tuple[tuple[int, ...], ...]
Place: TypeAlias = Literal["cpu", "accelerator"]


@dataclass(frozen=True, slots=True)
class MeasurableOperation:
    """One operation as a measurement sees it. `operation` and `dtype` are names that costs know,
    `device` is the accelerator to compare with, as the program names it."""

    operation: str
    shapes: Sizes
    dtype: str
    device: str
    stride: int = 1
    padding: int = 0


@dataclass(frozen=True, slots=True)
class OperationEstimate:
    """An operation in its primary case. `here` tells where its operands are, None: not known;
    `accelerator` is the one that the CPU is compared with. `size` is the present first dimension,
    `break_even` the one from which moving pays (None: it never does). `count` is how many
    operations of the library it stands for; a single one is `measurable`."""

    cost: OperationCost
    accelerator: str
    here: Place | None
    size: int
    break_even: BreakEven | None
    count: int
    measured: MeasuredOperation | None
    measurable: MeasurableOperation | None


def estimate(operation: Operation, device: DeviceTree, costs: Costs) -> OperationEstimate | None:
    """What the operation costs; `device` is where its result is. None where a dimension is not
    known, or the device is none that computes."""
    where = read(device).device
    canonical = None if where is None else canonical_device(where)
    if where is not None and canonical is None:
        return None
    here: Place | None = None
    if canonical is not None:
        here = "cpu" if canonical == "cpu" else "accelerator"
    accelerator = where if where is not None and here == "accelerator" else costs.accelerator
    works = _works(operation, costs.dims)
    if works is None:
        return None
    single = _single(operation, costs.dims, accelerator)
    moved = works[0][0].moved if single is not None else _moved(operation, costs.dims)
    typical = estimate_sequence(works, moved, accelerator, costs.calibration)
    if typical is None:
        return None
    size = _first_dimension(operation, single, costs.dims)
    measured = None
    if single is not None and costs.measured_operation is not None:
        measured = costs.measured_operation(single)
    return OperationEstimate(
        typical if measured is None else measured.replacing(typical),
        accelerator,
        here,
        size,
        _break_even(single, works, moved, size, costs, accelerator),
        sum(times for _, times in works),
        measured,
        single,
    )


def _works(operation: Operation, dims: Mapping[str, int]) -> list[tuple[Work, int]] | None:
    found = []
    for step, times in operation.steps:
        shapes, item = _sizes(step, dims), item_size(step.dtype)
        if shapes is None or item is None:
            return None
        if step.name == TRAFFIC:
            work = traffic_work(shapes, item)
        else:
            work = operation_work(step.name, shapes, item, step.stride, step.padding)
        if work is None:
            return None
        found.append((work, times))
    return found or None


def _single(
    operation: Operation, dims: Mapping[str, int], accelerator: str
) -> MeasurableOperation | None:
    """The one known operation that it is, None for a sequence of them."""
    (step, times), *more = operation.steps
    shapes = _sizes(step, dims)
    if more or times > 1 or step.name == TRAFFIC or step.dtype is None or shapes is None:
        return None
    return MeasurableOperation(
        step.name, shapes, step.dtype, accelerator, step.stride, step.padding
    )


def _moved(operation: Operation, dims: Mapping[str, int]) -> int:
    sizes = (tensor_bytes(shape, dtype).substitute(dims) for shape, dtype in operation.inputs)
    return sum(size.total or 0 for size in sizes)


def _break_even(
    single: MeasurableOperation | None,
    works: list[tuple[Work, int]],
    moved: int,
    size: int,
    costs: Costs,
    accelerator: str,
) -> BreakEven | None:
    if single is not None:
        return operation_break_even(
            single.operation,
            single.shapes,
            item_size(single.dtype) or 0,
            accelerator,
            costs.calibration,
            single.stride,
            single.padding,
        )
    return sequence_break_even(works, moved, size, accelerator, costs.calibration)


def _first_dimension(
    operation: Operation, single: MeasurableOperation | None, dims: Mapping[str, int]
) -> int:
    """The first dimension of what the operation is given; 0: it has none."""
    if single is not None:
        return next(iter(single.shapes[0]), 0)
    shape = operation.inputs[0][0] if operation.inputs else None
    first = shape[0] if shape else 0
    return dims.get(first, 0) if isinstance(first, str) else first or 0


def _sizes(step: Step, dims: Mapping[str, int]) -> Sizes | None:
    found = []
    for shape in step.shapes:
        sizes = tensor_bytes(shape, step.dtype).substitute(dims).shape
        if sizes is None:
            return None
        known = tuple(size for size in sizes if isinstance(size, int))
        if len(known) != len(sizes):
            return None
        found.append(known)
    return tuple(found)
