"""Gathering, scattering, masking and searching: functions of `torch` that take indices."""

from __future__ import annotations

from device_lens.models.table import register

TABLE = """
(@input, dim, @index, *, sparse_grad) -> picked.keep
    gather
(@input, dim, @index) -> rank.keep
    index_select
(@input, @index) -> picked.keep
    take
(@input, @indices, dim) -> any.keep
    take_along_dim
(@input, @mask) -> line.keep waits
    masked_select
(@input, @mask, @value) -> broadcast2.keep guests=value
    masked_fill
(@input, @mask, @source) -> broadcast2.keep
    masked_scatter
(@input, dim, @index, @src, *, reduce, value) -> same.keep
    scatter
(@input, dim, @index, @src) -> same.keep
    scatter_add
(@input, dim, @index, @src, reduce, *, include_self) -> same.keep
    scatter_reduce
(@input, dim, @index, @source, *, alpha) -> same.keep
    index_add
(@input, dim, @index, @source) -> same.keep
    index_copy
(@input, dim, @index, @value) -> same.keep guests=index,value
    index_fill
(@input, dim, @index, @source, reduce, *, include_self) -> same.keep
    index_reduce
(@input, indices, %values, accumulate) -> same.keep
    index_put
(@input, @index, @source, accumulate) -> same.keep
    put
(@elements, @test_elements, *, assume_unique, invert) -> first.bool
    isin
(@sorted_sequence, @input, *, out_int32, right, side, @sorter) -> same.int64
    searchsorted
(@input, @boundaries, *, out_int32, right) -> same.int64
    bucketize
(@indices, shape) -> list[any.int64]
    unravel_index
(@input, num_samples, replacement, *, generator) -> rank.int64
    multinomial
(@count, @prob, generator) -> broadcast.keep scalars
    binomial
"""


def register_all() -> None:
    register(TABLE, "torch")
