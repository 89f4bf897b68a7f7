"""Layers whose weights are computed, by `parametrize`, each time that they run."""

from __future__ import annotations

from device_lens.domain.heap import ModuleObject
from device_lens.domain.values import External
from device_lens.models.call import Services, Value

HELD = "parametrizations"
"""The part of a module under which PyTorch keeps what computes its weights."""


def compute_weights(services: Services, module: ModuleObject) -> None:
    """Before a layer of PyTorch's runs, its parametrized weights are computed anew, of parts and of
    originals that are where they have moved to since."""
    held = module.modules.get(HELD)
    if not isinstance(held, ModuleObject) or type(module.cls) is not External:
        return
    for computing in [*held.modules.values()]:
        if isinstance(computing, ModuleObject) and "original" in computing.parameters:
            value: Value = computing.parameters["original"]
            for part in [*computing.modules.values()]:
                value = services.invoke(part, (value,), {})
