"""Where other editors are driven."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from editors_page import ROOT


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which `device-lens` is this checkout, and the editor has no past."""
    programs = tmp_path / "bin"
    programs.mkdir()
    script = programs / "device-lens"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m device_lens "$@"\n')
    script.chmod(0o755)
    own = {
        f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "STATE", "CACHE")
    }
    return {
        **os.environ,
        **own,
        "HOME": str(tmp_path),
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "server"),
    }
