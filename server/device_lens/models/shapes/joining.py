"""Shape rules of operations that combine whole tensors: products, joins, convolutions."""

from __future__ import annotations

from device_lens.domain.values import Dim, Tensor
from device_lens.models.shapes.extent import (
    ANY,
    NO_DIMENSIONS,
    SOME,
    Extent,
    axis,
    broadcast,
    exactly,
    main,
    numbers,
    of_tensor,
)
from device_lens.models.signature import Bound


def product(bound: Bound, tensors: list[Tensor]) -> Extent:
    """`matmul` of two tensors of any number of dimensions."""
    if len(tensors) < 2:
        return ANY
    left, right = tensors[0].shape, tensors[1].shape
    if left is None or right is None:
        known = left if left is not None else right
        return ANY if known is None or len(known) < 2 else SOME
    if not left or not right:
        return ANY
    if len(left) == 1 and len(right) == 1:
        return NO_DIMENSIONS
    if len(right) == 1:
        return exactly(left[:-1])
    if len(left) == 1:
        return exactly((*right[:-2], right[-1]))
    batch, _ = broadcast([exactly(left[:-2]), exactly(right[:-2])])
    return exactly((*(batch or ()), left[-2], right[-1]))


def matrix_product(bound: Bound, tensors: list[Tensor]) -> Extent:
    """A product of which it is known that neither operand is a vector."""
    shape, _ = product(bound, tensors)
    return exactly(shape) if shape is not None else SOME


def vector_product(bound: Bound, tensors: list[Tensor]) -> Extent:
    left = tensors[0].shape if tensors else None
    return exactly(left[:-1] if left is not None and len(left) == 2 else (None,))


def outer_product(bound: Bound, tensors: list[Tensor]) -> Extent:
    """`outer` of two vectors."""
    return exactly(_at(tensor, 0) for tensor in tensors) if len(tensors) == 2 else SOME


def distances(bound: Bound, tensors: list[Tensor]) -> Extent:
    """`cdist`: a matrix of the rows of one and the rows of the other operand, batch by batch."""
    shapes = [tensor.shape for tensor in tensors]
    if len(shapes) != 2 or shapes[0] is None or shapes[1] is None:
        return SOME
    batch, _ = broadcast([exactly(shapes[0][:-2]), exactly(shapes[1][:-2])])
    return exactly((*(batch or ()), _at(tensors[0], -2), _at(tensors[1], -2)))


def _at(tensor: Tensor, index: int) -> Dim:
    shape = tensor.shape
    return shape[index] if shape is not None and -len(shape) <= index < len(shape) else None


def linear(bound: Bound, tensors: list[Tensor]) -> Extent:
    value, weight = bound.tensors.get("input"), bound.tensors.get("weight")
    if value is None or value.shape is None:
        return SOME
    if weight is None or weight.shape is None:
        return exactly((*value.shape[:-1], None))
    return exactly((*value.shape[:-1], *weight.shape[:-1]))


def embedded(bound: Bound, tensors: list[Tensor]) -> Extent:
    index, weight = bound.tensors.get("input"), bound.tensors.get("weight")
    if index is None or index.shape is None:
        return SOME
    width = weight.shape[-1] if weight is not None and weight.shape else None
    return exactly((*index.shape, width))


def concatenated(bound: Bound, tensors: list[Tensor]) -> Extent:
    """`cat` along `dim`. Tensors that no item stands for make that size unknown."""
    shapes = [tensor.shape for tensor in tensors if tensor.shape != (0,)]
    if not shapes or any(shape is None for shape in shapes):
        return SOME
    first = shapes[0] or ()
    at = axis(bound.constant("dim", 0), len(first))
    if at is None or any(shape is None or len(shape) != len(first) for shape in shapes):
        return SOME
    size = _sum([shape[at] for shape in shapes if shape is not None])
    if not bound.tensors_complete:
        size = None
    return exactly(size if i == at else dim for i, dim in enumerate(first))


def _sum(dims: list[Dim]) -> Dim:
    total = 0
    for dim in dims:
        if not isinstance(dim, int):
            return None
        total += dim
    return total


