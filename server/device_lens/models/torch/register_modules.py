"""Modules and everything around them: containers, optimizers, data, distributed, state."""

from __future__ import annotations

from device_lens.models.torch import (
    amp,
    autograd,
    availability,
    averaging,
    checkpointing,
    containers,
    copying,
    cuda,
    data,
    defaults,
    distributed,
    distribution_transforms,
    distributions,
    everywhere,
    forward_hooks,
    gradient_hooks,
    handles,
    lists,
    module_methods,
    nn_aliases,
    nn_bases,
    nn_init,
    nn_modules_attention,
    nn_modules_other,
    nn_utils,
    optim,
    parameter,
    random,
    serialization,
)

_TABLES = (
    module_methods,
    handles,
    copying,
    nn_modules_other,
    nn_bases,
    nn_modules_attention,
    containers,
    optim,
    averaging,
    data,
    cuda,
    availability,
    defaults,
    autograd,
    everywhere,
    forward_hooks,
    gradient_hooks,
    checkpointing,
    amp,
    random,
    serialization,
    distributed,
    distribution_transforms,
    distributions,
    nn_utils,
    nn_init,
    parameter,
    nn_aliases,
    lists,
)


def register_all() -> None:
    for table in _TABLES:
        table.register_all()
