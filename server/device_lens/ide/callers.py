"""Finds who imports a few files of a large project without parsing all of it: only files whose
text names a module can import it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence

from device_lens.interpreter.budget import Cancelled
from device_lens.project.reading import FileText, read_text

_CHOOSING = "import_module"
"""What stands in a text that imports modules by names that it puts together."""
MOST_BYTES = 2_000_000
Parse = Callable[[Iterable[str]], object]
"""Takes files into the module graph."""
Importers = Callable[[str], Iterable[str]]
"""The files that import a file directly or not, as far as the graph knows."""


def find_callers(
    targets: Sequence[str],
    files: Sequence[str],
    index: Parse,
    importers: Importers,
    cancelled: Callable[[], bool] = lambda: False,
) -> frozenset[str]:
    """The files that import the targets, directly or not; they are in the graph afterwards.

    Raises the interpreter's `Cancelled` where the caller asks for it.
    """
    texts: dict[str, str] = {}
    indexed: set[str] = set(targets)
    for path in files:
        if cancelled():
            raise Cancelled
        if path not in indexed:
            texts[path] = _text(path)
    index(targets)
    found: set[str] = set()
    wave = list(targets)
    while wave:
        is_named, is_in = _any_of(_names(wave)), _any_of(_packages(wave))
        near = [
            path
            for path in files
            if path not in indexed
            and (
                is_named(texts[path])
                or (_CHOOSING in texts[path] and is_in(texts[path]) is not None)
            )
        ]
        indexed.update(near)
        index(near)
        reached = {each for path in targets for each in importers(path)}
        wave = sorted(reached - found)
        found |= reached
    return frozenset(found)


def _any_of(words: Iterable[str]) -> Callable[[str], object]:
    """Finds one of some words in a text."""
    return re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, words)))})\b").search


def _packages(paths: Iterable[str]) -> set[str]:
    """The folders of the files: a program may choose among what they hold."""
    return {os.path.basename(os.path.dirname(path)) for path in paths}


def _names(paths: Iterable[str]) -> set[str]:
    """What an import must say to mean one of the files: its name, or that of its package."""
    names = set()
    for path in paths:
        folder, file = os.path.split(path)
        stem = os.path.splitext(file)[0]
        names.add(os.path.basename(folder) if stem == "__init__" else stem)
    return {name for name in names if name}


def _text(path: str) -> str:
    read = read_text(path, MOST_BYTES)
    return read.text if isinstance(read, FileText) else ""
