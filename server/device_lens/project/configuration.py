"""The configuration of a file: command line over ``pyproject.toml`` over editor over defaults."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pathspec import GitIgnoreSpec

from device_lens.project.root import folders_upwards
from device_lens.project.settings import Layer, SettingsWarning, read_layer

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_MOST_BYTES = 1_000_000
_LONG_KEY = re.compile(r"""(?:\.[ \t]{0,8}[\w"'-]{0,64}[ \t]{0,8}){100}""")
"""A dotted key of a hundred parts: the parser's time grows with the square of their number."""
_PYPROJECT = "pyproject.toml"


@dataclass(frozen=True, slots=True)
class Configuration:
    """All settings, each with a value."""

    select: tuple[str, ...] | None = None
    """The rules to report; None for those that are on by default."""
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, str] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    assume_accelerator: str = "cuda"
    target_python: str | None = None
    dims: Mapping[str, int] = field(default_factory=dict)
    docs_url: str | None = None

    def ignored_in(self, relative_path: str) -> frozenset[str]:
        """The rules that ``per-file-ignores`` silences in a file, named from the folder of the
        configuration, with forward slashes. Patterns are those of ``.gitignore``."""
        return frozenset(
            rule
            for pattern, rules in self.per_file_ignores.items()
            if GitIgnoreSpec.from_lines([pattern]).match_file(relative_path)
            for rule in rules
        )


@dataclass(frozen=True, slots=True)
class Loaded:
    """A configuration, the folder that its patterns are relative to, and what was wrong."""

    configuration: Configuration
    folder: str | None = None
    """The folder of the ``pyproject.toml`` that was used; None where there is none."""
    warnings: tuple[SettingsWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class _Pyproject:
    """What a ``pyproject.toml`` says; no layer where it has no table of ours."""

    layer: Layer | None
    warnings: tuple[SettingsWarning, ...] = ()


class Configurations:
    """Reads and remembers configurations; a file on disk is read again when it changed."""

    def __init__(self, command_line: Layer | None = None, editor: Layer | None = None) -> None:
        self._command_line = command_line or Layer()
        self._editor = editor or Layer()
        self._read: dict[str, tuple[tuple[int, int], _Pyproject]] = {}

    def of(self, path: str) -> Loaded:
        """The configuration of a file or folder: the nearest ``pyproject.toml`` upwards that has
        a ``[tool.device-lens]`` table counts, up to the folder with ``.git``."""
        warnings: list[SettingsWarning] = []
        for folder in folders_upwards(path):
            found = self._pyproject(os.path.join(folder, _PYPROJECT))
            if found is not None:
                warnings += found.warnings
                if found.layer is not None:
                    merged = merge([self._command_line, found.layer, self._editor])
                    return Loaded(merged, folder, tuple(warnings))
            if os.path.exists(os.path.join(folder, ".git")):
                break
        merged = merge([self._command_line, self._editor])
        return Loaded(merged, None, tuple(warnings))

    def _pyproject(self, path: str) -> _Pyproject | None:
        try:
            status = os.stat(path)
        except OSError:
            return None
        if not stat.S_ISREG(status.st_mode):  # opening a pipe or a device could wait for ever
            return _Pyproject(None, (SettingsWarning("is not a regular file", path),))
        stamp = (status.st_mtime_ns, status.st_size)
        known = self._read.get(path)
        if known is None or known[0] != stamp:
            known = self._read[path] = (stamp, _read_pyproject(path, status.st_size))
        return known[1]


def merge(layers: Iterable[Layer]) -> Configuration:
    """One configuration from layers, the strongest first. Tables are merged key by key."""
    values: dict[str, Any] = {}
    for layer in layers:
        for name in Layer.__slots__:
            value = getattr(layer, name)
            if value is None:
                continue
            if isinstance(value, Mapping):
                values[name] = {**value, **values.get(name, {})}
            else:
                values.setdefault(name, value)
    return Configuration(**values)


def _read_pyproject(path: str, size: int) -> _Pyproject:
    if size > _MOST_BYTES:
        return _Pyproject(None, (SettingsWarning("is too large and was not read", path),))
    try:
        with open(path, "rb") as file:
            text = file.read(_MOST_BYTES + 1).decode("utf-8")
        if _LONG_KEY.search(text):
            return _Pyproject(None, (SettingsWarning("has a key of too many parts", path),))
        data = tomllib.loads(text)
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        reason = str(error) or type(error).__name__
        return _Pyproject(None, (SettingsWarning(f"cannot be read: {reason}", path),))
    tool = data.get("tool")
    table = tool.get("device-lens") if isinstance(tool, dict) else None
    if table is None:
        return _Pyproject(None)
    layer, warnings = read_layer(table, path)
    return _Pyproject(layer, warnings)
