"""`torch.nn.functional`: activations, layers, pooling, losses."""

from __future__ import annotations

from device_lens.domain.values import NONE
from device_lens.models.call import Call, Model, Value, constant
from device_lens.models.operation import TableModel
from device_lens.models.registry import ALIASES, FUNCTIONS
from device_lens.models.table import entries, register
from device_lens.models.torch.overloads import with_indices
from device_lens.models.words import words

ACTIVATIONS = """
(@input, inplace) -> same.keep
    relu relu6 hardsigmoid hardswish mish selu silu
(@input) -> same.keep
    logsigmoid
(@input) -> same.float
    softsign tanhshrink sigmoid tanh
(@input, approximate) -> same.keep
    gelu
(@input, alpha, inplace) -> same.keep
    celu elu
(@input, negative_slope, inplace) -> same.keep
    leaky_relu
(@input, min_val, max_val, inplace) -> same.keep
    hardtanh
(@input, lambd) -> same.keep
    hardshrink softshrink
(@input, beta, threshold) -> same.keep
    softplus
(@input, threshold, value, inplace) -> same.keep
    threshold _threshold
(@input, lower, upper, training, inplace) -> same.keep
    rrelu
(@input, @weight) -> same.keep
    prelu
(@input, dim) -> rank.keep
    glu
(@input, dim, _stacklevel, dtype) -> same.keep
    softmax log_softmax softmin
(@logits, tau, hard, eps, dim) -> first.keep
    gumbel_softmax
(@input, p, training, inplace) -> same.keep view
    alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout
(@input, p, dim, eps) -> same.keep
    normalize
"""
LAYERS = """
(@input, @weight, @bias) -> linear.keep guests=bias
    linear
(@input1, @input2, @weight, @bias) -> some.keep
    bilinear
(@input, @weight, @bias, stride, padding, dilation, groups) -> conv.keep
    conv1d conv2d conv3d
(@input, @weight, @bias, stride, padding, output_padding, groups, dilation) -> conv_transpose.keep
    conv_transpose1d conv_transpose2d conv_transpose3d
(@input, @weight, ~bias, pad) -> some.keep
    conv_tbc
(@input, @weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse) -> embedded.unknown
    embedding
(@input, @weight, @offsets, max_norm, norm_type, scale_grad_by_freq, mode, sparse, \
@per_sample_weights, include_last_offset, padding_idx) -> some.unknown
    embedding_bag
(@input, @running_mean, @running_var, @weight, @bias, training, momentum, eps) -> same.keep
    batch_norm
(@input, @running_mean, @running_var, @weight, @bias, use_input_stats, momentum, eps) -> same.keep
    instance_norm
(@input, num_groups, @weight, @bias, eps) -> same.keep
    group_norm
(@input, normalized_shape, @weight, @bias, eps) -> same.keep
    layer_norm
(@input, normalized_shape, @weight, eps) -> same.keep
    rms_norm
(@input, size, alpha, beta, k) -> same.float
    local_response_norm
(@query, @key, @value, @attn_mask, dropout_p, is_causal, scale, enable_gqa) -> attention.keep
    scaled_dot_product_attention
(@query, @key, @value, embed_dim_to_check, num_heads, @in_proj_weight, @in_proj_bias, @bias_k, \
@bias_v, add_zero_attn, dropout_p, @out_proj_weight, @out_proj_bias, training, \
@key_padding_mask, need_weights, @attn_mask, use_separate_proj_weight, @q_proj_weight, \
@k_proj_weight, @v_proj_weight, @static_k, @static_v) -> (=some.keep, =some.keep)
    multi_head_attention_forward
(@input, pad, mode, value) -> padded.keep
    pad
(@input, num_classes) -> one_hot.int64
    one_hot
(@input, upscale_factor) -> rank.keep
    pixel_shuffle
(@input, downscale_factor) -> rank.keep
    pixel_unshuffle
(@input, groups) -> same.keep
    channel_shuffle native_channel_shuffle
(@input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias) -> resized.keep
    interpolate upsample
(@input, size, scale_factor) -> resized.keep
    upsample_bilinear upsample_nearest
(@input, @grid, mode, padding_mode, align_corners) -> some.keep
    grid_sample
(@theta, size, align_corners) -> some.keep
    affine_grid
(@input, kernel_size, dilation, padding, stride) -> some.keep
    unfold
(@input, output_size, kernel_size, dilation, padding, stride) -> some.keep
    fold
(@input, @grid, interpolation_mode, padding_mode, align_corners) -> some.keep
    grid_sampler
(@mat_a, @mat_b, *, @offs, @bias, out_dtype) -> some.keep
    grouped_mm
"""
POOLING = """
(@input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override) -> pool.keep
    avg_pool1d avg_pool2d avg_pool3d
(@input, output_size) -> adaptive.keep
    adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
(@input, output_size) -> (=adaptive.keep, =adaptive.int64)
    adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices \
    adaptive_max_pool3d_with_indices
(@input, kernel_size, stride, padding, dilation, ceil_mode, return_indices) \
-> (=pool.keep, =pool.int64)
    max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices
(@input, kernel_size, output_size, output_ratio, return_indices, @_random_samples) \
-> (=rank.keep, =rank.int64)
    fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices
(@input, norm_type, kernel_size, stride, ceil_mode) -> rank.keep
    lp_pool1d lp_pool2d lp_pool3d
(@input, @indices, kernel_size, stride, padding, output_size) -> rank.keep
    max_unpool1d max_unpool2d max_unpool3d
"""
WITH_CHOICE = """
(@input, kernel_size, stride, padding, dilation, ceil_mode, return_indices) -> pool.keep
    max_pool
(@input, output_size, return_indices) -> adaptive.keep
    adaptive_max_pool
(@input, kernel_size, output_size, output_ratio, return_indices, @_random_samples) -> rank.keep
    fractional_max_pool
"""
"""Those that also give indices where `return_indices` is true."""
LOSSES = """
(@input, @target, @weight, size_average, ignore_index, reduce, reduction, label_smoothing) \
-> loss.keep
    cross_entropy
(@input, @target, @weight, size_average, ignore_index, reduce, reduction) -> loss.keep
    nll_loss
(@input, @target, @weight, size_average, reduce, reduction) -> loss.keep points
    binary_cross_entropy
(@input, @target, @weight, size_average, reduce, reduction, @pos_weight) \
-> loss.keep guests=input,weight,pos_weight
    binary_cross_entropy_with_logits
(@input, @target, size_average, reduce, reduction, @weight) -> loss.unknown points
    mse_loss l1_loss
(@input, @target, size_average, reduce, reduction, beta) -> loss.promote points
    smooth_l1_loss
(@input, @target, reduction, delta, @weight) -> loss.promote points
    huber_loss
(@input, @target, size_average, reduce, reduction, log_target) -> loss.keep scalars
    kl_div
(@input, @target, size_average, reduce, reduction) -> loss.keep
    multilabel_margin_loss
(@input, @target, size_average, reduce, reduction) -> loss.keep guests=target
    soft_margin_loss
(@input, @target, @weight, size_average, reduce, reduction) -> loss.keep guests=target,weight
    multilabel_soft_margin_loss
(@input, @target, p, margin, @weight, size_average, reduce, reduction) -> loss.keep
    multi_margin_loss
(@input, @target, margin, size_average, reduce, reduction) -> loss.keep scalars
    hinge_embedding_loss
(@input, @target, log_input, full, size_average, eps, reduce, reduction) -> loss.unknown scalars
    poisson_nll_loss
(@input, @target, @var, full, eps, reduction) -> loss.unknown guests=input,target
    gaussian_nll_loss
(@input1, @input2, @target, margin, size_average, reduce, reduction) -> loss.unknown scalars
    margin_ranking_loss cosine_embedding_loss
(@anchor, @positive, @negative, margin, p, eps, swap, size_average, reduce, reduction) \
-> loss.unknown
    triplet_margin_loss
(@anchor, @positive, @negative, *, distance_function, margin, swap, reduction) -> loss.unknown
    triplet_margin_with_distance_loss
(@log_probs, ~targets, ~input_lengths, ~target_lengths, blank, reduction, zero_infinity) \
-> loss.keep
    ctc_loss
(@x1, @x2, p, eps, keepdim) -> any.unknown scalars
    pairwise_distance
(@x1, @x2, dim, eps) -> any.keep
    cosine_similarity
(@input, p) -> line.keep
    pdist
(@input, @linear_weight, @target, *, @linear_bias, @weight, reduction, ignore_index, \
label_smoothing, options) -> loss.keep
    linear_cross_entropy
"""
IN_PLACE = """
    celu dropout elu hardtanh leaky_relu relu rrelu selu threshold
"""
SHARED = """
    avg_pool1d adaptive_avg_pool1d bilinear conv1d conv2d conv3d conv_tbc conv_transpose1d
    conv_transpose2d conv_transpose3d celu_ selu_ relu_ rrelu_ threshold_ dropout_
    cosine_similarity pairwise_distance pdist pixel_shuffle pixel_unshuffle
"""
"""Functions that `torch` has under the same name and with the same parameters."""


