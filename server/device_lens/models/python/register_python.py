"""Registers the models of Python's own functions and types."""

from __future__ import annotations

from device_lens.models.python import (
    builtins,
    commands,
    configuration,
    containers,
    functions,
    getters,
    iterators,
    mappings,
    records,
    standard_library,
    texts,
)


def register_all() -> None:
    builtins.register()
    iterators.register()
    containers.register()
    mappings.register()
    functions.register()
    getters.register()
    records.register()
    configuration.register()
    commands.register()
    standard_library.register_all()
    texts.register()
