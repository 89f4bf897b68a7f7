"""The recorded readings of public code are whole, and keep the promise of precision."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from device_lens.rules.registry import RULES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).parents[1] / "corpus"
PER_HUNDRED_FILES = 1
"""Findings that are not true, at most."""


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    return tomllib.loads((FOLDER / "readings.toml").read_text(encoding="utf-8"))


def test_each_reading_says_what_was_found_where_and_why(recorded: dict[str, Any]) -> None:
    names = {corpus["name"] for corpus in recorded["corpus"]}
    for reading in recorded["reading"]:
        assert reading["corpus"] in names
        assert reading["rule"] in RULES
        assert reading["line"] > 0
        assert reading["path"].endswith((".py", ".ipynb"))
        assert reading["verdict"] in ("true", "false", "debatable")
        assert re.fullmatch(r"\S.{20,}\.", reading["argument"])


def test_few_findings_are_not_true(recorded: dict[str, Any]) -> None:
    for corpus in recorded["corpus"]:
        doubted = [
            reading
            for reading in recorded["reading"]
            if reading["corpus"] == corpus["name"] and reading["verdict"] != "true"
        ]
        assert len(doubted) * 100 <= corpus["files"] * PER_HUNDRED_FILES
