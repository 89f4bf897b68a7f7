"""`torch.sparse`: products and reductions of sparse tensors."""

from __future__ import annotations

from device_lens.models.table import register

TABLE = """
(@input, @mat2, reduce) -> some.keep
    mm
(@input, @mat1, @mat2, *, beta, alpha) -> some.keep
    addmm
(@input, @mat1, @mat2, *, beta, alpha) -> some.keep
    sampled_addmm
(@input, dim, dtype) -> any.sum
    sum
(@input, dim, *, dtype) -> same.keep
    softmax log_softmax
(@diagonals, @offsets, shape, layout) -> some.keep hosted
    spdiags
(@input, @other, *, left) -> some.keep
    spsolve
"""


def register_all() -> None:
    register(TABLE, "torch.sparse")
