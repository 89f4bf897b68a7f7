"""One layer of settings: what a table of keys and values says, checked key by key."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

SEVERITIES = ("off", "hint", "information", "warning", "error")
ACCELERATORS = ("cuda", "mps", "xpu")


@dataclass(frozen=True, slots=True)
class Layer:
    """Settings from one place; None where it says nothing."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    severity: Mapping[str, str] | None = None
    exclude: tuple[str, ...] | None = None
    per_file_ignores: Mapping[str, tuple[str, ...]] | None = None
    assume_accelerator: str | None = None
    target_python: str | None = None
    dims: Mapping[str, int] | None = None
    docs_url: str | None = None


@dataclass(frozen=True, slots=True)
class SettingsWarning:
    """A setting that has no effect, and why."""

    message: str
    path: str | None = None
    """The file that the setting stands in; None for the command line and the editor."""

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def read_layer(table: object, path: str | None = None) -> tuple[Layer, tuple[SettingsWarning, ...]]:
    """The layer that a table (from TOML or an editor) describes. Keys may be written
    ``like-this`` or ``likeThis``; what is wrong is left out and named."""
    if not isinstance(table, Mapping):
        return Layer(), (SettingsWarning("`tool.device-lens` must be a table", path),)
    values: dict[str, Any] = {}
    warnings: list[SettingsWarning] = []
    for written, value in table.items():
        key = _kebab(str(written))
        if key not in _READERS:
            warnings.append(SettingsWarning(_unknown(str(written), key), path))
            continue
        try:
            values[key.replace("-", "_")] = _READERS[key](value)
        except _UnfitError as error:
            warnings.append(SettingsWarning(f"`{written}` {error}", path))
    return Layer(**values), tuple(warnings)


class _UnfitError(Exception):
    """A value that a key cannot have; the text tells what it must be."""


def _kebab(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"-\1", key).lower().replace("_", "-")


def _unknown(written: str, key: str) -> str:
    close = get_close_matches(key, _READERS, n=1)
    hint = f"; did you mean `{close[0]}`?" if close else ""
    return f"unknown setting `{written}`{hint}"


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _UnfitError("must be a list of strings")
    return tuple(value)


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise _UnfitError("must be a string")
    return value


def _one_of(*choices: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        if value not in choices:
            raise _UnfitError("must be one of " + ", ".join(f'"{choice}"' for choice in choices))
        return str(value)

    return read


def _version(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"3\.\d{1,2}", value):
        raise _UnfitError('must be a version such as "3.12"')
    return value


def _size(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise _UnfitError("must be a table of positive whole numbers")
    return value


def _table(read: Callable[[object], Any]) -> Callable[[object], dict[str, Any]]:
    def read_table(value: object) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise _UnfitError("must be a table")
        return {str(key): read(item) for key, item in value.items()}

    return read_table


_READERS: dict[str, Callable[[object], Any]] = {
    "select": _strings,
    "ignore": _strings,
    "severity": _table(_one_of(*SEVERITIES)),
    "exclude": _strings,
    "per-file-ignores": _table(_strings),
    "assume-accelerator": _one_of(*ACCELERATORS),
    "target-python": _version,
    "dims": _table(_size),
    "docs-url": _string,
}
assert set(_READERS) == {field.name.replace("_", "-") for field in fields(Layer)}
