"""Indexing: which index may be where, and what is left."""

from __future__ import annotations

from typing import Any

import pytest
from harness import CUDA, call, conflicts, on, waits

from device_lens.domain.device import CPU
from device_lens.domain.values import HostArray, Tensor, Unknown

ROWS = on(CPU, 2, dtype="int64")
ROWS_THERE = on(CUDA, 2, dtype="int64")
MASK = on(CPU, 4, dtype="bool")
GET, SET = "torch.Tensor.__getitem__", "torch.Tensor.__setitem__"


@pytest.mark.parametrize(
    ("index", "shape"),
    [
        (0, (3, 5)),
        (slice(None), (4, 3, 5)),
        (slice(1, 3), (2, 3, 5)),
        (slice(None, None, 2), (2, 3, 5)),
        ((slice(None), 0), (4, 5)),
        ((..., 0), (4, 3)),
        ((0, ..., slice(None, 2)), (3, 2)),
        (None, (1, 4, 3, 5)),
        ((slice(None), None), (4, 1, 3, 5)),
        ([0, 2], (2, 3, 5)),
        (ROWS, (2, 3, 5)),
        ((slice(None), ROWS), (4, 2, 5)),
        ((ROWS, ROWS), (2, 5)),
        ((1, 2, 3), ()),
        (on(CPU, dtype="int64"), (3, 5)),
        ((ROWS, slice(None), ROWS), (2, 3)),
        (MASK, (None, 3, 5)),
        ((slice(None), on(CPU, 3, 5, dtype="bool")), (4, None)),
        (on(CPU, dtype="bool"), None),
        (Unknown("i"), None),
    ],
)
def test_what_an_index_leaves(index: Any, shape: Any) -> None:
    found = call(GET, on(CUDA, 4, 3, 5), index)
    assert (found.device, found.shape) == (CUDA, shape)


def test_parts_of_a_tensor_of_unknown_rank() -> None:
    assert call(GET, Tensor(CPU), slice(None)).zero_dim is False
    assert call(GET, Tensor(CPU), MASK).zero_dim is False
    assert call(GET, Tensor(CPU), 0).zero_dim is None
    assert call(GET, Tensor(CPU), Unknown("i")).zero_dim is None


@pytest.mark.parametrize("index", [ROWS, MASK, (slice(None), ROWS), HostArray(), [0, 1]])
def test_an_index_on_the_host_selects_anywhere(index: Any) -> None:
    assert conflicts(GET, on(CUDA, 4, 3), index) == []


def test_an_index_on_the_accelerator_selects_there_only() -> None:
    assert conflicts(GET, on(CUDA, 4, 3), ROWS_THERE) == []
    assert len(conflicts(GET, on(CPU, 4, 3), ROWS_THERE)) == 1
    assert conflicts(GET, on(CPU, 4, 3), on(CUDA, dtype="int64")) == []
    assert conflicts(GET, on(CPU, 4, 3), Tensor(CUDA)) == []


def test_an_assignment_copies_its_indices() -> None:
    assert conflicts(SET, on(CPU, 4, 3), ROWS_THERE, 0.0) == []
    assert conflicts(SET, on(CPU, 4, 3), on(CUDA, 4, dtype="bool"), 0.0) == []
    assert conflicts(SET, on(CPU, 4, 3), ROWS_THERE, on(CPU, 2, 3)) == []
    assert conflicts("torch.Tensor.index_put_", on(CPU, 4, 3), (ROWS_THERE,), on(CPU, 2, 3)) == []


def test_a_number_has_no_first_item() -> None:
    assert type(call(GET, on(CUDA), 0)) is Unknown
    assert type(call(GET, on(CUDA), slice(None))) is Unknown
    assert call(GET, on(CUDA), None).device is CUDA


def test_a_slice_assignment_copies_from_anywhere() -> None:
    there = on(CUDA, 4, 3)
    assert conflicts(SET, there, 0, on(CPU, 3)) == []
    assert conflicts(SET, there, (slice(None), 1), on(CPU, 4)) == []
    assert conflicts(SET, on(CPU, 4, 3), slice(None), there) == []


def test_an_assignment_through_index_tensors_does_not() -> None:
    there = on(CUDA, 4, 3)
    assert len(conflicts(SET, there, ROWS_THERE, on(CPU, 2, 3))) == 1
    assert len(conflicts(SET, there, ROWS, on(CPU, 2, 3))) == 1
    assert len(conflicts(SET, there, MASK, on(CPU, 2, 3))) == 1
    assert conflicts(SET, there, ROWS, on(CPU)) == []
    assert conflicts(SET, there, ROWS, on(CPU, 1)) == []
    assert conflicts(SET, there, ROWS, 1.0) == []
    assert conflicts(SET, there, Unknown("i"), on(CPU, 2, 3)) == []


def test_a_mask_waits_for_the_device() -> None:
    assert waits(GET, on(CUDA, 4, 3), on(CUDA, 4, dtype="bool")) == ["indexing with a mask"]
    assert waits(GET, on(CUDA, 4, 3), ROWS_THERE) == []
