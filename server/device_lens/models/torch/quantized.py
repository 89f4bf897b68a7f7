"""Quantized and sparse tensors: what moves between formats stays on its device."""

from __future__ import annotations

from device_lens.models.registry import FUNCTIONS
from device_lens.models.table import register
from device_lens.models.words import words

TABLE = """
(@input, scale, zero_point, dtype) -> same.unknown
    quantize_per_tensor
(@input, dtype, reduce_range) -> same.unknown
    quantize_per_tensor_dynamic
(@input, @scales, @zero_points, axis, dtype) -> same.unknown
    quantize_per_channel
(@input) -> same.unknown
    dequantize int_repr
(@input) -> host
    q_scale q_zero_point q_per_channel_axis
(@input) -> some.unknown
    q_per_channel_scales q_per_channel_zero_points
(@input) -> any.unknown!
    ccol_indices_copy col_indices_copy crow_indices_copy indices_copy row_indices_copy
(@input) -> any.keep
    values_copy
(@input, @mat2) -> some.keep
    smm spmm dsmm hsmm hspmm
(@input, @mat1, @mat2, *, beta, alpha) -> some.keep
    saddmm
"""
METHODS = """
(@input, ...layout, dtype, blocksize, dense_dim) -> same.keep
    to_sparse to_sparse_coo to_sparse_csr to_sparse_csc to_sparse_bsr to_sparse_bsc to_mkldnn
(@input) -> any.unknown!
    indices crow_indices col_indices ccol_indices row_indices _indices
(@input) -> any.keep
    values _values
(@input, @mask) -> same.keep
    sparse_mask
(&input, size, sparse_dim, dense_dim) -> written[expanded.keep]
    sparse_resize_ sparse_resize_and_clear_
(@input, padding, output_size) -> some.keep
    to_padded_tensor
"""
SHARED = """
    dequantize int_repr smm q_per_channel_axis q_per_channel_scales q_per_channel_zero_points
"""


def register_all() -> None:
    register(TABLE, "torch")
    register(METHODS, "torch.Tensor")
    for name in words(SHARED):
        FUNCTIONS[f"torch.Tensor.{name}"] = FUNCTIONS[f"torch.{name}"]
