"""Functions, tensor methods and attributes of PyTorch, in the order in which they register:
methods that are functions too come after those."""

from __future__ import annotations

from device_lens.models.torch import (
    attributes,
    compilation,
    creation,
    elementwise,
    evidence,
    from_data,
    functional,
    indexing,
    layers,
    like,
    linear_algebra,
    nested,
    operators,
    overloads,
    package,
    quantized,
    queries,
    reduction,
    select,
    shape,
    sparse,
    special,
    spectral,
    splitting,
    tensor_methods,
    testing,
    transfers,
    transforms,
    types,
)

_TABLES = (
    creation,
    from_data,
    like,
    elementwise,
    reduction,
    shape,
    splitting,
    linear_algebra,
    select,
    functional,
    layers,
    quantized,
    spectral,
    special,
    overloads,
    tensor_methods,
    testing,
    queries,
    transfers,
    operators,
    indexing,
    attributes,
    types,
    sparse,
    nested,
    transforms,
    compilation,
    package,
)


def register_all() -> None:
    for table in _TABLES:
        table.register_all()
    overloads.register_bounded()
    evidence.guard_methods()
