"""Files that are written for a tool which runs tests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

_TOOLS = frozenset(("pytest", "unittest"))
_FOLDERS = frozenset(("test", "tests"))


def is_test(path: str, imported: Iterable[str]) -> bool:
    """Whether a file that imports some top-level names is one: it imports such a tool, or it is
    named and placed as they look for it."""
    if not _TOOLS.isdisjoint(imported):
        return True
    file = PurePath(path)
    named = file.stem.startswith("test_") or file.stem.endswith("_test")
    return named and not _FOLDERS.isdisjoint(file.parts[:-1])
