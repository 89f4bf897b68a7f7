"""The package under the names by which its own modules import it: `torch.sparse.torch.eye(10)`."""

from __future__ import annotations

from device_lens.models.registry import ALIASES

_IMPORTING = (
    "autograd autograd.function cuda distributed fft functional jit nn.functional nn.init "
    "nn.parameter random serialization sparse special storage utils"
)
"""Modules of `torch` that programs reach the package through."""


def register_all() -> None:
    for module in _IMPORTING.split():
        ALIASES[f"torch.{module}.torch"] = "torch"
