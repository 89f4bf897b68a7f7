"""Shape rules of layers: attention, transposed convolution, adaptive pooling, resizing."""

from __future__ import annotations

from device_lens.domain.values import Const, Dim, Tensor
from device_lens.models.call import Value, is_none
from device_lens.models.numbers import dimension, sequence
from device_lens.models.shapes.extent import ANY, SOME, Extent, broadcast, exactly, main, multiply
from device_lens.models.shapes.joining import per_dimension, product, window_settings
from device_lens.models.signature import Bound

_ATTENTION = ("query", "key", "value")


def attended(bound: Bound, tensors: list[Tensor]) -> Extent:
    """The query's length, the value's width, and the batch of all."""
    shapes = [bound.tensors[name].shape for name in _ATTENTION if name in bound.tensors]
    known = [shape for shape in shapes if shape is not None and len(shape) > 1]
    if len(known) < len(_ATTENTION):
        return SOME
    batch, _ = broadcast(exactly(shape[:-2]) for shape in known)
    return SOME if batch is None else exactly((*batch, known[0][-2], known[2][-1]))


def one_hot(bound: Bound, tensors: list[Tensor]) -> Extent:
    tensor = main(tensors, bound)
    if tensor is None or tensor.shape is None:
        return SOME
    classes = dimension(bound.get("num_classes")) if bound.given("num_classes") else None
    return exactly((*tensor.shape, None if classes == -1 else classes))


def added_product(bound: Bound, tensors: list[Tensor]) -> Extent:
    """`addmm` and its kin: the product of the second and third operand."""
    if len(tensors) < 3:
        return SOME
    shape, _ = product(bound, tensors[1:3])
    return SOME if shape is None else exactly(shape)


def transposed_convolution(bound: Bound, tensors: list[Tensor]) -> Extent:
    value, weight = bound.tensors.get("input"), bound.tensors.get("weight")
    if value is None or weight is None or value.shape is None or weight.shape is None:
        return SOME
    count = len(weight.shape) - 2
    groups = bound.constant("groups", 1)
    if count < 1 or len(value.shape) < count + 1:
        return SOME
    more = per_dimension(bound, "output_padding", (0,), count)
    settings = window_settings(bound, count)
    spatial = [
        _widened(size, kernel, setting, extra)
        for size, kernel, setting, extra in zip(
            value.shape[-count:], weight.shape[2:], settings, more, strict=True
        )
    ]
    per_group = weight.shape[1]
    known = isinstance(per_group, int) and isinstance(groups, int)
    channels = multiply((per_group, groups)) if known else None
    return exactly((*value.shape[: -count - 1], channels, *spatial))


def _widened(size: Dim, kernel: Dim, settings: tuple[int | None, ...], extra: int | None) -> Dim:
    stride, padding, dilation = settings
    if not isinstance(size, int) or not isinstance(kernel, int) or extra is None:
        return None
    if stride is None or padding is None or dilation is None:
        return None
    return (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + extra + 1


def _spatial(bound: Bound) -> int:
    """The number in the operation's name: 2 of `adaptive_avg_pool2d`."""
    return int(next((letter for letter in bound.call.name if letter in "123"), "0"))


def adaptive(bound: Bound, tensors: list[Tensor]) -> Extent:
    """Pooling to `output_size`; None in it keeps a size."""
    tensor = main(tensors, bound)
    count = _spatial(bound)
    if tensor is None or tensor.shape is None or len(tensor.shape) <= count or not count:
        return SOME
    sizes = _sizes(bound.get("output_size"), tensor.shape[-count:])
    return exactly((*tensor.shape[:-count], *sizes))


def _sizes(value: Value, own: tuple[Dim, ...]) -> list[Dim]:
    items = sequence(value)
    wanted = [value] * len(own) if items is None else list(items)
    if len(wanted) != len(own):
        return [None] * len(own)
    return [
        dim if is_none(item) else dimension(item) for item, dim in zip(wanted, own, strict=True)
    ]


def resized(bound: Bound, tensors: list[Tensor]) -> Extent:
    """`interpolate` to a size, or by a factor."""
    tensor = main(tensors, bound)
    if tensor is None or tensor.shape is None or len(tensor.shape) < 3:
        return ANY if tensor is None else (None, tensor.zero_dim)
    own = tensor.shape[2:]
    if bound.given("size"):
        return exactly((*tensor.shape[:2], *_sizes(bound.get("size"), own)))
    factors = _factors(bound.get("scale_factor"), len(own))
    scaled = [_scaled(dim, factor) for dim, factor in zip(own, factors, strict=True)]
    return exactly((*tensor.shape[:2], *scaled))


def _factors(value: Value, count: int) -> list[float | None]:
    items = sequence(value)
    wanted = [value] * count if items is None else list(items)
    if len(wanted) != count:
        return [None] * count
    return [item.value if type(item) is Const else None for item in wanted]


def _scaled(dim: Dim, factor: float | None) -> Dim:
    if not isinstance(dim, int) or not isinstance(factor, (int, float)):
        return None
    return int(dim * factor)
