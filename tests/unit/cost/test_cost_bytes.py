"""Bytes from shapes and dtypes, known and unknown."""

from __future__ import annotations

from math import prod

from hypothesis import given
from hypothesis import strategies as st

from device_lens.cost.bytes import ByteSize, item_size, known_dtypes, sum_bytes, tensor_bytes


def test_known_shape() -> None:
    size = tensor_bytes((64, 3, 224, 224), "float32")
    assert (size.total, size.text) == (38_535_168, "38.5 MB")


def test_unknown_dimensions_stay_in_the_text() -> None:
    size = tensor_bytes(("N", 3, 224, 224), "torch.float32")
    assert (size.total, size.text) == (None, "4 B × N × 3 × 224 × 224")
    assert tensor_bytes((None, "2 * N"), None).text == "? B × ? × (2 * N)"
    assert tensor_bytes(None, "float32").text == "unknown size"


def test_symbols_are_substituted() -> None:
    size = tensor_bytes(("B", "N"), "bfloat16").substitute({"B": 64})
    assert size.text == "2 B × 64 × N"
    assert size.substitute({"N": 10}).total == 1280
    assert size.substitute({"N": -1}).text == "2 B × 64 × ?"


def test_scalar_and_empty_tensors() -> None:
    assert tensor_bytes((), "float64").total == 8
    assert tensor_bytes((0, "N"), None).total == 0


def test_dtypes_of_every_family() -> None:
    sizes = {"bool": 1, "bfloat16": 2, "float8_e4m3fn": 1, "complex64": 8, "complex128": 16}
    assert {name: item_size(name) for name in sizes} == sizes
    assert item_size("str") is None


def test_sum_counts_what_is_not_known() -> None:
    total = sum_bytes([tensor_bytes((10,), "float32"), tensor_bytes(("N",), "float32")])
    assert (total.known, total.unknown) == (40, 1)
    assert total.text == "at least 40 B (1 of unknown size)"
    assert sum_bytes([]).text == "0 B"
    assert sum_bytes([ByteSize(4, None)]).text == "unknown size"


@given(st.lists(st.integers(0, 1000), max_size=6), st.sampled_from(sorted(known_dtypes())))
def test_total_is_the_product(shape: list[int], dtype: str) -> None:
    item = item_size(dtype)
    assert item is not None
    assert tensor_bytes(shape, dtype).total == item * prod(shape)


_DIMENSIONS = st.one_of(st.integers(-3, 50), st.sampled_from(["B", "N"]), st.none())


@given(st.lists(_DIMENSIONS, max_size=5))
def test_substituting_everything_leaves_no_symbol(shape: list[int | str | None]) -> None:
    size = tensor_bytes(shape, "int8").substitute({"B": 2, "N": 3})
    assert size.shape is not None
    assert not any(isinstance(dimension, str) for dimension in size.shape)
    assert size.total is None or size.total >= 0
