"""Samples for the classes of `torch.nn`: what they are made from, what they are called with.

PyTorch's own test samples serve most classes; those that it has none for are written here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import nn
from torch.testing._internal.common_modules import module_db

from model_check.placement import Sample

MOST = 4
"""Samples of a class that are tried."""


@dataclass
class ModuleSample:
    """One way to make a module and to call it, all on the host."""

    constructor: Sample
    call: Sample

    def __str__(self) -> str:
        return f"({self.constructor})({self.call})"


def _made(module: nn.Module, *args: Any, **kwargs: Any) -> nn.Module:
    """A module that knows what it was made from."""
    object.__setattr__(module, "made_from", Sample(args, kwargs))
    return module


def _encoder_layer() -> nn.Module:
    return _made(nn.TransformerEncoderLayer(8, 2, 16), 8, 2, 16)


def _decoder_layer() -> nn.Module:
    return _made(nn.TransformerDecoderLayer(8, 2, 16), 8, 2, 16)


def _linear(size: int) -> nn.Module:
    return _made(nn.Linear(size, size), size, size)


def _relu() -> nn.Module:
    return _made(nn.ReLU())


def _call(*args: Any, **kwargs: Any) -> Sample:
    return Sample(args, kwargs)


def _long(*shape: int, high: int = 3) -> torch.Tensor:
    return torch.randint(0, high, shape)


WRITTEN: dict[str, Callable[[], list[ModuleSample]]] = {
    "Identity": lambda: [ModuleSample(_call(), _call(torch.randn(2, 3)))],
    "Sequential": lambda: [
        ModuleSample(_call(_linear(3), _relu(), _linear(3)), _call(torch.randn(2, 3)))
    ],
    "TransformerEncoder": lambda: [
        ModuleSample(_call(_encoder_layer(), 2), _call(torch.randn(5, 2, 8))),
        ModuleSample(
            _call(_encoder_layer(), 2), _call(torch.randn(5, 2, 8), mask=torch.zeros(5, 5))
        ),
    ],
    "TransformerDecoder": lambda: [
        ModuleSample(_call(_decoder_layer(), 2), _call(torch.randn(5, 2, 8), torch.randn(4, 2, 8)))
    ],
    "LSTM": lambda: [
        ModuleSample(_call(3, 4, batch_first=True), _call(torch.randn(2, 5, 3))),
        ModuleSample(
            _call(3, 4, 2, bidirectional=True),
            _call(torch.randn(5, 2, 3), (torch.zeros(4, 2, 4), torch.zeros(4, 2, 4))),
        ),
    ],
    "GRU": lambda: [ModuleSample(_call(3, 4, 2), _call(torch.randn(5, 2, 3)))],
    "RNN": lambda: [ModuleSample(_call(3, 4), _call(torch.randn(5, 2, 3), torch.zeros(1, 2, 4)))],
    "AdaptiveLogSoftmaxWithLoss": lambda: [
        ModuleSample(_call(16, 20, [5, 10]), _call(torch.randn(4, 16), _long(4, high=20)))
    ],
    "LinearCrossEntropyLoss": lambda: [
        ModuleSample(_call(4, 3), _call(torch.randn(5, 4), _long(5)))
    ],
    "MaxUnpool1d": lambda: [_unpool(1)],
    "MaxUnpool2d": lambda: [_unpool(2)],
    "MaxUnpool3d": lambda: [_unpool(3)],
    "Unflatten": lambda: [ModuleSample(_call(1, (2, 3)), _call(torch.randn(4, 6)))],
    "Flatten": lambda: [ModuleSample(_call(), _call(torch.randn(4, 2, 3)))],
    "Fold": lambda: [ModuleSample(_call((4, 5), (2, 2)), _call(torch.randn(1, 12, 12)))],
    "Unfold": lambda: [ModuleSample(_call((2, 2)), _call(torch.randn(1, 3, 4, 5)))],
    "Upsample": lambda: [ModuleSample(_call(scale_factor=2.0), _call(torch.randn(1, 2, 3, 4)))],
    "UpsamplingBilinear2d": lambda: [
        ModuleSample(_call(scale_factor=2), _call(torch.randn(1, 2, 3, 4)))
    ],
    "UpsamplingNearest2d": lambda: [ModuleSample(_call(6), _call(torch.randn(1, 2, 3, 4)))],
    "PixelShuffle": lambda: [ModuleSample(_call(2), _call(torch.randn(1, 8, 3, 3)))],
    "PixelUnshuffle": lambda: [ModuleSample(_call(2), _call(torch.randn(1, 2, 4, 4)))],
    "ChannelShuffle": lambda: [ModuleSample(_call(2), _call(torch.randn(1, 4, 2, 2)))],
    "CosineSimilarity": lambda: [_two_alike()],
    "PairwiseDistance": lambda: [_two_alike()],
    "NLLLoss2d": lambda: [
        ModuleSample(_call(), _call(torch.randn(2, 3, 4, 4).log_softmax(1), _long(2, 4, 4)))
    ],
    "TripletMarginWithDistanceLoss": lambda: [
        ModuleSample(_call(), _call(*(torch.randn(4, 3) for _ in range(3))))
    ],
    "CrossMapLRN2d": lambda: [ModuleSample(_call(2), _call(torch.randn(1, 4, 3, 3)))],
    "Softmin": lambda: [ModuleSample(_call(1), _call(torch.randn(2, 3)))],
    "SyncBatchNorm": list,
    "EmbeddingBag": lambda: [
        ModuleSample(_call(10, 3, mode="sum"), _call(_long(2, 4), None, torch.rand(2, 4)))
    ],
    "LazyLinear": lambda: [ModuleSample(_call(3), _call(torch.randn(2, 4)))],
    "Softmax2d": lambda: [ModuleSample(_call(), _call(torch.randn(1, 2, 3, 3)))],
    "TripletMarginLoss": lambda: [
        ModuleSample(_call(), _call(*(torch.randn(4, 3) for _ in range(3))))
    ],
    **{
        name: lambda: [_plain(2, 3)] for name in ("Dropout", "AlphaDropout", "RReLU", "Hardsigmoid")
    },
    **dict.fromkeys(("Dropout1d", "FeatureAlphaDropout"), lambda: [_plain(1, 2, 4)]),
    "Dropout2d": lambda: [_plain(1, 2, 4, 4)],
    "Dropout3d": lambda: [_plain(1, 2, 4, 4, 4)],
    **{
        f"Lazy{kind}Norm{dims}d": lambda dims=dims: [_plain(2, 3, *([4] * dims))]
        for kind in ("Batch", "Instance")
        for dims in (1, 2, 3)
    },
    "LPPool3d": lambda: [ModuleSample(_call(2, 2), _call(torch.randn(1, 2, 4, 4, 4)))],
}


def _plain(*shape: int) -> ModuleSample:
    """A module made without arguments and called with one tensor."""
    return ModuleSample(_call(), _call(torch.randn(*shape)))


def _two_alike() -> ModuleSample:
    return ModuleSample(_call(), _call(torch.randn(4, 3), torch.randn(4, 3)))


def _unpool(dims: int) -> ModuleSample:
    pool = getattr(nn, f"MaxPool{dims}d")(2, return_indices=True)
    values, indices = pool(torch.randn(1, 1, *([4] * dims)))
    return ModuleSample(_call(2), _call(values, indices))


@cache
def _of_pytorch() -> dict[str, list[ModuleSample]]:
    found: dict[str, list[ModuleSample]] = {}
    for info in module_db:
        cls = info.module_cls
        if cls.__module__.startswith("torch.nn.modules"):
            found.setdefault(cls.__name__, []).extend(_inputs(info))
    return found


def _inputs(info: Any) -> Iterator[ModuleSample]:
    made = info.module_inputs_func(
        info, device="cpu", dtype=torch.float32, requires_grad=False, training=True
    )
    for given in made:
        call = given.forward_input
        if call is not None:
            constructor = Sample(given.constructor_input.args, given.constructor_input.kwargs)
            yield ModuleSample(constructor, Sample(call.args, call.kwargs))


def samples_of(name: str) -> list[ModuleSample]:
    """The samples of a class: those written here first."""
    written = WRITTEN[name]() if name in WRITTEN else []
    known = [sample for sample in _of_pytorch().get(name, []) if not _holds_modules(sample)]
    return [*written, *known[:MOST]]


def _holds_modules(sample: ModuleSample) -> bool:
    given = (*sample.constructor.args, *sample.constructor.kwargs.values())
    return any(isinstance(item, nn.Module) for item in given)
