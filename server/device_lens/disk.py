"""The user's cache folder, and how a file in it is written: whole or not at all."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

_ABANDONED_S = 3_600.0
"""Seconds after which a half-written file is taken for that of a process that is no more."""


def default_cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """This product's folder among the user's caches, as the platform has it."""
    home = Path(environment.get("HOME") or environment.get("USERPROFILE") or tempfile.gettempdir())
    if sys.platform == "win32":
        base = Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        chosen = environment.get("XDG_CACHE_HOME", "")
        base = Path(chosen) if os.path.isabs(chosen) else home / ".cache"
    return base / "device-lens"


def replace_file(path: Path, content: bytes) -> None:
    """Writes a file so that readers see the old content or the new one, never a part. Raises
    OSError; then the old content stays, and nothing half-written is left."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def remove_abandoned(folder: Path) -> None:
    """Removes what processes left that were killed while they wrote."""
    now = time.time()
    for path in folder.glob(".*.tmp"):
        with contextlib.suppress(OSError):
            if now - path.stat().st_mtime > _ABANDONED_S:
                path.unlink()
