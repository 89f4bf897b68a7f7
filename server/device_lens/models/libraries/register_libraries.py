"""Every other library; each in a file of its own."""

from __future__ import annotations

from device_lens.models.libraries import (
    accelerate,
    apex,
    attribute_dicts,
    einops,
    ema_pytorch,
    fabric,
    gymnasium,
    higher,
    images,
    lightning,
    network,
    numpy,
    opaque,
    pandas,
    plotting,
    sklearn,
    timm,
    torch_geometric,
    torchaudio,
    torchinfo,
    torchmetrics,
    torchtext,
    torchvision,
    transformers,
    transformers_layers,
    transformers_parts,
    transformers_trainer,
)

_TABLES = (
    attribute_dicts,
    opaque,
    numpy,
    plotting,
    sklearn,
    pandas,
    images,
    gymnasium,
    timm,
    torchvision,
    transformers,
    transformers_layers,
    transformers_parts,
    transformers_trainer,
    lightning,
    accelerate,
    fabric,
    apex,
    einops,
    ema_pytorch,
    higher,
    torch_geometric,
    torchaudio,
    network,
    torchinfo,
    torchmetrics,
    torchtext,
)


def register_all() -> None:
    for table in _TABLES:
        table.register_all()
