"""Real programs to start from: the repository's own scripts, examples and test documents, and any
folder that is named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
_FENCE = re.compile(r"^```py\b[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LARGEST = 60_000
"""Characters of a file beyond which it is left alone: a mutation shows as much on less."""


def programs(folders: Iterable[Path] = ()) -> list[str]:
    """The texts, the same in the same order on every machine; short ones first."""
    return sorted(dict.fromkeys([*_of_documents(), *_of_files(folders)]), key=lambda t: (len(t), t))


def _of_documents() -> Iterator[str]:
    for document in sorted((ROOT / "tests" / "mdtest").rglob("*.md")):
        yield from _FENCE.findall(document.read_text(encoding="utf-8"))


def _of_files(folders: Iterable[Path]) -> Iterator[str]:
    for folder in (ROOT / "tests" / "scripts", ROOT / "examples", *folders):
        for path in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
            text = path.read_text(encoding="utf-8", errors="replace")
            if len(text) <= _LARGEST:
                yield text
