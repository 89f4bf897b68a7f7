"""The layers and losses that `torch` itself has, with parameter lists of their own."""

from __future__ import annotations

from device_lens.models.table import register

TABLE = """
(@weight, @indices, padding_idx, scale_grad_by_freq, sparse) -> some.unknown
    embedding
(@weight, @indices, @offsets, scale_grad_by_freq, mode, sparse, @per_sample_weights, \
include_last_offset, padding_idx) -> (=some.unknown, =any.int64, =any.int64, =any.int64)
    embedding_bag
(@input, @weight, @bias, @running_mean, @running_var, training, momentum, eps, cudnn_enabled) \
-> same.keep
    batch_norm
(@input, @weight, @bias, @running_mean, @running_var, use_input_stats, momentum, eps, \
cudnn_enabled) -> same.keep
    instance_norm
(@input, @weight, @bias, @running_mean, @running_var, training, momentum, eps) \
-> (=same.keep, =any.keep!, =any.keep!)
    native_batch_norm
(@input, num_groups, @weight, @bias, eps, cudnn_enabled) -> same.keep
    group_norm
(@input, @weight, @bias, N, C, HxW, group, eps) -> (=same.keep, =any.keep, =any.keep)
    native_group_norm
(@input, normalized_shape, @weight, @bias, eps, cudnn_enable) -> same.keep
    layer_norm
(@input, normalized_shape, @weight, @bias, eps) -> (=same.keep, =any.keep!, =any.keep!)
    native_layer_norm
(@input, normalized_shape, @weight, eps) -> same.keep
    rms_norm
(@input, kernel_size, stride, padding, dilation, ceil_mode) -> pool.keep
    max_pool1d max_pool2d max_pool3d
(@input, kernel_size, stride, padding, dilation, ceil_mode) -> (=pool.keep, =pool.int64)
    max_pool1d_with_indices
(@input, output_size) -> (=rank.keep, =rank.int64)
    adaptive_max_pool1d
(@input, @weight, @bias, stride, padding, dilation, transposed, output_padding, groups) -> some.keep
    convolution
(@input, @grid, interpolation_mode, padding_mode, align_corners) -> some.keep
    grid_sampler grid_sampler_2d grid_sampler_3d
(@theta, size, align_corners) -> some.keep
    affine_grid_generator
(@input, dim, dtype) -> same.keep
    softmax log_softmax
(@input, @target, @weight, @pos_weight, reduction) -> any.keep guests=input,weight,pos_weight
    binary_cross_entropy_with_logits
(@input1, @input2, @target, margin, reduction) -> any.keep scalars
    cosine_embedding_loss margin_ranking_loss
(@input, @target, margin, reduction) -> any.keep scalars
    hinge_embedding_loss
(@input, @target, reduction, *, log_target) -> any.keep scalars
    kl_div
(@input, @target, log_input, full, eps, reduction) -> any.keep scalars
    poisson_nll_loss
(@anchor, @positive, @negative, margin, p, eps, swap, reduction) -> any.keep
    triplet_margin_loss
(@log_probs, ~targets, ~input_lengths, ~target_lengths, blank, reduction, zero_infinity) -> any.keep
    ctc_loss
(@v, pow, dim) -> any.keep
    norm_except_dim
"""
RECURRENT = """
(@input, @hx, @params, has_biases, num_layers, dropout, train, bidirectional, batch_first) \
-> (=some.keep, =some.keep, =some.keep)
    lstm
(@input, @hx, @params, has_biases, num_layers, dropout, train, bidirectional, batch_first) \
-> (=some.keep, =some.keep)
    gru rnn_tanh rnn_relu
(@input, @hx, @w_ih, @w_hh, @b_ih, @b_hh) -> (=some.keep, =some.keep) guests=b_ih,b_hh
    lstm_cell
(@input, @hx, @w_ih, @w_hh, @b_ih, @b_hh) -> some.keep guests=b_ih,b_hh
    gru_cell
(@input, @hx, @w_ih, @w_hh, @b_ih, @b_hh) -> some.keep
    rnn_tanh_cell rnn_relu_cell
"""
METHODS = """
(@input, dim, dtype) -> same.keep
    softmax log_softmax
"""


def register_all() -> None:
    register(TABLE, "torch")
    register(RECURRENT, "torch")
    register(METHODS, "torch.Tensor")
