"""Finds the root of the project that a file belongs to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

_MARKS = ("pyproject.toml", ".git")


def find_root(path: str, fallback: str) -> str:
    """The nearest folder at or above ``path`` that has a ``pyproject.toml`` or ``.git``, else
    ``fallback``, the current folder."""
    for folder in folders_upwards(path):
        if any(os.path.exists(os.path.join(folder, mark)) for mark in _MARKS):
            return folder
    return os.path.abspath(fallback)


def root_of(path: str, folders: Sequence[str]) -> str:
    """The root of the project that a file belongs to: as the command line has it, else the
    folder of the editor around it, else its own folder."""
    around = [each for each in folders if path.startswith(os.path.join(each, ""))]
    fallback = max(around, key=len, default=os.path.dirname(path) or ".")
    return find_root(path, fallback)


def folders_upwards(path: str) -> Iterator[str]:
    """The folder itself, or the folder of a file, and all above it."""
    folder = os.path.abspath(path)
    if not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    while True:
        yield folder
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above
