"""The state of a program that holds for whatever it runs, until it sets something else."""

from __future__ import annotations

from typing import Any

from device_lens.domain.device import CPU, Device
from device_lens.domain.values import FALSE, NONE
from device_lens.models.python.concurrency import FORKED, START_METHOD
from device_lens.models.torch.collectives import GROUP
from device_lens.models.torch.replaced import AWAITED

DEVICES = ("default_device", "default_type", "current_cuda")
"""What decides where factories create: the default device, that of the default type, and what
`cuda` stands for."""


def initial() -> dict[str, Any]:
    """The state in which every program begins. `grad`: whether gradients are kept; `expecting`:
    whether a test waits for an exception; `no_gpu`: whether the program has hidden every GPU by
    the environment; `entered`: managers entered without a `with`, each with what ends it;
    `module_hooks`: hooks of all modules; `modes`: whether a mode of the program may move what
    functions give; others are told of where they are defined."""
    return {
        "default_device": CPU,
        "default_type": CPU,
        "current_cuda": Device("cuda"),
        "grad": True,
        "expecting": False,
        "no_gpu": FALSE,
        "entered": (),
        "module_hooks": (),
        "modes": False,
        AWAITED: (),
        GROUP: NONE,
        FORKED: None,
        START_METHOD: False,
    }


def devices(state: dict[str, Any]) -> tuple[Any, ...]:
    """Where factories create in a state."""
    return tuple([state[name] for name in DEVICES])
