"""Where the page of a rule is: inside the package, or in a checkout's documentation."""

from __future__ import annotations

import re
from pathlib import Path

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_PACKAGE = Path(__file__).resolve().parent.parent
_FOLDERS = (_PACKAGE / "pages", _PACKAGE.parent.parent / "docs" / "rules")


def page_path(rule: str) -> Path | None:
    """The Markdown file about a rule, or None where there is none."""
    if _NAME.fullmatch(rule) is None:
        return None
    found = (folder / f"{rule}.md" for folder in _FOLDERS)
    return next((path for path in found if path.is_file()), None)
