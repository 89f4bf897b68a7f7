"""The files of `torch.nn.modules`, whose classes are also known by their file's name."""

from __future__ import annotations

from device_lens.models import registry

_PREFIXES = {
    "activation": (
        "CELU ELU GELU GLU Hard LeakyReLU LogSig LogSoft Mish Multihead PReLU RReLU ReLU SELU SiLU "
        "Sigmoid Soft Tanh Threshold"
    ),
    "adaptive": "AdaptiveLog",
    "batchnorm": "BatchNorm LazyBatchNorm SyncBatchNorm",
    "channelshuffle": "ChannelShuffle",
    "container": "Container ModuleDict ModuleList ParameterDict ParameterList Sequential",
    "conv": "Conv LazyConv",
    "distance": "CosineSimilarity PairwiseDistance",
    "dropout": "AlphaDropout Dropout FeatureAlphaDropout",
    "flatten": "Flatten Unflatten",
    "fold": "Fold Unfold",
    "instancenorm": "InstanceNorm LazyInstanceNorm",
    "linear": "Bilinear Identity LazyLinear Linear",
    "normalization": "CrossMap GroupNorm LayerNorm LocalResponse RMSNorm",
    "padding": "Circular Constant Reflection Replication ZeroPad",
    "pixelshuffle": "Pixel",
    "pooling": "AdaptiveAvg AdaptiveMax Avg Fractional LPPool Max",
    "rnn": "GRU LSTM RNN",
    "sparse": "Embedding",
    "transformer": "Transformer",
    "upsampling": "Upsample Upsampling",
}
"""How the names of a file's classes begin."""
_NAMESPACE = "torch.nn."


def file_of(name: str) -> str:
    """The file that defines a class of `torch.nn`."""
    if name.endswith("Loss") or name == "NLLLoss2d":
        return "adaptive" if name.startswith("Adaptive") else "loss"
    for file, prefixes in _PREFIXES.items():
        if any(name.startswith(prefix) for prefix in prefixes.split()):
            return file
    return "module"


def register_all() -> None:
    for qualified in list(registry.MODULES):
        name = qualified.removeprefix(_NAMESPACE)
        if "." not in name:
            registry.ALIASES[f"{_NAMESPACE}modules.{file_of(name)}.{name}"] = qualified
            registry.ALIASES[f"{_NAMESPACE}modules.{name}"] = qualified
