"""`docs/editor-features.md` names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def test_each_promise_names_tests_that_exist() -> None:
    page = (ROOT / "docs" / "editor-features.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ")][2:]
    assert len(rows) > 20
    for row in rows:
        named = re.findall(r"`((?:tests|scripts)/[^`]+)`: (.+?)(?= ·| \|$)", row)
        assert named, row
        for file, name in named:
            assert name in (ROOT / file).read_text(encoding="utf-8"), f"{name} in {file}"
