"""Shape rules by the names that rows use: element-wise, reductions and rearrangements."""

from __future__ import annotations

from device_lens.domain.values import Dim, Tensor
from device_lens.models.call import is_none, tensor_of
from device_lens.models.numbers import dimension, sequence
from device_lens.models.shapes.extent import (
    ANY,
    NO_DIMENSIONS,
    SOME,
    Extent,
    axis,
    broadcast,
    demanded,
    exactly,
    listed,
    main,
    multiply,
    numbers,
    of_tensor,
    sizes,
)
from device_lens.models.signature import Bound


def unknown(bound: Bound, tensors: list[Tensor]) -> Extent:
    return ANY


def some(bound: Bound, tensors: list[Tensor]) -> Extent:
    return SOME


def none(bound: Bound, tensors: list[Tensor]) -> Extent:
    return NO_DIMENSIONS


def line(bound: Bound, tensors: list[Tensor]) -> Extent:
    """One dimension of unknown length."""
    return exactly((None,))


def plane(bound: Bound, tensors: list[Tensor]) -> Extent:
    """Two dimensions of unknown lengths."""
    return exactly((None, None))


def indices(bound: Bound, tensors: list[Tensor]) -> Extent:
    """A row for each element that is found, with its place in every dimension."""
    tensor = main(tensors, bound)
    shape = None if tensor is None else tensor.shape
    return exactly((None, None if shape is None else len(shape)))


def same(bound: Bound, tensors: list[Tensor]) -> Extent:
    tensor = main(tensors, bound)
    return ANY if tensor is None else of_tensor(tensor)


def picked(bound: Bound, tensors: list[Tensor]) -> Extent:
    """The shape of `index`, for which `gather` and `take` find an element each."""
    index = tensor_of(bound.get("index"))
    return ANY if index is None else of_tensor(index)


def all_operands(bound: Bound, tensors: list[Tensor]) -> Extent:
    return broadcast(of_tensor(tensor) for tensor in tensors)


def reduced(bound: Bound, tensors: list[Tensor]) -> Extent:
    """A reduction over `dim`, or over everything where there is no `dim`."""
    tensor = main(tensors, bound)
    if tensor is None:
        return ANY
    keep = bound.constant("keepdim", False)
    if not bound.given("dim"):
        if keep or not bound.call.complete:
            return of_tensor(tensor) if tensor.shape is None else (None, not tensor.shape)
        return NO_DIMENSIONS
    return _over(tensor, numbers(bound.get("dim")), keep)


def along(bound: Bound, tensors: list[Tensor]) -> Extent:
    """A reduction along one dimension, the last by default."""
    tensor = main(tensors, bound)
    if tensor is None:
        return ANY
    dims = numbers(bound.get("dim")) if bound.given("dim") else (-1,)
    return _over(tensor, dims, bound.constant("keepdim", False))


def _over(tensor: Tensor, dims: tuple[int, ...] | None, keep: bool | None) -> Extent:
    if tensor.zero_dim:
        return NO_DIMENSIONS
    if dims is None:
        return (None, False) if keep and tensor.zero_dim is False else ANY
    if tensor.shape is None and demanded(dims) > len(dims):
        return SOME  # there are more than those that go
    if keep is None:
        return ANY
    if tensor.shape is None:
        return (None, tensor.zero_dim) if keep else ANY
    count = len(tensor.shape)
    gone = {axis(dim, count) for dim in dims} or set(range(count))
    if None in gone:
        return ANY
    if keep:
        return exactly(1 if i in gone else dim for i, dim in enumerate(tensor.shape))
    return exactly(dim for i, dim in enumerate(tensor.shape) if i not in gone)


def viewed(bound: Bound, tensors: list[Tensor]) -> Extent:
    """`view` and `reshape`: the sizes of the call, one of which may be -1."""
    shape, zero = sizes(listed(bound, "size"))
    if shape is None or -1 not in shape:
        return shape, zero
    tensor = main(tensors, bound)
    total = multiply(tensor.shape) if tensor is not None and tensor.shape is not None else None
    rest = multiply(dim for dim in shape if dim != -1)
    hole: Dim = total // rest if total is not None and rest else None
    return exactly(hole if dim == -1 else dim for dim in shape)


