"""Modules that are loaded late."""

from __future__ import annotations

from importlib import import_module


def load() -> None:
    """Loads what analyses, which otherwise is loaded by the first file that is analysed: a run in
    which nothing is analysed does without."""
    for name in ("interpreter.analysis", "ide.costs", "ide.diagnostics"):
        import_module(f"device_lens.{name}")
