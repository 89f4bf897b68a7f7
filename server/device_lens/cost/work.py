"""What an operation has to do, from its operands' shapes: arithmetic, memory traffic, transfer.

The operations are a fixed set by name, the same that the benchmark's worker can run. Operands are
given in torch's order: `conv2d` takes the input and the weight, `linear` the input and the weight,
`layer_norm` the input alone (its weight is the last dimension).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Work:
    """Floating-point operations, bytes read and written, and bytes that a move to it takes.

    `moved` leaves out weights, which live where their module lives.
    """

    flops: int
    touched: int
    moved: int


@dataclass(frozen=True)
class Operation:
    """One of the known operations: how many operands it takes and how many of them are moved."""

    operands: int
    moved: int
    result: Callable[[Sequence[Shape], int, int], tuple[Shape, int] | None]


def operation_work(
    name: str, shapes: Sequence[Shape], item: int, stride: int = 1, padding: int = 0
) -> Work | None:
    """Work of the operation called `name` on operands of these shapes, `item` bytes an element.

    None for an unknown name, a wrong number of operands, or shapes that do not fit together.
    `stride` and `padding` are those of a convolution.
    """
    operation = OPERATIONS.get(name)
    if operation is None or len(shapes) != operation.operands or item <= 0:
        return None
    if stride < 1 or padding < 0 or any(dimension < 1 for shape in shapes for dimension in shape):
        return None
    outcome = operation.result(shapes, stride, padding)
    if outcome is None:
        return None
    result, flops = outcome
    touched = sum(map(prod, shapes)) + prod(result)
    return Work(flops, touched * item, sum(map(prod, shapes[: operation.moved])) * item)


def traffic_work(shapes: Sequence[Shape], item: int) -> Work | None:
    """Work of cheap arithmetic that reads and writes tensors of these shapes."""
    if item <= 0 or any(dimension < 0 for shape in shapes for dimension in shape):
        return None
    elements = sum(map(prod, shapes))
    return Work(elements, elements * item, 0)


def result_shape(
    name: str, shapes: Sequence[Shape], stride: int = 1, padding: int = 0
) -> Shape | None:
    """Shape of the result, None where `operation_work` has no answer either."""
    if operation_work(name, shapes, 1, stride, padding) is None:
        return None
    outcome = OPERATIONS[name].result(shapes, stride, padding)
    return None if outcome is None else outcome[0]


def _matmul(shapes: Sequence[Shape], stride: int, padding: int) -> tuple[Shape, int] | None:
    left, right = shapes
    if len(left) < 2 or len(right) < 2 or left[-1] != right[-2]:
        return None
    batch = _broadcast(left[:-2], right[:-2])
    if batch is None:
        return None
    result = (*batch, left[-2], right[-1])
    return result, 2 * prod(result) * left[-1]


def _linear(shapes: Sequence[Shape], stride: int, padding: int) -> tuple[Shape, int] | None:
    source, weight = shapes
    if not source or len(weight) != 2 or source[-1] != weight[1]:
        return None
    result = (*source[:-1], weight[0])
    return result, 2 * prod(result) * weight[1]


def _conv2d(shapes: Sequence[Shape], stride: int, padding: int) -> tuple[Shape, int] | None:
    source, weight = shapes
    if len(source) != 4 or len(weight) != 4 or source[1] % weight[1]:
        return None
    groups = source[1] // weight[1]
    height, width = ((source[axis] + 2 * padding - weight[axis]) // stride + 1 for axis in (2, 3))
    if weight[0] % groups or height < 1 or width < 1:
        return None
    result = (source[0], weight[0], height, width)
    return result, 2 * prod(result) * prod(weight[1:])


def _binary(shapes: Sequence[Shape], stride: int, padding: int) -> tuple[Shape, int] | None:
    result = _broadcast(shapes[0], shapes[1])
    return None if result is None else (result, prod(result))


def _unary(flops: int) -> Callable[[Sequence[Shape], int, int], tuple[Shape, int]]:
    """Elementwise, at about `flops` operations an element."""
    return lambda shapes, stride, padding: (shapes[0], flops * prod(shapes[0]))


def _over_last(shapes: Sequence[Shape], stride: int, padding: int) -> tuple[Shape, int] | None:
    return (shapes[0], 5 * prod(shapes[0])) if shapes[0] else None


def _reduction(shapes: Sequence[Shape], stride: int, padding: int) -> tuple[Shape, int]:
    return (), prod(shapes[0])


def _broadcast(left: Shape, right: Shape) -> Shape | None:
    rank = max(len(left), len(right))
    padded = [(1,) * (rank - len(shape)) + shape for shape in (left, right)]
    result = []
    for one, other in zip(*padded, strict=True):
        if one != other and 1 not in (one, other):
            return None
        result.append(max(one, other))
    return tuple(result)


OPERATIONS: dict[str, Operation] = {
    "matmul": Operation(2, 2, _matmul),
    "linear": Operation(2, 1, _linear),
    "conv2d": Operation(2, 1, _conv2d),
    "add": Operation(2, 2, _binary),
    "mul": Operation(2, 2, _binary),
    "relu": Operation(1, 1, _unary(1)),
    "exp": Operation(1, 1, _unary(8)),
    "sigmoid": Operation(1, 1, _unary(10)),
    "tanh": Operation(1, 1, _unary(10)),
    "gelu": Operation(1, 1, _unary(14)),
    "softmax": Operation(1, 1, _over_last),
    "layer_norm": Operation(1, 1, _over_last),
    "sum": Operation(1, 1, _reduction),
    "mean": Operation(1, 1, _reduction),
}
