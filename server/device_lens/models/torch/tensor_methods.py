"""Methods of tensors: those that are functions of `torch` too, and those that are not."""

from __future__ import annotations

from device_lens.models.operation import TableModel
from device_lens.models.registry import FUNCTIONS
from device_lens.models.table import register
from device_lens.models.torch import elementwise
from device_lens.models.torch.overloads import scaled

SHARED = """
    abs absolute acos acosh add addbmm addcdiv addcmul addmm addmv addr adjoint all allclose amax
    amin aminmax angle any arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin
    argsort argwhere as_strided_scatter asin asinh atan atan2 atanh baddbmm bernoulli bincount
    bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor bmm
    broadcast_to ceil cholesky cholesky_inverse cholesky_solve chunk clamp clamp_max
    clamp_min clip clone conj conj_physical copysign corrcoef cos cosh count_nonzero
    cov cross cummax cummin cumprod cumsum deg2rad det diag diag_embed
    diagflat diagonal diagonal_scatter diff digamma dist div divide dot dsplit eq equal erf erfc
    erfinv exp exp2 expm1 fix flatten fliplr flipud float_power floor floor_divide fmax
    fmin fmod frac frexp gather gcd ge geqrf ger greater greater_equal gt
    hardshrink hash_tensor heaviside histc histogram hsplit hypot i0 igamma igammac
    index_add index_copy index_fill index_put index_reduce index_select inner
    inverse isclose isfinite isinf isnan isneginf isposinf isreal kron kthvalue lcm
    ldexp le lerp less less_equal lgamma log log10 log1p log2 logaddexp
    logaddexp2 logcumsumexp logdet logical_and logical_not logical_or logical_xor logit logsumexp lt
    lu_solve masked_fill masked_scatter masked_select matmul matrix_exp matrix_power
    maximum mean minimum mm mode moveaxis movedim msort mul multinomial multiply mv
    mvlgamma nan_to_num nanmean nanquantile nansum narrow narrow_copy ne neg
    negative nextafter nonzero_static norm not_equal orgqr ormqr
    outer pinverse positive pow prelu prod put
    qr quantile rad2deg ravel
    reciprocal relu remainder renorm resolve_conj resolve_neg roll
    rot90 round rsqrt scatter scatter_add scatter_reduce select
    select_scatter sgn sigmoid sign signbit sin sinc sinh
    slice_inverse slice_scatter slogdet sort split split_with_sizes sqrt square squeeze
    sspaddmm std sub subtract sum svd swapaxes swapdims t
    take take_along_dim tan tanh tensor_split topk trace transpose
    triangular_solve tril triu true_divide trunc unbind unflatten
    unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze
    var vdot vsplit xlogy is_nonzero
"""
"""Methods that do what the function of `torch` of that name does, the tensor being its first
argument."""

WRITING = """
    addbmm addmm addmv addr baddbmm cumprod cumsum index_add index_copy index_fill index_put
    index_reduce masked_fill masked_scatter put renorm scatter scatter_add scatter_reduce tril triu
    squeeze swapaxes swapdims t transpose unsqueeze
"""
"""Methods whose underscored variant writes into the tensor, besides the element-wise ones."""

TABLE = """
(@input, n) -> same.float
    polygamma
(@input, ...size) -> viewed.keep view
    reshape resize
(@input, ...size) -> viewed.keep
    view
(@input, ...size) -> expanded.keep
    expand
(@input, other) -> like_other.keep
    expand_as reshape_as resize_as view_as
(@input, ...size) -> permuted.keep
    permute
(@input, ...size) -> same.keep
    flip
(@input, ...size) -> repeated.keep
    repeat tile
(@input, memory_format) -> same.keep view
    contiguous
(@input, dim, size, step) -> some.keep
    unfold
(@input, size, stride, storage_offset) -> any.keep
    as_strided
(@input, size) -> any.keep
    sum_to_size
(@input, dtype, *, masked_grad) -> same.keep view
    to_dense
(@input) -> same.keep view
    coalesce
(&input, ~src, non_blocking) -> written
    copy_
(&input, ~value) -> written
    fill_
(&input) -> written
    zero_ share_memory_
(&input, fill_value, wrap) -> written
    fill_diagonal_
(&input, mean, std, *, generator) -> written
    normal_ log_normal_
(&input, from, to, *, generator) -> written
    uniform_ random_
(&input, lambd, *, generator) -> written
    exponential_ cauchy_ geometric_
(&input, @p, *, generator) -> written guests=p
    bernoulli_
(&input, n) -> written
    polygamma_
(&input, ...size, *, memory_format) -> written[expanded.keep]
    resize_
(&input, template, *, memory_format) -> written[any.keep]
    resize_as_
(&input, size, stride, storage_offset) -> written[expanded.keep]
    as_strided_
(&input, @source, storage_offset, size, stride) -> written[any.keep]
    set_
(&input, callable) -> written
    apply_
(&input, @tensor, callable) -> written
    map_
(@input) -> host waits
    item tolist
(@input, dim) -> host
    size stride
(@input) -> host
    dim numel nelement ndimension element_size is_contiguous is_pinned is_shared storage_offset
    get_device is_complex is_floating_point is_signed is_conj is_neg is_inference is_distributed
    data_ptr storage untyped_storage storage_type dim_order is_coalesced dense_dim sparse_dim
    qscheme q_scale q_zero_point const_data_ptr
(@input, @tensor) -> host
    is_set_to
(@input, other) -> host
    is_same_size
(@input) -> none
    retain_grad
(@input, %gradient, retain_graph, create_graph, inputs) -> none
    backward
(@input, cls) -> same.keep view
    as_subclass
(&input, @tensor, @tensor2, callable) -> written
    map2_
(@input, stream) -> none
    record_stream
"""


def register_all() -> None:
    for name in SHARED.split():
        FUNCTIONS[f"torch.Tensor.{name}"] = FUNCTIONS[f"torch.{name}"]
    register(TABLE, "torch.Tensor")
    for name in elementwise.IN_PLACE.split():
        _register_writing(name)
    for name in WRITING.split():
        _register_writing(name)
    for name in ("add", "sub"):
        for method in (f"torch.Tensor.{name}", f"torch.Tensor.{name}_"):
            FUNCTIONS[method] = scaled(FUNCTIONS[method], method.endswith("_"))


def _register_writing(name: str) -> None:
    model = FUNCTIONS[f"torch.{name}"]
    if isinstance(model, TableModel):
        written = model.in_place()
        FUNCTIONS[f"torch.Tensor.{name}_"] = FUNCTIONS[f"torch.{name}_"] = written
