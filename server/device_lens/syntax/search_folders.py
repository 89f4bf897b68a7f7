"""The folders that a file puts on the search path, as its text names them.

`sys.path.append(os.path.join(HERE, "models"))` makes `import nets` mean `models/nets.py`. Where the
folder is reckoned from is not looked at: folders above the file are tried anyway.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from device_lens.syntax.chunk import Chunk
from device_lens.syntax.source import SourceFile

_ADDING = re.compile(r"\bsys\.path\.(?:append|insert)\(([^\n]+)\)")
_TEXT = re.compile(r"""["']([^"'\n]*)["']""")
_FOLDER = re.compile(r"[\w-]+")
"""A part of a path without dots, which part the names of modules."""
_ELSEWHERE = sys.stdlib_module_names | frozenset("torch numpy torchvision torchaudio".split())
"""What an import means whatever such a folder holds."""
_KNOWN: WeakKeyDictionary[Chunk, tuple[str, ...]] = WeakKeyDictionary()


def added_folders(file: SourceFile) -> Iterator[str]:
    """The folders below the file or below one above it, with dots between their parts."""
    if "sys.path" not in file.text:
        return
    for chunk in file.chunks:
        known = _KNOWN.get(chunk)
        if known is None:
            known = _KNOWN[chunk] = tuple(_named(chunk.text)) if "sys.path" in chunk.text else ()
        yield from known


def in_folders(file: SourceFile, module: str) -> Iterator[str]:
    """The names under which a module may lie in one of these folders."""
    if module and module.partition(".")[0] not in _ELSEWHERE:
        yield from (f"{folder}.{module}" for folder in added_folders(file))


def _named(text: str) -> Iterator[str]:
    for arguments in _ADDING.findall(text):
        words = [part for each in _TEXT.findall(arguments) for part in each.split("/")]
        parts = [each for each in words if each.strip(".") and "{" not in each]
        if parts and all(map(_FOLDER.fullmatch, parts)):
            yield ".".join(parts)
