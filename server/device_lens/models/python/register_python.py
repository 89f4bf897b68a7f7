"""Registers the models of Python's own functions and types."""

from __future__ import annotations

from device_lens.models.python import (
    absl_flags,
    builtins,
    chained_dicts,
    click_commands,
    commands,
    concurrency,
    configuration,
    containers,
    counting,
    dict_classes,
    functions,
    getters,
    held_in_texts,
    iterators,
    list_classes,
    mappings,
    namespaces,
    optparse_options,
    own_contexts,
    records,
    standard_library,
    texts,
    user_dicts,
)


def register_all() -> None:
    builtins.register()
    iterators.register()
    containers.register()
    counting.register()
    mappings.register()
    dict_classes.register()
    user_dicts.register()
    chained_dicts.register()
    list_classes.register()
    functions.register()
    held_in_texts.register()
    getters.register()
    records.register()
    configuration.register()
    namespaces.register()
    optparse_options.register()
    own_contexts.register()
    commands.register()
    click_commands.register()
    absl_flags.register()
    standard_library.register_all()
    concurrency.register()
    texts.register()
