"""The modules without parameters: activations, pooling, padding, reshaping, losses."""

from __future__ import annotations

from device_lens.models.torch.nn_layer import Layer
from device_lens.models.words import words

_F = "torch.nn.functional."
_REDUCTION = "size_average=None reduce=None reduction='mean'"

_ACTIVATIONS = {
    "AlphaDropout": ("p=0.5 inplace=False", "alpha_dropout"),
    "CELU": ("alpha=1.0 inplace=False", "celu"),
    "Dropout": ("p=0.5 inplace=False", "dropout"),
    "Dropout1d": ("p=0.5 inplace=False", "dropout1d"),
    "Dropout2d": ("p=0.5 inplace=False", "dropout2d"),
    "Dropout3d": ("p=0.5 inplace=False", "dropout3d"),
    "ELU": ("alpha=1.0 inplace=False", "elu"),
    "FeatureAlphaDropout": ("p=0.5 inplace=False", "feature_alpha_dropout"),
    "GELU": ("approximate='none'", "gelu"),
    "Hardshrink": ("lambd=0.5", "hardshrink"),
    "Hardsigmoid": ("inplace=False", "hardsigmoid"),
    "Hardswish": ("inplace=False", "hardswish"),
    "Hardtanh": ("min_val=-1.0 max_val=1.0 inplace=False", "hardtanh"),
    "LeakyReLU": ("negative_slope=0.01 inplace=False", "leaky_relu"),
    "LogSigmoid": ("", "logsigmoid"),
    "Mish": ("inplace=False", "mish"),
    "RReLU": ("lower=0.125 upper=0.3333 inplace=False", "rrelu"),
    "ReLU": ("inplace=False", "relu"),
    "ReLU6": ("inplace=False", "relu6"),
    "SELU": ("inplace=False", "selu"),
    "SiLU": ("inplace=False", "silu"),
    "Sigmoid": ("", "sigmoid"),
    "Softplus": ("beta=1.0 threshold=20.0", "softplus"),
    "Softshrink": ("lambd=0.5", "softshrink"),
    "Softsign": ("", "softsign"),
    "Tanh": ("", "tanh"),
    "Tanhshrink": ("", "tanhshrink"),
    "Threshold": ("threshold value inplace=False", "relu"),
    "Softmax2d": ("", "softmax"),
}
"""Constructor and function; none of the arguments matters to devices or shapes."""

_ALONG = {
    "GLU": ("dim=-1", "glu", "dim"),
    "LogSoftmax": ("dim=None", "log_softmax", "dim"),
    "Softmax": ("dim=None", "softmax", "dim"),
    "Softmin": ("dim=None", "softmin", "dim"),
    "ChannelShuffle": ("groups", "channel_shuffle", "groups"),
    "PixelShuffle": ("upscale_factor", "pixel_shuffle", "upscale_factor"),
    "PixelUnshuffle": ("downscale_factor", "pixel_unshuffle", "downscale_factor"),
    "CosineSimilarity": ("dim=1 eps=1e-08", "cosine_similarity", "dim"),
    "PairwiseDistance": ("p=2.0 eps=1e-06 keepdim=False", "pairwise_distance", "keepdim"),
    "Fold": (
        "output_size kernel_size dilation=1 padding=0 stride=1",
        "fold",
        "output_size kernel_size dilation padding stride",
    ),
    "Unfold": (
        "kernel_size dilation=1 padding=0 stride=1",
        "unfold",
        "kernel_size dilation padding stride",
    ),
    "Upsample": (
        "size=None scale_factor=None mode='nearest' align_corners=None recompute_scale_factor=None",
        "interpolate",
        "size scale_factor mode",
    ),
    "UpsamplingBilinear2d": ("size=None scale_factor=None", "interpolate", "size scale_factor"),
    "UpsamplingNearest2d": ("size=None scale_factor=None", "interpolate", "size scale_factor"),
}
"""Constructor, function, and the attributes that the function gets."""

_POOLING = {
    "MaxPool{}d": (
        "kernel_size stride=None padding=0 dilation=1 return_indices=False ceil_mode=False",
        "max_pool{}d",
        "kernel_size stride padding dilation return_indices ceil_mode",
    ),
    "AvgPool{}d": (
        "kernel_size stride=None padding=0 ceil_mode=False count_include_pad=True",
        "avg_pool{}d",
        "kernel_size stride padding ceil_mode",
    ),
    "AdaptiveAvgPool{}d": ("output_size", "adaptive_avg_pool{}d", "output_size"),
    "AdaptiveMaxPool{}d": (
        "output_size return_indices=False",
        "adaptive_max_pool{}d",
        "output_size return_indices",
    ),
    "LPPool{}d": (
        "norm_type kernel_size stride=None ceil_mode=False",
        "lp_pool{}d",
        "norm_type kernel_size stride ceil_mode",
    ),
    "MaxUnpool{}d": (
        "kernel_size stride=None padding=0",
        "max_unpool{}d",
        "kernel_size stride padding",
    ),
}

