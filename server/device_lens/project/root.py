"""Finds the root of the project that a file belongs to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import takewhile

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
    folder of the editor around it, else its own package or folder."""
    around = [each for each in folders if path.startswith(os.path.join(each, ""))]
    return find_root(path, max(around, key=len) if around else package_around(path))


def package_around(path: str) -> str:
    """The outermost package that a folder, or the folder of a file, belongs to; the folder itself
    where it is no package."""
    folders = folders_upwards(path)
    outermost = next(folders)
    if _is_package(outermost):
        outermost = [outermost, *takewhile(_is_package, folders)][-1]
    return outermost


def _is_package(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, "__init__.py"))


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
