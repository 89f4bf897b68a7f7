"""Neovim, set up as `docs/editors.md` says, shows findings and applies fixes.

`apt-get install neovim` brings one; the variable `DEVICE_LENS_NVIM` names another to be tested.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from driven import Driven
from editors_page import ROOT, documented

FAKE = ROOT / "tests" / "lsp" / "fake_interpreter.py"
DRIVER = Path(__file__).with_name("drive_neovim.lua")
NVIM = os.environ.get("DEVICE_LENS_NVIM") or shutil.which("nvim")
PROGRAM = """\
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
größe = "𝒲"; x = torch.ones(64, 1024, 64); x.to(device)
"""

pytestmark = pytest.mark.skipif(NVIM is None, reason="no Neovim on this machine")


class Neovim(Driven):
    """Runs steps of the driver on a program."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        super().__init__(folder, environment, PROGRAM)
        self._config = folder / "config.lua"
        newest = _version() >= (0, 11)
        heading = "### Neovim 0.11 and newer" if newest else "### Neovim 0.7 to 0.10"
        self._config.write_text(documented(heading, "lua"), encoding="utf-8")

    def set_up(self, before: str, after: str) -> None:
        """Replaces a part of the documented configuration."""
        text = self._config.read_text(encoding="utf-8")
        assert before in text
        self._config.write_text(text.replace(before, after), encoding="utf-8")

    def follow(self, *steps: str, action: str = "") -> dict[str, Any]:
        """What was to be seen."""
        assert NVIM is not None
        files = [part for file in (self._config, DRIVER) for part in ("-c", f"luafile {file}")]
        command = [NVIM, "--clean", "--headless", *files]
        return self.run(command, STEPS=" ".join(steps), AT=".to(", ACTION=action)


def _version() -> tuple[int, int]:
    assert NVIM is not None
    said = subprocess.run([NVIM, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.match(r"NVIM v(\d+)\.(\d+)", said)
    assert found is not None
    return int(found[1]), int(found[2])


@pytest.fixture
def neovim(tmp_path: Path, environment: dict[str, str]) -> Neovim:
    return Neovim(tmp_path, environment)


def test_a_finding_is_shown_explained_and_mended(neovim: Neovim) -> None:
    seen = neovim.follow("open", "hover", "hints", "fix", action="Assign the result")
    (finding,) = seen["diagnostics"]
    assert (finding["code"], finding["source"]) == ("discarded-transfer", "Device Lens")
    assert finding["text"] == "x.to(device)"
    assert seen["hover"].startswith("`cpu → cuda")
    assert [label.partition(" · ")[2] for label in seen["hints"]] == ["16.8 MB"]
    assert seen["actions"][0] == "Assign the result: x = x.to(device)"
    assert neovim.text == PROGRAM.replace("x.to(device)", "x = x.to(device)")


def test_a_transfer_is_measured_on_request(neovim: Neovim, tmp_path: Path) -> None:
    (tmp_path / "steps").write_text("greet answer", encoding="utf-8")
    fake = ", ".join(f"'{part}'" for part in (sys.executable, FAKE, tmp_path))
    neovim.set_up("run = 'onType'", f"projectInterpreter = {{ {fake} }}")
    before = neovim.follow("open", "hover")["hover"]
    assert "A code action measures it: *Measure this transfer on this machine*." in before
    seen = neovim.follow("open", "measure", action="Measure this transfer")
    assert "Measured on NVIDIA Scripted" in seen["hover"]
    assert (tmp_path / "starts").read_text().count("\n") == 1