def _separate_projections(base: Model) -> Model:
    """`multi_head_attention_forward`, which reads no joint projection where each has its own."""

    def model(call: Call) -> Value:
        separate = call.kwargs.get("use_separate_proj_weight", call.get(17, "", NONE))
        if constant(separate) is True:
            call.args = tuple(NONE if i == 5 else value for i, value in enumerate(call.args))
            call.kwargs = {k: v for k, v in call.kwargs.items() if k != "in_proj_weight"}
        return base(call)

    return model


def register_all() -> None:
    for table in (ACTIVATIONS, LAYERS, POOLING, LOSSES):
        register(table, "torch.nn.functional")
    for name, row in entries(WITH_CHOICE):
        position = row[1:].partition(")")[0].split(", ").index("return_indices")
        for dims in ("2d", "3d") if name == "fractional_max_pool" else ("1d", "2d", "3d"):
            public = f"torch.nn.functional.{name}{dims}"
            both = FUNCTIONS[f"{public}_with_indices"]
            FUNCTIONS[public] = with_indices(TableModel(row), both, position)
    for name in words(IN_PLACE):
        model = FUNCTIONS[f"torch.nn.functional.{name}"]
        FUNCTIONS[f"torch.nn.functional.{name}_"] = model.in_place()  # type: ignore[attr-defined]
    for name in words(SHARED):
        FUNCTIONS[f"torch.{name}"] = FUNCTIONS[f"torch.nn.functional.{name}"]
    attention = "torch.nn.functional.multi_head_attention_forward"
    FUNCTIONS[attention] = _separate_projections(FUNCTIONS[attention])
    ALIASES["torch.nn.functional.feature_dropout"] = "torch.feature_dropout"
