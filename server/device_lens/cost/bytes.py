"""How many bytes a tensor takes: its element size times its dimensions, known or not.

A dimension is a number, a symbol (`"N"`, `"batch * 2"`) or None for "not known". Unknown dimensions
stay visible in the text, `4 B × N × 3 × 224 × 224`, and `substitute` fills symbols from the
project's `dims = {B = 64}`. Strides, alignment and the allocator's rounding are not counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from device_lens.cost.units import format_bytes

Dimension: TypeAlias = int | str | None

_SIZES: dict[int, str] = {
    1: (
        "bool int8 uint8 qint8 quint8 quint4x2 quint2x4 bit bits8 bits1x8 bits2x4 bits4x2 "
        "int1 int2 int3 int4 int5 int6 int7 uint1 uint2 uint3 uint4 uint5 uint6 uint7 "
        "float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu "
        "float4_e2m1fn_x2"
    ),
    2: "float16 half bfloat16 int16 short uint16 bits16",
    4: "float32 float int32 int uint32 qint32 complex32 chalf",
    8: "float64 double int64 long uint64 complex64 cfloat",
    16: "complex128 cdouble",
}
_ITEM_SIZE = {name: size for size, names in _SIZES.items() for name in names.split()}


def item_size(dtype: str | None) -> int | None:
    """Bytes of one element of `dtype` (`"float32"` or `"torch.float32"`), None if not known."""
    if dtype is None:
        return None
    return _ITEM_SIZE.get(dtype.removeprefix("torch."))


def known_dtypes() -> frozenset[str]:
    """Every dtype name, aliases included, that `item_size` knows."""
    return frozenset(_ITEM_SIZE)


@dataclass(frozen=True)
class ByteSize:
    """Element size × dimensions of one tensor.

    `item` is None where the dtype is not known, `shape` where not even the rank is.
    """

    item: int | None
    shape: tuple[Dimension, ...] | None

    @property
    def total(self) -> int | None:
        """Bytes, or None while something is unknown. An empty dimension makes it 0 regardless."""
        if self.shape is None:
            return None
        if any(dimension == 0 for dimension in self.shape):
            return 0
        product = self.item
        for dimension in self.shape:
            if product is None or not isinstance(dimension, int):
                return None
            product *= dimension
        return product

    def substitute(self, dims: Mapping[str, int]) -> ByteSize:
        """The same size with the symbols in `dims` replaced by their numbers."""
        if self.shape is None:
            return self
        return ByteSize(self.item, tuple(_substituted(each, dims) for each in self.shape))

    @property
    def text(self) -> str:
        """`38.5 MB`, or the product as far as it is known: `4 B × N × 3 × 224 × 224`."""
        total = self.total
        if total is not None:
            return format_bytes(total)
        if self.shape is None:
            return "unknown size"
        factors = ["? B" if self.item is None else f"{self.item} B"]
        return " × ".join(factors + [_dimension_text(each) for each in self.shape])


@dataclass(frozen=True)
class ByteSum:
    """Bytes of many tensors: a module's parameters and buffers, or a container's leaves.

    `known` sums the tensors whose size is known; `unknown` counts the others.
    """

    known: int
    unknown: int

    @property
    def text(self) -> str:
        """`102 MB`, or `at least 4 kB (2 of unknown size)`."""
        if not self.unknown:
            return format_bytes(self.known)
        if not self.known:
            return "unknown size"
        return f"at least {format_bytes(self.known)} ({self.unknown} of unknown size)"


def tensor_bytes(shape: Sequence[Dimension] | None, dtype: str | None) -> ByteSize:
    """Size of a tensor of this shape and dtype; negative dimensions count as not known."""
    if shape is None:
        return ByteSize(item_size(dtype), None)
    return ByteSize(item_size(dtype), tuple(_honest(dimension) for dimension in shape))


def sum_bytes(sizes: Iterable[ByteSize]) -> ByteSum:
    """The sum of tensors that do not share storage."""
    known = unknown = 0
    for size in sizes:
        total = size.total
        if total is None:
            unknown += 1
        else:
            known += total
    return ByteSum(known, unknown)


def _honest(dimension: Dimension) -> Dimension:
    return None if isinstance(dimension, int) and dimension < 0 else dimension


def _substituted(dimension: Dimension, dims: Mapping[str, int]) -> Dimension:
    if isinstance(dimension, str):
        return _honest(dims.get(dimension, dimension))
    return dimension


def _dimension_text(dimension: Dimension) -> str:
    if dimension is None:
        return "?"
    if isinstance(dimension, str) and not dimension.isidentifier():
        return f"({dimension})"
    return str(dimension)