_LOSSES = {
    "BCELoss": (f"weight=None {_REDUCTION}", "binary_cross_entropy", "weight"),
    "BCEWithLogitsLoss": (
        f"weight=None {_REDUCTION} pos_weight=None",
        "binary_cross_entropy_with_logits",
        "weight pos_weight",
    ),
    "CTCLoss": ("blank=0 reduction='mean' zero_infinity=False", "ctc_loss", ""),
    "CosineEmbeddingLoss": (f"margin=0.0 {_REDUCTION}", "cosine_embedding_loss", ""),
    "CrossEntropyLoss": (
        "weight=None size_average=None ignore_index=-100 reduce=None reduction='mean' "
        "label_smoothing=0.0",
        "cross_entropy",
        "weight",
    ),
    "GaussianNLLLoss": ("full=False eps=1e-06 reduction='mean'", "gaussian_nll_loss", ""),
    "HingeEmbeddingLoss": (f"margin=1.0 {_REDUCTION}", "hinge_embedding_loss", ""),
    "HuberLoss": ("reduction='mean' delta=1.0", "huber_loss", ""),
    "KLDivLoss": (f"{_REDUCTION} log_target=False", "kl_div", ""),
    "L1Loss": (_REDUCTION, "l1_loss", ""),
    "MSELoss": (_REDUCTION, "mse_loss", ""),
    "MarginRankingLoss": (f"margin=0.0 {_REDUCTION}", "margin_ranking_loss", ""),
    "MultiLabelMarginLoss": (_REDUCTION, "multilabel_margin_loss", ""),
    "MultiLabelSoftMarginLoss": (
        f"weight=None {_REDUCTION}",
        "multilabel_soft_margin_loss",
        "weight",
    ),
    "MultiMarginLoss": (
        f"p=1 margin=1.0 weight=None {_REDUCTION}",
        "multi_margin_loss",
        "weight",
    ),
    "NLLLoss": (
        "weight=None size_average=None ignore_index=-100 reduce=None reduction='mean'",
        "nll_loss",
        "weight",
    ),
    "NLLLoss2d": (
        "weight=None size_average=None ignore_index=-100 reduce=None reduction='mean'",
        "nll_loss",
        "weight",
    ),
    "PoissonNLLLoss": (
        "log_input=True full=False size_average=None eps=1e-08 reduce=None reduction='mean'",
        "poisson_nll_loss",
        "",
    ),
    "SmoothL1Loss": (f"{_REDUCTION} beta=1.0", "smooth_l1_loss", ""),
    "SoftMarginLoss": (_REDUCTION, "soft_margin_loss", ""),
    "TripletMarginLoss": (
        f"margin=1.0 p=2.0 eps=1e-06 swap=False {_REDUCTION}",
        "triplet_margin_loss",
        "",
    ),
    "TripletMarginWithDistanceLoss": (
        "distance_function=None margin=1.0 swap=False reduction='mean'",
        "triplet_margin_with_distance_loss",
        "",
    ),
}
"""Constructor, function, and the arguments that become buffers."""

_PADDING = words("Circular Constant Reflection Replication Zero")


def _activations() -> list[Layer]:
    return [
        Layer(f"torch.nn.{name}", constructor, function=_F + function)
        for name, (constructor, function) in _ACTIVATIONS.items()
    ]


def _along() -> list[Layer]:
    return [
        Layer(f"torch.nn.{name}", constructor, function=_F + function, passes=passes)
        for name, (constructor, function, passes) in _ALONG.items()
    ]


def _pooling() -> list[Layer]:
    return [
        Layer(
            f"torch.nn.{name.format(dims)}",
            constructor,
            function=_F + function.format(dims),
            passes=passes,
        )
        for name, (constructor, function, passes) in _POOLING.items()
        for dims in (1, 2, 3)
    ] + [
        Layer(
            f"torch.nn.FractionalMaxPool{dims}d",
            "kernel_size output_size=None output_ratio=None return_indices=False "
            "_random_samples=None",
            keeps="_random_samples",
            function=f"{_F}fractional_max_pool{dims}d",
            passes="kernel_size output_size output_ratio return_indices _random_samples",
        )
        for dims in (2, 3)
    ]


def _losses() -> list[Layer]:
    return [
        Layer(
            f"torch.nn.{name}",
            constructor,
            keeps=keeps,
            function=_F + function,
            passes=f"{keeps} reduction",
        )
        for name, (constructor, function, keeps) in _LOSSES.items()
    ]


def _padding() -> list[Layer]:
    return [
        Layer(
            f"torch.nn.{kind}Pad{dims}d",
            "padding value=0.0",
            function=_F + "pad",
            passes="pad=padding",
        )
        for kind in _PADDING
        for dims in (1, 2, 3)
    ]


PLAIN: tuple[Layer, ...] = (
    *_activations(),
    *_along(),
    *_pooling(),
    *_losses(),
    *_padding(),
    Layer(
        "torch.nn.Flatten",
        "start_dim=1 end_dim=-1",
        function="torch.flatten",
        passes="start_dim end_dim",
    ),
    Layer(
        "torch.nn.Unflatten",
        "dim unflattened_size",
        function="torch.unflatten",
        passes="dim sizes=unflattened_size",
    ),
)
