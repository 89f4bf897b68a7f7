"""Which dtype an operation's result has, by name and without the `torch.` prefix."""

from __future__ import annotations

from typing import Any

from device_lens.domain.values import Const, DtypeValue, External, Tensor
from device_lens.models.call import Value

DEFAULT = "float32"
"""What PyTorch calls the default dtype, unless a program sets another."""

_INTEGERS = ("uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
_FLOATS = ("float16", "bfloat16", "float32", "float64")
_COMPLEX = ("complex32", "complex64", "complex128")
_RANK: dict[str, int] = {
    "bool": 0,
    **dict.fromkeys(_INTEGERS, 1),
    **dict.fromkeys(_FLOATS, 2),
    **dict.fromkeys(_COMPLEX, 3),
}
_PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
_PYTHON_TYPES = {"float": "float64", "int": "int64", "bool": "bool", "complex": "complex128"}
_WHOLES = {"float16": "complex32", "bfloat16": "complex64", "float32": "complex64"}

ALIASES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "cfloat": "complex64",
    "cdouble": "complex128",
    "chalf": "complex32",
}
TENSOR_TYPES = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16",
    "LongTensor": "int64",
    "IntTensor": "int32",
    "ShortTensor": "int16",
    "CharTensor": "int8",
    "ByteTensor": "uint8",
    "BoolTensor": "bool",
}
"""What a legacy type such as `torch.FloatTensor` holds."""
NAMES = (
    *_RANK,
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
    *("float4_e2m1fn_x2", "qint8", "quint8", "qint32", "quint4x2", "quint2x4"),
)
"""Every dtype of the `torch` namespace that programs name."""


def rank(dtype: str | None) -> int | None:
    """0 for bool, 1 for integers, 2 for floats, 3 for complex numbers; None where unknown."""
    return None if dtype is None else _RANK.get(dtype)


def differentiable(dtype: str | None) -> bool | None:
    """Whether tensors of this dtype can require grad."""
    if dtype is None:
        return None
    return _RANK.get(dtype, 2 if dtype.startswith("float") else 1) >= 2


def to_float(dtype: str | None) -> str | None:
    """What functions such as `exp` make of a dtype: integers become floats."""
    kind = rank(dtype)
    return DEFAULT if kind is not None and kind < 2 else dtype


def to_real(dtype: str | None) -> str | None:
    """The dtype of the parts of a complex number; others stay."""
    return dtype if dtype is None else _PARTS.get(dtype, dtype)


def to_complex(dtype: str | None) -> str | None:
    kind = rank(dtype)
    if dtype is None or kind == 3:
        return dtype
    return "complex64" if kind is not None and kind < 2 else _WHOLES.get(dtype, "complex128")


def to_sum(dtype: str | None) -> str | None:
    """What `sum` and its like make of a dtype: bools and integers are counted in int64."""
    kind = rank(dtype)
    return "int64" if kind is not None and kind < 2 else dtype


def named(value: Value) -> str | None:
    """The dtype that an argument names, or None."""
    if type(value) is DtypeValue:
        return value.name
    if type(value) is External:
        return _PYTHON_TYPES.get(value.name.removeprefix("builtins."))
    return None


def of_constant(value: Any) -> str | None:
    """The dtype of a tensor made from a Python number."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int64"
    if isinstance(value, float):
        return DEFAULT
    return "complex64" if isinstance(value, complex) else None


def promote(tensors: list[Tensor], scalars: list[Value]) -> str | None:
    """The dtype that an element-wise operation computes in. Tensors without dimensions, and then
    Python numbers, count only where their kind (bool, integer, float, complex) is higher."""
    dtypes = {tensor.dtype for tensor in tensors}
    if None in dtypes or not dtypes:
        return None
    result = _among_tensors(tensors)
    if result is None:
        return None
    for value in scalars:
        other = of_constant(value.value) if type(value) is Const else None
        if other is None:
            return None
        if _RANK[other] > (rank(result) or 0):
            result = to_complex(result) if other == "complex64" else other
    return result


def promoted(left: str, right: str) -> str | None:
    """The dtype of `left` and `right` together, among tensors with dimensions."""
    return _pair(left, right) if left in _RANK and right in _RANK else None


def _among_tensors(tensors: list[Tensor]) -> str | None:
    if len({tensor.dtype for tensor in tensors}) == 1:
        return tensors[0].dtype
    if any(tensor.zero_dim is None or rank(tensor.dtype) is None for tensor in tensors):
        return None
    result: str | None = None
    for tensor in tensors:
        if not tensor.zero_dim and tensor.dtype is not None:
            result = _pair(result, tensor.dtype)
    guests: str | None = None
    for tensor in tensors:
        if tensor.zero_dim and tensor.dtype is not None:
            guests = _pair(guests, tensor.dtype)
    if result is None or guests is None:
        return result or guests
    return _pair(result, guests) if _RANK[guests] > _RANK[result] else result


def _pair(left: str | None, right: str) -> str:
    """The promotion of two dtypes among tensors with dimensions."""
    if left is None or left == right:
        return right
    if _RANK[left] != _RANK[right]:
        low, high = sorted((left, right), key=lambda name: _RANK[name])
        if _RANK[high] == 3 and _RANK[low] == 2:
            return _pair(high, to_complex(low) or high)
        return high
    kind = _RANK[left]
    if kind == 2:
        return (
            "float32"
            if {left, right} == {"float16", "bfloat16"}
            else max(left, right, key=_FLOATS.index)
        )
    if kind == 3:
        return max(left, right, key=_COMPLEX.index)
    return _integers(left, right)


def _integers(left: str, right: str) -> str:
    if "uint8" in (left, right):
        other = right if left == "uint8" else left
        return "int16" if other == "int8" else other
    return max(left, right, key=_INTEGERS.index)
