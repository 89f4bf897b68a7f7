"""`--output-format json`: the contract's document."""

from __future__ import annotations

import json
from collections.abc import Sequence

from device_lens.cli.output.entry import Entry, Problem


def render(entries: Sequence[Entry], problems: Sequence[Problem]) -> str:
    """All findings and errors as one document."""
    document = {
        "version": 1,
        "diagnostics": [entry.data for entry in entries],
        "errors": [{"file": each.file, "message": each.message} for each in problems],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
