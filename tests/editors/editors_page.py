"""The configurations that `docs/editors.md` shows."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def documented(heading: str, language: str) -> str:
    """The first block of a language below a heading of `docs/editors.md`."""
    page = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
    below = page.partition(f"\n{heading}\n")[2]
    found = re.search(rf"^```{language}\n(.*?)^```$", below, re.MULTILINE | re.DOTALL)
    assert found is not None, f"no {language} below {heading}"
    return found[1]
