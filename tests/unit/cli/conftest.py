"""A command line in a folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_runs import CommandLine
from recall_runs import FILES, check


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> CommandLine:
    return CommandLine(tmp_path.resolve(), monkeypatch, capsys)


@pytest.fixture
def warm(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """A folder whose reports are kept, in a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(run.folder.parent / f"{run.folder.name}-cache"))
    run.write(FILES)
    check(run)
    return run
