"""Which findings of a file are shown, and how loud they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from rule_programs import analysed, analysed_text, rules_of

from device_lens.rules.finding import Severity

LOST = "x = torch.ones(3)\nx.to(device)\n"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("", ["discarded-transfer"]),
        ('select = ["discarded-transfer"]', ["discarded-transfer"]),
        ('select = ["device-mismatch"]', []),
        ('ignore = ["discarded-transfer"]', []),
        ('severity = { discarded-transfer = "off" }', []),
        ('per-file-ignores = { "main.py" = ["discarded-transfer"] }', []),
        ('per-file-ignores = { "tests/" = ["discarded-transfer"] }', ["discarded-transfer"]),
    ],
)
def test_chosen(tmp_path: Path, settings: str, expected: list[str]) -> None:
    assert rules_of(analysed_text(tmp_path, LOST, settings)) == expected


def test_severity(tmp_path: Path) -> None:
    settings = 'severity = { discarded-transfer = "hint" }'
    assert analysed_text(tmp_path, LOST, settings).findings[0].severity is Severity.HINT


@pytest.mark.parametrize(
    "line",
    [
        "x.to(device)  # device-lens: ignore[discarded-transfer]",
        "x.to(device)  # device-lens: ignore",
        "# device-lens: ignore[discarded-transfer]\nx.to(device)",
        "x.to(\n    device\n)  # device-lens: ignore[discarded-transfer]",
    ],
)
def test_silenced(tmp_path: Path, line: str) -> None:
    assert rules_of(analysed_text(tmp_path, f"x = torch.ones(3)\n{line}\n")) == []


def test_silenced_file(tmp_path: Path) -> None:
    text = "# device-lens: ignore-file[discarded-transfer]\nimport torch\n"
    text += "x = torch.ones(3)\nx.half()\n"
    assert rules_of(analysed(tmp_path, {"a.py": text})["a.py"]) == []


@pytest.mark.parametrize(
    ("comment", "symbols"),
    [
        ("ignore", ["# device-lens: ignore"]),
        ("ignore[device-mismatch]", ["device-mismatch"]),
        ("ignore[no-such-rule]", ["no-such-rule"]),
        ("ignore[device-mismatch, mps-float64]", ["device-mismatch", "mps-float64"]),
    ],
)
def test_unused_comments(tmp_path: Path, comment: str, symbols: list[str]) -> None:
    found = analysed_text(tmp_path, f"x = torch.ones(3)  # device-lens: {comment}\n").findings
    assert [(each.rule, each.symbol) for each in found] == [("unused-ignore", s) for s in symbols]


def test_a_comment_for_a_rule_that_is_off_is_not_unused(tmp_path: Path) -> None:
    text = "x = torch.ones(3)  # device-lens: ignore[device-mismatch]\n"
    assert rules_of(analysed_text(tmp_path, text, 'ignore = ["device-mismatch"]')) == []


def test_in_order(tmp_path: Path) -> None:
    text = "x = torch.ones(3)\ny = torch.zeros(3).to(device)\nx.to(device)\n"
    found = analysed_text(tmp_path, text).findings
    assert [each.range.start.line for each in found] == [4, 5]
