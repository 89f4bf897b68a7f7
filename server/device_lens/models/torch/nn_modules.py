"""The layers with parameters: linear, convolution, normalisation, embedding."""

from __future__ import annotations

from device_lens.models.torch.nn_layer import Layer, Made, NamedInputs

_PLACE = "device=None dtype=None"
_BIASED = f"{_PLACE} bias=True"
_WEIGHT_BIAS = "weight bias"


def _affine(size: str, when: str) -> tuple[Made, ...]:
    return (Made("weight", size, when), Made("bias", size, f"{when} bias"))


def _statistics() -> tuple[Made, ...]:
    when = "track_running_stats"
    return (
        Made("running_mean", "num_features", when, buffer=True),
        Made("running_var", "num_features", when, buffer=True),
        Made("num_batches_tracked", "", when, buffer=True, dtype="int64"),
    )


def _linear(name: str, constructor: str) -> Layer:
    return Layer(
        name,
        f"{constructor}out_features bias=True {_PLACE}",
        (Made("weight", "out_features in_features"), Made("bias", "out_features", "bias")),
        function="torch.nn.functional.linear",
        passes=_WEIGHT_BIAS,
    )


def _convolution(dims: int, lazy: bool) -> Layer:
    channels = "out_channels" if lazy else "in_channels out_channels"
    return Layer(
        f"torch.nn.{'Lazy' if lazy else ''}Conv{dims}d",
        f"{channels} kernel_size stride=1 padding=0 dilation=1 groups=1 bias=True "
        f"padding_mode='zeros' {_PLACE}",
        (Made("weight", f"=conv{dims}"), Made("bias", "out_channels", "bias")),
        function=f"torch.nn.functional.conv{dims}d",
        passes=f"{_WEIGHT_BIAS} stride padding dilation groups",
    )


def _transposed(dims: int, lazy: bool) -> Layer:
    channels = "out_channels" if lazy else "in_channels out_channels"
    return Layer(
        f"torch.nn.{'Lazy' if lazy else ''}ConvTranspose{dims}d",
        f"{channels} kernel_size stride=1 padding=0 output_padding=0 groups=1 bias=True "
        f"dilation=1 padding_mode='zeros' {_PLACE}",
        (Made("weight", f"=transposed{dims}"), Made("bias", "out_channels", "bias")),
        function=f"torch.nn.functional.conv_transpose{dims}d",
        passes=f"{_WEIGHT_BIAS} stride padding output_padding groups dilation",
    )


def batch_norm(name: str, features: str = "num_features ", group: str = "") -> Layer:
    """The row of a batch norm of this qualified name."""
    return Layer(
        name,
        f"{features}eps=1e-05 momentum=0.1 affine=True track_running_stats=True {group}{_BIASED}",
        (*_affine("num_features", "affine"), *_statistics()),
        function="torch.nn.functional.batch_norm",
        passes=f"running_mean running_var {_WEIGHT_BIAS}",
    )


def instance_norm(name: str, features: str = "num_features ") -> Layer:
    """The row of an instance norm of this qualified name."""
    default = "False" if features else "True"
    return Layer(
        name,
        f"{features}eps=1e-05 momentum=0.1 affine={default} track_running_stats={default} "
        f"{_BIASED}",
        (*_affine("num_features", "affine"), *_statistics()),
        function="torch.nn.functional.instance_norm",
        passes=f"running_mean running_var {_WEIGHT_BIAS}",
    )


_DIMS = (1, 2, 3)

CONVOLUTIONS: tuple[Layer, ...] = tuple(
    row(dims, lazy)
    for row in (_convolution, _transposed)
    for dims in _DIMS
    for lazy in (False, True)
)
NORMALISATIONS: tuple[Layer, ...] = (
    *(batch_norm(f"torch.nn.BatchNorm{dims}d") for dims in _DIMS),
    *(batch_norm(f"torch.nn.LazyBatchNorm{dims}d", "") for dims in _DIMS),
    batch_norm("torch.nn.SyncBatchNorm", group="process_group=None "),
    *(instance_norm(f"torch.nn.InstanceNorm{dims}d") for dims in _DIMS),
    *(instance_norm(f"torch.nn.LazyInstanceNorm{dims}d", "") for dims in _DIMS),
    Layer(
        "torch.nn.LayerNorm",
        f"normalized_shape eps=1e-05 elementwise_affine=True bias=True {_PLACE}",
        (
            Made("weight", "=normalized", "elementwise_affine"),
            Made("bias", "=normalized", "elementwise_affine bias"),
        ),
        function="torch.nn.functional.layer_norm",
        passes=f"normalized_shape {_WEIGHT_BIAS}",
    ),
    Layer(
        "torch.nn.RMSNorm",
        f"normalized_shape eps=None elementwise_affine=True {_PLACE}",
        (Made("weight", "=normalized", "elementwise_affine"),),
        function="torch.nn.functional.rms_norm",
        passes="normalized_shape weight",
    ),
    Layer(
        "torch.nn.GroupNorm",
        f"num_groups num_channels eps=1e-05 affine=True {_BIASED}",
        _affine("num_channels", "affine"),
        function="torch.nn.functional.group_norm",
        passes=f"num_groups {_WEIGHT_BIAS}",
    ),
    *(
        Layer(
            f"torch.nn.{name}",
            "size alpha=0.0001 beta=0.75 k=1.0",
            function="torch.nn.functional.local_response_norm",
            passes="size",
        )
        for name in ("LocalResponseNorm", "CrossMapLRN2d")
    ),
)
LAYERS: tuple[Layer, ...] = (
    _linear("torch.nn.Linear", "in_features "),
    _linear("torch.nn.LazyLinear", ""),
    _linear("torch.nn.modules.linear.NonDynamicallyQuantizableLinear", "in_features "),
    Layer(
        "torch.nn.Bilinear",
        f"in1_features in2_features out_features bias=True {_PLACE}",
        (
            Made("weight", "out_features in1_features in2_features"),
            Made("bias", "out_features", "bias"),
        ),
        function="torch.nn.functional.bilinear",
        passes=_WEIGHT_BIAS,
    ),
    Layer(
        "torch.nn.Embedding",
        "num_embeddings embedding_dim padding_idx=None max_norm=None norm_type=2.0 "
        f"scale_grad_by_freq=False sparse=False _weight=None _freeze=False {_PLACE}",
        (Made("weight", "num_embeddings embedding_dim", given="_weight"),),
        function="torch.nn.functional.embedding",
        passes="weight",
    ),
    NamedInputs(
        "torch.nn.EmbeddingBag",
        "num_embeddings embedding_dim max_norm=None norm_type=2.0 scale_grad_by_freq=False "
        "mode='mean' sparse=False _weight=None include_last_offset=False padding_idx=None "
        f"{_PLACE}",
        (Made("weight", "num_embeddings embedding_dim", given="_weight"),),
        function="torch.nn.functional.embedding_bag",
        passes="weight",
    ),
    Layer(
        "torch.nn.PReLU",
        f"num_parameters=1 init=0.25 {_PLACE}",
        (Made("weight", "num_parameters"),),
        function="torch.nn.functional.prelu",
        passes="weight",
    ),
    *CONVOLUTIONS,
    *NORMALISATIONS,
)
