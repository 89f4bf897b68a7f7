"""Modules that are loaded late."""

from __future__ import annotations

from importlib import import_module


def load() -> None:
    """Loads what analyses, which otherwise is loaded by the first file that is analysed: a run in
    which nothing is analysed does without."""
    for name in ("interpreter.analysis", "ide.costs", "ide.diagnostics"):
        import_module(f"device_lens.{name}")


def load_all() -> None:
    """As `load`, and the models of libraries, which otherwise are loaded by the first file that
    imports PyTorch: a server will need them."""
    load()
    import_module("device_lens.ide.project")
    import_module("device_lens.models.registry").load()