def expanded(bound: Bound, tensors: list[Tensor]) -> Extent:
    shape, zero = sizes(listed(bound, "size"))
    tensor = main(tensors, bound)
    if shape is None or -1 not in shape:
        return shape, zero
    own = tensor.shape if tensor is not None else None
    if own is None or len(own) > len(shape):
        return exactly(None if dim == -1 else dim for dim in shape)
    own = (None,) * (len(shape) - len(own)) + own
    return exactly(a if b == -1 else b for a, b in zip(own, shape, strict=True))


def like_other(bound: Bound, tensors: list[Tensor]) -> Extent:
    """`expand_as`, `view_as`: as large as the tensor that is named."""
    other = bound.get("other")
    tensor = None if other is None or isinstance(other, tuple) else tensor_of(other)
    return ANY if tensor is None else of_tensor(tensor)


def repeated(bound: Bound, tensors: list[Tensor]) -> Extent:
    counts = numbers(listed(bound, "size"))
    tensor = main(tensors, bound)
    if counts is None or tensor is None or tensor.shape is None:
        return (sizes(listed(bound, "size"))[0] and SOME) or ANY
    width = max(len(counts), len(tensor.shape))
    own = (1,) * (width - len(tensor.shape)) + tensor.shape
    times = (1,) * (width - len(counts)) + counts
    return exactly(
        dim * n if isinstance(dim, int) else None for dim, n in zip(own, times, strict=True)
    )


def interleaved(bound: Bound, tensors: list[Tensor]) -> Extent:
    """`repeat_interleave`: along `dim` as many times as one number says, else along one line."""
    tensor = main(tensors, bound)
    counts = numbers(bound.get("repeats"))
    times = counts[0] if counts is not None and len(counts) == 1 else None
    shape = tensor.shape if tensor is not None else None
    dim = bound.constant("dim")
    if not bound.given("dim") or is_none(bound.get("dim")):
        total = multiply(shape) if shape is not None else None
        return exactly((total * times if total is not None and times is not None else None,))
    at = axis(dim, len(shape)) if shape is not None else None
    if shape is None or at is None:
        return SOME
    size = shape[at]
    longer = size * times if isinstance(size, int) and times is not None else None
    return exactly((*shape[:at], longer, *shape[at + 1 :]))


def permuted(bound: Bound, tensors: list[Tensor]) -> Extent:
    tensor = main(tensors, bound)
    dims = numbers(listed(bound, "size"))
    if tensor is None or dims is None:
        return _rank(tensor)
    if tensor.shape is None:
        return exactly(None for _ in dims) if dims else ANY
    order = [axis(dim, len(tensor.shape)) for dim in dims]
    return exactly(tensor.shape[i] if i is not None else None for i in order)


def _rank(tensor: Tensor | None) -> Extent:
    """As many dimensions, of unknown sizes."""
    if tensor is None or tensor.shape is None:
        return ANY if tensor is None else (None, tensor.zero_dim)
    return exactly(None for _ in tensor.shape)


