"""A command line in a folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_runs import CommandLine


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> CommandLine:
    return CommandLine(tmp_path.resolve(), monkeypatch, capsys)
