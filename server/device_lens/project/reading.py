"""Reads a source file as Python does: byte order mark, declared encoding, line ends kept."""

from __future__ import annotations

import codecs
import hashlib
import io
import os
import stat
import tokenize
from dataclasses import dataclass
from typing import NamedTuple

MOST_BYTES = 10_000_000
_HEAD = 1024


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a file and how it was written."""

    text: str
    encoding: str
    has_mark: bool
    """Whether a byte order mark comes before the text."""

    def encoded(self, text: str) -> bytes:
        """Another text as this file would hold it; raises UnicodeEncodeError where it cannot."""
        mark = codecs.BOM_UTF8 if self.has_mark else b""
        return mark + text.encode(self.encoding)


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A file that could not be read, and why."""

    path: str
    message: str


class Stamp(NamedTuple):
    """What changes when a file does. A letter makes and compares one for each file that was run."""

    modified_ns: int
    size: int


def stamp_of(path: str) -> Stamp | None:
    """The stamp of a regular file; None where there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return Stamp(status.st_mtime_ns, status.st_size)


def read_text(path: str, most_bytes: int = MOST_BYTES) -> FileText | FileProblem:
    """The text of a file. Notebooks are UTF-8; other files may declare their encoding."""
    data = read_bytes(path, most_bytes)
    return data if isinstance(data, FileProblem) else decode(path, data)


def read_bytes(path: str, most_bytes: int = MOST_BYTES) -> bytes | FileProblem:
    """What a file holds."""
    try:
        # Opening a pipe or a device could wait for ever.
        if not stat.S_ISREG(os.stat(path).st_mode):
            return FileProblem(path, "cannot be read: not a regular file")
        with open(path, "rb") as file:
            data = file.read(most_bytes + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        return FileProblem(path, f"cannot be read: {(reason or str(error)).lower()}")
    if len(data) > most_bytes:
        return FileProblem(path, f"is larger than {most_bytes / 1e6:g} MB")
    return data


def state_of(data: bytes | FileProblem) -> str:
    """A text that is another one whenever a file holds something else, or cannot be read for
    another reason."""
    if isinstance(data, FileProblem):
        return f"! {data.message}"
    return hashlib.blake2b(data, digest_size=20).hexdigest()


def decode(path: str, data: bytes) -> FileText | FileProblem:
    """The text that the bytes of a file hold."""
    if b"\0" in data[:_HEAD]:
        return FileProblem(path, "is not a text file")
    has_mark = data.startswith(codecs.BOM_UTF8)
    body = data[len(codecs.BOM_UTF8) :] if has_mark else data
    encoding = "utf-8"
    try:
        if not path.endswith(".ipynb"):
            encoding = _declared_encoding(data)
        return FileText(body.decode(encoding), encoding, has_mark)
    except SyntaxError as error:
        return FileProblem(path, f"cannot be decoded: {error.msg or error}")
    except UnicodeDecodeError as error:
        return FileProblem(path, f"is not {encoding}: bad byte at offset {error.start}")
    except (LookupError, UnicodeError) as error:
        return FileProblem(path, f"cannot be decoded: {error}")


def _declared_encoding(data: bytes) -> str:
    head = data[: 4 * _HEAD]
    found = tokenize.detect_encoding(io.BytesIO(head).readline)[0]
    return "utf-8" if found == "utf-8-sig" else found