def padded(bound: Bound, tensors: list[Tensor]) -> Extent:
    """Each dimension longer by two of the numbers of `pad`, the last one first."""
    tensor, given = main(tensors, bound), bound.get("pad")
    pad = None if given is None or isinstance(given, tuple) else sequence(given)
    if tensor is None or tensor.shape is None or pad is None or len(pad) % 2:
        return same_rank(bound, tensors)
    shape = list(tensor.shape)
    for number in range(min(len(pad) // 2, len(shape))):
        place, known = len(shape) - 1 - number, shape[-1 - number]
        ends = [dimension(each) for each in pad[2 * number : 2 * number + 2]]
        if ends != [0, 0]:
            total = [each for each in (known, *ends) if isinstance(each, int)]
            shape[place] = sum(total) if len(total) == 3 else None
    return exactly(shape)


def same_rank(bound: Bound, tensors: list[Tensor]) -> Extent:
    return _rank(main(tensors, bound))


def transposed(bound: Bound, tensors: list[Tensor]) -> Extent:
    tensor = main(tensors, bound)
    if tensor is None or tensor.shape is None:
        return same(bound, tensors)
    count = len(tensor.shape)
    first, second = (axis(dimension(bound.get(name)), count) for name in ("dim0", "dim1"))  # type: ignore[arg-type]
    if first is None or second is None:
        return _rank(tensor)
    shape = list(tensor.shape)
    shape[first], shape[second] = shape[second], shape[first]
    return exactly(shape)


def matrix_transposed(bound: Bound, tensors: list[Tensor]) -> Extent:
    """The last two dimensions exchanged."""
    tensor = main(tensors, bound)
    if tensor is None or tensor.shape is None or len(tensor.shape) < 2:
        return same(bound, tensors)
    return exactly((*tensor.shape[:-2], tensor.shape[-1], tensor.shape[-2]))


def unsqueezed(bound: Bound, tensors: list[Tensor]) -> Extent:
    tensor = main(tensors, bound)
    if tensor is None or tensor.shape is None:
        return SOME
    at = axis(bound.constant("dim"), len(tensor.shape) + 1)
    if at is None:
        return exactly(None for _ in (*tensor.shape, 1))
    return exactly((*tensor.shape[:at], 1, *tensor.shape[at:]))


def squeezed(bound: Bound, tensors: list[Tensor]) -> Extent:
    tensor = main(tensors, bound)
    if tensor is None or tensor.shape is None:
        if tensor is not None and tensor.zero_dim:
            return (None, True)
        only = bound.constant("dim")  # what has a second dimension keeps one of the two
        return SOME if isinstance(only, int) and only not in (0, -1) else ANY
    if not bound.given("dim"):
        if not bound.call.complete or any(not isinstance(dim, int) for dim in tensor.shape):
            return ANY
        return exactly(dim for dim in tensor.shape if dim != 1)
    dims = numbers(bound.get("dim"))
    if dims is None:
        return ANY
    gone = {axis(dim, len(tensor.shape)) for dim in dims}
    if any(not isinstance(dim, int) for i, dim in enumerate(tensor.shape) if i in gone):
        return SOME if len(tensor.shape) > len(gone) else ANY
    return exactly(dim for i, dim in enumerate(tensor.shape) if i not in gone or dim != 1)


def flattened(bound: Bound, tensors: list[Tensor]) -> Extent:
    tensor = main(tensors, bound)
    if tensor is None or tensor.shape is None:
        return SOME
    count = len(tensor.shape)
    if not count:
        return exactly((1,))
    start = axis(bound.constant("start_dim", 0), count)
    end = axis(bound.constant("end_dim", -1), count)
    if start is None or end is None or end < start:
        return SOME
    middle = multiply(tensor.shape[start : end + 1])
    return exactly((*tensor.shape[:start], middle, *tensor.shape[end + 1 :]))


def selected(bound: Bound, tensors: list[Tensor]) -> Extent:
    """One dimension less."""
    tensor = main(tensors, bound)
    if tensor is None or tensor.shape is None:
        dim = bound.constant("dim")
        return SOME if type(dim) is int and demanded((dim,)) > 1 else ANY
    at = axis(bound.constant("dim"), len(tensor.shape))
    if at is None:
        return exactly(None for _ in tensor.shape[1:])
    return exactly((*tensor.shape[:at], *tensor.shape[at + 1 :]))


def narrowed(bound: Bound, tensors: list[Tensor]) -> Extent:
    """The same dimensions, of which `dim` (the first by default) has another size."""
    tensor = main(tensors, bound)
    if tensor is None or tensor.shape is None:
        return same(bound, tensors)
    if not tensor.shape:
        return NO_DIMENSIONS
    at = axis(bound.constant("dim", 0), len(tensor.shape))
    if at is None:
        return _rank(tensor)
    size = dimension(bound.get("length")) if bound.get("length") is not None else None
    return exactly(size if i == at else dim for i, dim in enumerate(tensor.shape))


def nonzero_dim(bound: Bound, tensors: list[Tensor]) -> Extent:
    """As many dimensions as the operand, at least one."""
    shape, zero = _rank(main(tensors, bound))
    return (shape, zero) if shape else SOME
