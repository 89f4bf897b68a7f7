"""Functions of `torch` that rearrange, copy, join or split tensors."""

from __future__ import annotations

from device_lens.models.table import register

TABLE = """
(@input, size) -> expanded.keep
    broadcast_to expand_copy
(@input, size) -> permuted.keep
    permute permute_copy
(@input, dim0, dim1) -> transposed.keep
    transpose swapaxes swapdims transpose_copy
(@input, source, destination) -> rank.keep
    moveaxis movedim
(@input) -> mT.keep
    t t_copy adjoint
(@input, dim) -> unsqueezed.keep
    unsqueeze unsqueeze_copy
(@input, dim) -> squeezed.keep
    squeeze squeeze_copy
(@input, start_dim, end_dim) -> flattened.keep view
    flatten
(@input, dim, sizes) -> some.keep
    unflatten
(@input) -> line.keep view
    ravel
(@input, size) -> viewed.keep view
    reshape view_copy
(@input, size) -> same.keep
    flip
(@input) -> same.keep
    fliplr flipud
(@input, k, dims) -> rank.keep
    rot90
(@input, shifts, dims) -> same.keep
    roll
(@input, size) -> repeated.keep
    tile
(@tensors, dim) -> cat.promote
    cat concat concatenate
(@tensors, dim) -> stack.promote
    stack
(@tensors) -> some.promote
    hstack vstack dstack row_stack column_stack
(...@tensors) -> some.promote
    block_diag
(...@tensors) -> some.promote view
    cartesian_prod
(@input, r, with_replacement) -> plane.keep
    combinations
(@input, dim, index) -> selected.keep
    select select_copy
(@input, dim, ~start, length) -> narrowed.keep
    narrow narrow_copy
(@input, dim, start, end, step) -> rank.keep
    slice_copy
(@input, diagonal) -> some.keep
    diag
(@input, offset, dim1, dim2) -> some.keep
    diag_embed diagonal diagonal_copy
(@input, offset) -> some.keep
    diagflat
(@input, diagonal) -> same.keep
    tril triu
(@input, *, memory_format) -> same.keep
    clone
(@input, size, stride, storage_offset) -> any.keep
    as_strided as_strided_copy
(@input, ~src, size, stride, storage_offset) -> same.keep
    as_strided_scatter
(@input, ~src, offset, dim1, dim2) -> same.keep
    diagonal_scatter
(@input, ~src, dim, index) -> same.keep
    select_scatter
(@input, ~src, dim, start, end, step) -> same.keep
    slice_scatter
(@input, ~src, dim, start, end, step) -> any.keep
    slice_inverse
(@input, dimension, size, step) -> some.keep
    unfold_copy
(@input, pad, value) -> padded.keep
    constant_pad_nd
(@input, upscale_factor) -> rank.keep
    pixel_shuffle
(@input, downscale_factor) -> rank.keep
    pixel_unshuffle
(@input, groups) -> same.keep
    channel_shuffle native_channel_shuffle
(@input, N, increasing) -> some.keep
    vander
"""


def register_all() -> None:
    register(TABLE, "torch")
