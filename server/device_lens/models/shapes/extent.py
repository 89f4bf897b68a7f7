"""Extents, and how sizes are read from arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from device_lens.domain.heap import ListObject
from device_lens.domain.values import Dim, Shape, Tensor
from device_lens.models.call import Value
from device_lens.models.numbers import dimension, is_number, sequence
from device_lens.models.signature import Bound

Extent = tuple[Shape, "bool | None"]
"""A shape, and whether there are no dimensions (None: unknown)."""
Rule = Callable[[Bound, list[Tensor]], Extent]
"""Gives the extent of a result. The tensors are those that have to agree, in order."""

ANY: Extent = (None, None)
SOME: Extent = (None, False)
"""At least one dimension."""
NO_DIMENSIONS: Extent = ((), True)


def exactly(shape: Iterable[Dim]) -> Extent:
    known = tuple(shape)
    return known, not known


def of_tensor(tensor: Tensor) -> Extent:
    return tensor.shape, tensor.zero_dim


def main(tensors: list[Tensor], bound: Bound) -> Tensor | None:
    """The tensor that the operation is about: its `input`, else its first operand."""
    found = bound.tensors.get("input")
    return found if found is not None or not tensors else tensors[0]


def sizes(values: tuple[Value, ...]) -> Extent:
    """The shape that `f(2, 3)` or `f((2, 3))` asks for."""
    if len(values) == 1:
        items = sequence(values[0])
        if items is not None:
            return exactly(dimension(item) for item in items)
        if not is_number(values[0]):
            return SOME if type(values[0]) is ListObject and values[0].items else ANY
    return exactly(dimension(value) for value in values)


def listed(bound: Bound, name: str) -> tuple[Value, ...]:
    """The values of a parameter that takes sizes one by one or as one sequence."""
    value = bound.get(name)
    if value is None:
        return ()
    return value if isinstance(value, tuple) else (value,)


def numbers(value: Value | tuple[Value, ...] | None) -> tuple[int, ...] | None:
    """The integers that an argument is, one or several; None where one is not known."""
    if value is None:
        return None
    items = value if isinstance(value, tuple) else sequence(value)
    if items is None:
        items = (value,)
    if len(items) == 1 and sequence(items[0]) is not None:
        items = sequence(items[0]) or ()
    found = [dimension(item) for item in items]
    return None if None in found else tuple(dim for dim in found if isinstance(dim, int))


def axis(dim: int | None, count: int) -> int | None:
    """A dimension counted from the front, or None where there is no such dimension."""
    if dim is None or not -count <= dim < count:
        return None
    return dim % count


def demanded(dims: Iterable[int]) -> int:
    """How many dimensions a tensor has at least of which these are named: 0 and -1 may be those of
    one that has none."""
    return max((-dim if dim < 0 else dim + 1 for dim in dims if dim not in (0, -1)), default=0)


def multiply(dims: Iterable[Dim]) -> int | None:
    total = 1
    for dim in dims:
        if not isinstance(dim, int):
            return None
        total *= dim
    return total


def broadcast(extents: Iterable[Extent]) -> Extent:
    """The extent of an element-wise operation over operands of these extents."""
    found = list(extents)
    zero: bool | None = True
    for _, zero_dim in found:
        if zero_dim is False:
            zero = False
        elif zero_dim is None and zero:
            zero = None
    result: tuple[Dim, ...] = ()
    for shape, _ in found:
        if shape is None:
            return None, zero
        result = _broadcast_pair(result, shape)
    return exactly(result)


def _broadcast_pair(left: tuple[Dim, ...], right: tuple[Dim, ...]) -> tuple[Dim, ...]:
    count = max(len(left), len(right))
    left = (1,) * (count - len(left)) + left
    right = (1,) * (count - len(right)) + right
    return tuple(_broadcast_dim(a, b) for a, b in zip(left, right, strict=True))


def _broadcast_dim(left: Dim, right: Dim) -> Dim:
    if left == 1:
        return right
    if right == 1 or left == right:
        return left
    for dim, other in ((left, right), (right, left)):
        if isinstance(dim, int) and other is None:
            return dim
    return None
