"""The classes that the layers of `torch.nn` share, which programs derive from and ask for.

`isinstance(layer, _BatchNorm)` picks every batch norm, and a convolution of one's own derives from
`_ConvNd` or calls `_conv_forward` with another weight.
"""

from __future__ import annotations

from device_lens.models import registry
from device_lens.models.torch.nn_layer import Layer, Made
from device_lens.models.torch.nn_modules import batch_norm, instance_norm
from device_lens.models.words import words

_MODULES = "torch.nn.modules."
_MODULE = "torch.nn.Module"
_LAZY = "torch.nn.modules.lazy.LazyModuleMixin"
_DIMS = (1, 2, 3)

_BASES = {
    "batchnorm._NormBase": "batchnorm._BatchNorm instancenorm._InstanceNorm",
    "batchnorm._BatchNorm": "BatchNorm{} LazyBatchNorm{} SyncBatchNorm",
    "instancenorm._InstanceNorm": "InstanceNorm{} LazyInstanceNorm{}",
    "conv._ConvNd": "Conv{} conv._ConvTransposeNd",
    "conv._ConvTransposeNd": "ConvTranspose{}",
    "loss._Loss": (
        "loss._WeightedLoss L1Loss PoissonNLLLoss GaussianNLLLoss KLDivLoss MSELoss "
        "BCEWithLogitsLoss HingeEmbeddingLoss MultiLabelMarginLoss SmoothL1Loss HuberLoss "
        "SoftMarginLoss CosineEmbeddingLoss MarginRankingLoss TripletMarginLoss "
        "TripletMarginWithDistanceLoss CTCLoss"
    ),
    "loss._WeightedLoss": (
        "NLLLoss BCELoss CrossEntropyLoss LinearCrossEntropyLoss MultiLabelSoftMarginLoss "
        "MultiMarginLoss"
    ),
    "dropout._DropoutNd": (
        "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout"
    ),
    "pooling._MaxPoolNd": "MaxPool{}",
    "pooling._AvgPoolNd": "AvgPool{}",
    "pooling._LPPoolNd": "LPPool{}",
    "pooling._MaxUnpoolNd": "MaxUnpool{}",
    "pooling._AdaptiveMaxPoolNd": "AdaptiveMaxPool{}",
    "pooling._AdaptiveAvgPoolNd": "AdaptiveAvgPool{}",
    **{
        f"padding._{kind}PadNd": f"{kind}Pad{{}}"
        for kind in ("Circular", "Constant", "Reflection", "Replication")
    },
    "rnn.RNNCellBase": "RNNCell LSTMCell GRUCell",
    "RNNBase": "RNN LSTM GRU",
    "Linear": "LazyLinear linear.NonDynamicallyQuantizableLinear",
    "Hardtanh": "ReLU6",
    "NLLLoss": "NLLLoss2d",
    "Upsample": "UpsamplingNearest2d UpsamplingBilinear2d",
    **{
        f"{kind}{dims}d": f"Lazy{kind}{dims}d"
        for kind in ("Conv", "ConvTranspose")
        for dims in _DIMS
    },
    **{f"ConstantPad{dims}d": f"ZeroPad{dims}d" for dims in _DIMS},
}
"""The classes that derive from each; `{}` stands for one, two and three dimensions."""

_ROWS = (
    batch_norm(f"{_MODULES}batchnorm._NormBase"),
    batch_norm(f"{_MODULES}batchnorm._BatchNorm"),
    instance_norm(f"{_MODULES}instancenorm._InstanceNorm"),
    Layer(
        f"{_MODULES}conv._ConvNd",
        "in_channels out_channels kernel_size stride padding dilation transposed output_padding "
        "groups bias padding_mode device=None dtype=None",
        (Made("weight", "?"), Made("bias", "out_channels", "bias")),
    ),
    Layer(f"{_MODULES}loss._Loss", "size_average=None reduce=None reduction='mean'"),
    Layer(
        f"{_MODULES}loss._WeightedLoss",
        "weight=None size_average=None reduce=None reduction='mean'",
        keeps="weight",
    ),
    Layer(f"{_MODULES}dropout._DropoutNd", "p=0.5 inplace=False"),
    Layer("torch.jit.ScriptModule", ""),
)
"""Those whose constructors programs call."""


def _qualified(name: str) -> str:
    return f"{_MODULES}{name}" if "." in name else f"torch.nn.{name}"


def _derived(text: str) -> list[str]:
    sizes = [f"{dims}d" for dims in _DIMS]
    return [_qualified(word.format(size)) for word in words(text) for size in sizes]


def _ancestors(name: str, parents: dict[str, str]) -> tuple[str, ...]:
    found: list[str] = []
    while name in parents:
        name = parents[name]
        found.append(name)
    return (*found, _MODULE)


def register_all() -> None:
    """Fills the registry with the bases, and tells of each layer from which it derives."""
    parents = {name: _qualified(base) for base, text in _BASES.items() for name in _derived(text)}
    mixins = {name: (_LAZY,) for name in parents if name.startswith("torch.nn.Lazy")}
    for row in _ROWS:
        registry.MODULES[row.name] = row
    for name in {*parents, *parents.values(), "torch.jit.ScriptModule"}:
        registry.BASES[name] = (*mixins.get(name, ()), *_ancestors(name, parents))
    for dims in _DIMS:
        layer = Layer(
            f"torch.nn.Conv{dims}d._conv_forward",
            "",
            function=f"torch.nn.functional.conv{dims}d",
            passes="stride padding dilation groups",
        )
        registry.FUNCTIONS[layer.name] = layer.forward
