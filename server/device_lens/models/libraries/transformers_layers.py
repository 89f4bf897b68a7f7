"""Layers that the models of transformers are made of, as programs take them for their own."""

from __future__ import annotations

from device_lens.models.registry import ALIASES, BASES, MODULES
from device_lens.models.torch.nn_layer import Layer, Made

_CONV1D = "transformers.pytorch_utils.Conv1D"
_ALSO = ("", "modeling_utils.", "models.gpt2.modeling_gpt2.")
"""Other modules that have its name."""


def register_all() -> None:
    MODULES[_CONV1D] = Layer(
        _CONV1D,
        "nf nx",
        (Made("weight", "nx nf"), Made("bias", "nf")),
        function="torch.matmul",
        passes="other=weight",
    )
    BASES[_CONV1D] = ("torch.nn.Module",)
    ALIASES.update((f"transformers.{module}Conv1D", _CONV1D) for module in _ALSO)
