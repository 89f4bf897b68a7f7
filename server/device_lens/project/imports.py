"""Resolves imports to files of the workspace, as Python would when the importer is run.

Nothing is imported and no search path is asked for: only the folders between the importer and the
root count, ``src`` below the root, and the root's own name where it is a package.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from device_lens.syntax.import_statements import ANY

_INIT = "__init__.py"
_MOST_ANSWERS = 200_000
_LIBRARIES = frozenset("torch numpy torchvision torchaudio".split())
"""What everybody imports by these names, whatever a folder of the project holds."""


class ImportResolver:
    """Answers are remembered, negative ones too, until ``invalidate``."""

    def __init__(self, root: str, foreign: frozenset[str] = frozenset()) -> None:
        """``foreign`` are top-level names that a folder without ``__init__.py`` must not take, nor
        a file or folder inside a package, such as ``torch`` in ``tests/torch/``; those of the
        standard library never do."""
        self.root = os.path.abspath(root)
        self._foreign = foreign | _LIBRARIES | sys.stdlib_module_names
        self._answers: dict[tuple[Any, ...], str | None] = {}
        self._names: dict[str, frozenset[str]] = {}
        self._unsaved: frozenset[str] = frozenset()
        self._own = _packages_of(self.root)
        """What the root itself is called where it is a package."""
        self.generation = 0
        """Grows whenever names may mean other files than before."""

    def invalidate(self) -> None:
        """Forget all: files came or went."""
        self._own = _packages_of(self.root)
        self._answers.clear()
        self._names.clear()
        self.generation += 1

    def changed(self, paths: Iterable[str]) -> None:
        """Take note that files were written, came or went."""
        if any(map(self._came_or_went, paths)):
            self.invalidate()

    def _came_or_went(self, path: str) -> bool:
        """Whether a folder that was listed holds an entry on the way to a file no more, or anew."""
        while True:
            folder, name = os.path.split(path)
            known = self._names.get(folder)
            if known is not None and (name in known) != os.path.exists(path):
                return True
            if folder == path:
                return False
            path = folder

    def with_unsaved(self, paths: frozenset[str]) -> None:
        """Take these files to exist, whatever the disk says."""
        if paths != self._unsaved:
            self._unsaved = paths
            self.invalidate()

    def resolve(self, module: str, level: int, importer: str) -> str | None:
        """The file of ``module`` (``a.b``; may be empty with a level), imported by ``importer``.

        A package's file is its ``__init__.py``; a namespace package has none, its modules do.
        None when it is not a file of the workspace. No module means itself where another one has
        its name: ``from model import Net`` in ``utils/model.py``.
        """
        folder = os.path.dirname(importer)
        found = self._known((module, level, folder))
        if found is None or found != importer or level > 0:
            return found
        return self._known((module, level, folder, importer)) or found

    def _known(self, key: tuple[str, int, str] | tuple[str, int, str, str]) -> str | None:
        if key not in self._answers:
            if len(self._answers) >= _MOST_ANSWERS:
                self._answers.clear()
            self._answers[key] = self._find(*key)
        return self._answers[key]

    def _find(self, module: str, level: int, folder: str, importer: str = "") -> str | None:
        """``importer`` is a file that is not meant."""
        package, _, number = module.rpartition(ANY)
        if package and number.isdigit():
            return self._one_of(package.split("."), int(number), level, folder)
        parts = module.split(".") if module else []
        if not all(part.replace("-", "_").isidentifier() for part in parts):
            return None  # a folder that is put on the search path may have hyphens
        if level > 0:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return self._in_folder(folder, parts) if self._is_inside(folder) else None
        if not parts:
            return None
        known = parts[0] in self._foreign
        own = len(self._own)
        if own and not known and parts[:own] == self._own:
            found = self._in_folder(self.root, parts[own:])
            if found is not None:
                return found
        for base in dict.fromkeys(self._bases(folder, inside=not known)):
            if known and (self._has(base, _INIT) or not self._is_regular(base, parts[0])):
                continue
            found = self._in_folder(base, parts)
            if found is not None and found != importer:
                return found
        return None

    def _one_of(self, parts: list[str], number: int, level: int, folder: str) -> str | None:
        """The file of a package's module by its number, in the order of their names."""
        bases = self._bases(folder, inside=parts[0] not in self._foreign)
        if level > 0:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            bases = iter((folder,) if self._is_inside(folder) else ())
        for base in dict.fromkeys(bases):
            regular = level > 0 or parts[0] not in self._foreign
            if self._has(base, parts[0]) and (regular or self._is_regular(base, parts[0])):
                inner = os.path.join(base, *parts)
                found = (self._in_folder(inner, [name]) for name in self._modules_in(inner))
                files = [file for file in found if file is not None]
                return files[number] if number < len(files) else None
        return None

    def _modules_in(self, folder: str) -> list[str]:
        self._has(folder, _INIT)
        names = {name.removesuffix(".py") for name in self._names[folder]}
        return sorted(name for name in names if name.isidentifier() and name != "__init__")

    def _bases(self, folder: str, inside: bool) -> Iterator[str]:
        """The folders that may be on the search path, the likeliest first: that which holds the
        importer's package, those above it, ``src``, and last those inside the package, where the
        name is no library's: ``import torch`` in ``utils/torch.py`` is not that file."""
        outside = folder
        within: list[str] = []
        while self._has(outside, _INIT) and os.path.dirname(outside) != outside:
            within.append(outside)
            outside = os.path.dirname(outside)
        while self._is_inside(outside):
            yield outside
            if outside == self.root or os.path.dirname(outside) == outside:
                break
            outside = os.path.dirname(outside)
        yield self.root
        yield os.path.join(self.root, "src")
        if inside:
            yield from within

    def _in_folder(self, folder: str, parts: list[str]) -> str | None:
        """The file of a dotted name below a folder."""
        if not parts:
            return os.path.join(folder, _INIT) if self._has(folder, _INIT) else None
        *packages, last = parts
        for package in packages:
            if not self._has(folder, package):
                return None
            folder = os.path.join(folder, package)
        package = os.path.join(folder, last)
        if self._has(folder, last) and self._has(package, _INIT):
            return os.path.join(package, _INIT)
        return package + ".py" if self._has(folder, last + ".py") else None

    def _is_regular(self, base: str, name: str) -> bool:
        """Whether a top-level name is a module or a package with ``__init__.py`` in a folder."""
        if self._has(base, name + ".py"):
            return True
        return self._has(base, name) and self._has(os.path.join(base, name), _INIT)

    def _is_inside(self, folder: str) -> bool:
        return folder == self.root or folder.startswith(self.root.rstrip(os.sep) + os.sep)

    def _has(self, folder: str, name: str) -> bool:
        """Whether a folder holds an entry; each folder is listed once."""
        names = self._names.get(folder)
        if names is None:
            names = self._names[folder] = self._listed(folder)
        return name in names

    def _listed(self, folder: str) -> frozenset[str]:
        try:
            with os.scandir(folder) as entries:
                names = {entry.name for entry in entries}
        except (OSError, ValueError):
            names = set()
        below = folder.rstrip(os.sep) + os.sep
        rest = (path[len(below) :] for path in self._unsaved if path.startswith(below))
        return frozenset(names | {path.partition(os.sep)[0] for path in rest})


def _packages_of(folder: str) -> list[str]:
    """The dotted name of a folder as a package; empty where it is none."""
    names: list[str] = []
    while os.path.isfile(os.path.join(folder, _INIT)) and os.path.dirname(folder) != folder:
        folder, name = os.path.split(folder)
        names.insert(0, name)
    return names