def stacked(bound: Bound, tensors: list[Tensor]) -> Extent:
    if not tensors or tensors[0].shape is None:
        return SOME
    shape = tensors[0].shape
    at = axis(bound.constant("dim", 0), len(shape) + 1)
    if at is None:
        return SOME
    count = len(tensors) if bound.tensors_complete else None
    return exactly((*shape[:at], count, *shape[at:]))


def convolved(bound: Bound, tensors: list[Tensor]) -> Extent:
    """Batch, channels of the weight, and each spatial size after stride, padding and dilation."""
    value, weight = bound.tensors.get("input"), bound.tensors.get("weight")
    if value is None or weight is None or value.shape is None or weight.shape is None:
        return SOME
    count = len(weight.shape) - 2
    if count < 1 or len(value.shape) < count + 1:
        return SOME
    sizes = [
        _window(size, kernel, settings)
        for size, kernel, settings in zip(
            value.shape[-count:], weight.shape[2:], window_settings(bound, count), strict=True
        )
    ]
    return exactly((*value.shape[: -count - 1], weight.shape[0], *sizes))


def pooled(bound: Bound, tensors: list[Tensor]) -> Extent:
    """Pooling over the last dimensions, as many as the operation's name tells."""
    value = main(tensors, bound)
    count = int(next((c for c in bound.call.name if c in "123"), "0"))
    if value is None or value.shape is None or len(value.shape) <= count or not count:
        return SOME if value is None else (None, value.zero_dim)
    kernels = numbers(bound.get("kernel_size"))
    if kernels is None or bound.constant("ceil_mode", False) is not False:
        return exactly((*value.shape[:-count], *[None] * count))
    kernel_sizes = kernels * count if len(kernels) == 1 else kernels
    settings = window_settings(bound, count, kernel_sizes)
    return exactly(
        (
            *value.shape[:-count],
            *map(_window, value.shape[-count:], kernel_sizes, settings),
        )
    )


Window = tuple["int | None", "int | None", "int | None"]
"""Stride, padding and dilation along one dimension."""


def window_settings(
    bound: Bound, count: int, default_stride: tuple[int, ...] = (1,)
) -> list[Window]:
    """Stride, padding and dilation of each of `count` dimensions."""
    columns = [
        per_dimension(bound, "stride", default_stride, count),
        per_dimension(bound, "padding", (0,), count),
        per_dimension(bound, "dilation", (1,), count),
    ]
    return list(zip(*columns, strict=True))


def per_dimension(
    bound: Bound, name: str, default: tuple[int, ...], count: int
) -> list[int | None]:
    """A setting of each of `count` dimensions; None where it is not known."""
    found = numbers(bound.get(name)) if bound.given(name) else default
    if found is None or len(found) not in (1, count):
        return [None] * count
    return [*found] * (count if len(found) == 1 else 1)


def _window(size: Dim, kernel: Dim, settings: Window) -> Dim:
    stride, padding, dilation = settings
    if not isinstance(size, int) or not isinstance(kernel, int):
        return None
    if stride is None or padding is None or dilation is None or stride < 1:
        return None
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


def loss(bound: Bound, tensors: list[Tensor]) -> Extent:
    """No dimensions, unless `reduction` says otherwise, or the older `reduce`; whether the sum is
    averaged does not matter."""
    if bound.given("reduce") or not bound.call.complete:
        return ANY
    if bound.given("size_average"):
        return NO_DIMENSIONS
    reduction = bound.constant("reduction", "mean")
    if reduction in ("mean", "sum", "batchmean"):
        return NO_DIMENSIONS
    given = tensors[0].shape if tensors and reduction == "none" else None
    if given is None or len(given) < 2 or "log_probs" in bound.tensors:
        return ANY
    return SOME  # one for each sample, or for each element


def first_two(bound: Bound, tensors: list[Tensor]) -> Extent:
    return broadcast(of_tensor(tensor) for tensor in tensors[:2])


def first_operand(bound: Bound, tensors: list[Tensor]) -> Extent:
    return of_tensor(tensors[0]) if tensors else ANY
