"""What the models leave out, or say otherwise than PyTorch, on purpose."""

from __future__ import annotations

INTERNALS_TEXT = {
    "back ends' own entry points, which programs do not call": """
        fbgemm_linear_fp16_weight fbgemm_linear_fp16_weight_fp32_activation
        fbgemm_linear_int8_weight fbgemm_linear_int8_weight_fp32_activation
        fbgemm_linear_quantize_weight fbgemm_pack_gemm_matrix_fp16 fbgemm_pack_quantized_matrix
        miopen_batch_norm miopen_convolution miopen_convolution_add_relu miopen_convolution_relu
        miopen_convolution_transpose miopen_depthwise_convolution miopen_rnn
        batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt
        batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_stats
        batch_norm_update_stats native_norm choose_qparams_optimized
        fused_moving_avg_obs_fake_quant quantized_batch_norm quantized_gru_cell
        quantized_lstm_cell quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d
        quantized_rnn_relu_cell quantized_rnn_tanh_cell
    """,
    "symbolic integers of the compiler": """
        sym_float sym_int sym_ite sym_max sym_min sym_not
    """,
    "the protocol of pickling, copying and printing": """
        __reduce_ex__ __setstate__ __array_wrap__ __dlpack__ __dlpack_device__ __deepcopy__
        __format__ module_load __torch_function__
    """,
    "Python 2's division": "__div__ __idiv__ __rdiv__ __long__ __nonzero__",
    "out of place twins of `resize_` and their kin, deprecated or undocumented": """
        resize resize_as resize_as_sparse_ index tensor_type sym_sum
    """,
    "a class, not a function": "autocast",
}
"""Names that count as internals, by reason."""
INTERNALS = frozenset(name for text in INTERNALS_TEXT.values() for name in text.split())

MAKERS_TEXT = {
    "torch": """
        arange as_strided as_tensor asarray bartlett_window blackman_window empty empty_permuted
        empty_strided eye fill from_file from_numpy frombuffer full hamming_window hann_window
        kaiser_window linspace logspace normal ones rand rand_like randint randint_like randn
        randn_like randperm range scalar_tensor sparse_bsc_tensor sparse_bsr_tensor
        sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor tensor
        tril_indices triu_indices vander zeros load
    """,
    "torch.Tensor": """
        new new_empty new_empty_strided new_full new_ones new_tensor new_zeros to_sparse_bsc
        to_sparse_bsr to_sparse_csc to_sparse_csr to_sparse_coo to_padded_tensor unflatten
        as_subclass __iter__
    """,
    "torch.fft": "fftfreq rfftfreq",
    "torch.nn.functional": """
        grouped_mm hardsigmoid hardswish sigmoid tanh upsample upsample_bilinear upsample_nearest
    """,
}
MAKERS = {namespace: frozenset(text.split()) for namespace, text in MAKERS_TEXT.items()}
"""Of the functions that PyTorch does not let one override, those that make or move tensors."""

_NO_DIFFERENCE = ("0, 0,", "`diff` with `n=0` gives its operand back and looks at nothing else")
DELIBERATE: dict[str, tuple[str, str]] = {
    "torch.diff": _NO_DIFFERENCE,
    "torch.Tensor.diff": _NO_DIFFERENCE,
    "torch.nn.functional.cosine_embedding_loss": (
        "reduction=none",
        "a 0-dimensional target on an accelerator beside host vectors passes by accident",
    ),
    "torch.nn.functional.linear": (
        "float32[]",
        "a bias without dimensions raises or not with the rank of the input: nobody writes one",
    ),
    "torch.addr": (
        "out=",
        "PyTorch's iterator refuses a destination elsewhere; the emulation lets it pass",
    ),
    "torch.Tensor.to": (
        "dtype: result",
        "an argument of `to` that is not known is taken for a device, so that dtypes survive",
    ),
    "torch.Tensor.is_set_to": ("without dimensions", "asks about storage, which is not followed"),
    "torch.Tensor.set_": (
        "others on",
        "PyTorch refuses storage of another device; the emulation shares host memory and does not",
    ),
}
"""Disagreements that stay: by function, what marks them, and the reason."""
