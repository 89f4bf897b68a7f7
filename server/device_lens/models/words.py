"""Names in tables, written as one text."""

from __future__ import annotations


def words(text: str) -> list[str]:
    """The names in `text`, which white space separates."""
    return text.split()
