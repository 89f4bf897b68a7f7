"""Answers of earlier runs on disk: small documents by name, in one folder, bounded in size.

Plain JSON behind a line with a checksum; each file is replaced in one step. Processes share the
folder without locks: who writes last is read next. A file that is broken, foreign or too large
counts as absent, and so does a folder of another user, who could have written anything there.
Nothing here raises: what cannot be used is said in `problem`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from pathlib import Path

from device_lens.disk import remove_abandoned, replace_file

MOST_BYTES = 256_000_000
"""What all documents may take together; the least lately used go first."""
LARGEST = 64_000_000
"""What one document may take."""
_CHECKSUM = 40
_USED_S = 86_400.0
"""Seconds after which a document that is read counts as used anew."""
_TAG = "CACHEDIR.TAG"
_TAG_TEXT = b"Signature: 8a477f597d28d172789f06886806bc55\n# What Device Lens remembers.\n"


class Shelf:
    """The documents in a folder. Names are chosen by the caller, who makes them hashes."""

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES, largest: int = LARGEST) -> None:
        self.folder = folder
        self.problem: str | None = None
        """Why something could not be used or written; None where nothing failed."""
        self._most_bytes = most_bytes
        self._largest = largest
        self._is_ours = _is_ours(folder)
        if not self._is_ours:
            self.problem = "the cache belongs to another user and is not used"

    def get(self, name: str) -> object:
        """The document of that name; None where there is none that is whole."""
        if not self._is_ours:
            return None
        path = self.folder / f"{name}.json"
        try:
            with path.open("rb") as file:
                content = file.read(_CHECKSUM + 1 + self._largest + 1)
                modified = os.fstat(file.fileno()).st_mtime
            head, _, body = content.partition(b"\n")
            if len(body) > self._largest or head != _checksum(body):
                return None
            data: object = json.loads(body)
        except (OSError, ValueError, RecursionError):
            return None
        if time.time() - modified > _USED_S:
            with contextlib.suppress(OSError):
                os.utime(path)
        return data

    def put(self, name: str, data: object) -> None:
        """Keeps a document in place of the one of that name."""
        if not self._is_ours:
            return
        body = json.dumps(data, ensure_ascii=True, separators=(",", ":")).encode()
        if len(body) > self._largest:
            self.problem = "a report is too large to be kept"
            return
        try:
            if not (self.folder / _TAG).exists():
                self._prepare()
            replace_file(self.folder / f"{name}.json", _checksum(body) + b"\n" + body)
        except OSError as error:
            self.problem = f"the cache cannot be written: {error.strerror or error}"

    def tidy(self) -> None:
        """Removes what is too much, and what killed processes left."""
        if not self._is_ours:
            return
        remove_abandoned(self.folder)
        found: list[tuple[float, int, str]] = []
        with contextlib.suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name.endswith(".json"):
                    status = entry.stat()
                    found.append((status.st_mtime, status.st_size, entry.path))
        excess = sum(size for _, size, _ in found) - self._most_bytes
        for _, size, path in sorted(found):
            if excess <= 0:
                break
            with contextlib.suppress(OSError):
                os.unlink(path)
                excess -= size

    def _prepare(self) -> None:
        """Makes the folder, closed to others, with marks that keep it out of backups and out of
        repositories."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(self.folder / ".gitignore", b"*\n")
        replace_file(self.folder / _TAG, _TAG_TEXT)


def _is_ours(folder: Path) -> bool:
    """Whether a folder, if there is one, belongs to who runs this or to the system."""
    if not hasattr(os, "getuid") or os.getuid() == 0:
        return True
    try:
        return folder.stat().st_uid in (os.getuid(), 0)
    except OSError:
        return True


def _checksum(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=20).hexdigest().encode()
