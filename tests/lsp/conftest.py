"""Settings and fixtures of the protocol tests: the server runs from this checkout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lsp_editor import QUIET, Client, Editor

SERVER = Path(__file__).resolve().parent.parent.parent / "server"
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(SERVER), *filter(None, [os.environ.get("PYTHONPATH")])]
)
os.environ["PYTHONUTF8"] = "1"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a project, for all tests of a file."""
    folder = tmp_path_factory.mktemp("project").resolve()
    (folder / "pyproject.toml").write_text(QUIET, encoding="utf-8")
    return folder


@pytest.fixture
def editor(client: Client, root: Path, request: pytest.FixtureRequest) -> Editor:
    """A document of the test's own."""
    return Editor(client, root / f"{request.node.name.partition('[')[0]}.py")


@pytest.fixture
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measurements of a test are no other's, nor the user's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
