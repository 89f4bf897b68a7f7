"""Reductions, sorts and searches of `torch`."""

from __future__ import annotations

from device_lens.models.table import register

TABLE = """
(@input, dim, keepdim, *, dtype) -> reduced.sum
    sum nansum prod
(@input, dim, keepdim, *, dtype) -> reduced.keep
    mean nanmean
(@input, dim, keepdim) -> reduced.keep
    amax amin
(@input, dim, keepdim) -> reduced.float
    logsumexp
(@input, dim, keepdim) -> reduced.bool
    all any
(@input, dim, keepdim) -> reduced.int64
    argmax argmin
(@input, dim, *) -> reduced.int64
    count_nonzero
(@input, *, dim, keepdim) -> (min=reduced.keep, max=reduced.keep)
    aminmax
(@input, dim, unbiased, keepdim, *, correction) -> reduced.real
    std var
(@input, dim, unbiased, keepdim, *, correction) -> (=reduced.real, =reduced.keep)
    std_mean var_mean
(@input, @q, dim, keepdim, *, interpolation) -> any.keep
    quantile nanquantile
(@input, p, dim, keepdim, >out, dtype) -> reduced.real
    norm
(@input, dim, keepdim) -> any.real
    frobenius_norm nuclear_norm
(@input, dim, keepdim) -> (values=along.keep, indices=along.int64)
    mode
(@input, k, dim, keepdim) -> (values=along.keep, indices=along.int64)
    kthvalue
(@input, k, dim, largest, sorted) -> (values=rank.keep, indices=rank.int64)
    topk
(@input, dim, descending, stable) -> (values=same.keep, indices=same.int64)
    sort
(@input, dim, descending, stable) -> same.int64
    argsort
(@input) -> same.keep
    msort
(@input, dim) -> (values=same.keep, indices=same.int64)
    cummax cummin
(@input, dim, *, dtype) -> same.sum
    cumprod cumsum
(@input, dim) -> same.float
    logcumsumexp
(@input, dim, n, @prepend, @append) -> rank.keep
    diff
(@y, @x, *, dx, dim) -> any.unknown
    trapezoid trapz cumulative_trapezoid
(@input, @weights, minlength) -> line.unknown! waits
    bincount
(@input, bins, min, max) -> line.keep!
    histc
(@input, bins, *, range, @weight, density) -> (hist=some.keep, bin_edges=line.keep) hosted
    histogram
(@input, @other) -> host waits
    equal
(@input, @other, rtol, atol, equal_nan) -> host waits scalars
    allclose
(@input) -> host waits
    is_nonzero
(@input, *, as_tuple) -> indices.int64 waits
    argwhere
(@input, *, size, fill_value) -> indices.int64
    nonzero_static
(@input, *, correction, @fweights, @aweights) -> any.unknown
    cov
(@input) -> any.unknown
    corrcoef
(@input, dim, keepdim, *, mode) -> any.uint64
    hash_tensor
"""


def register_all() -> None:
    register(TABLE, "torch")
