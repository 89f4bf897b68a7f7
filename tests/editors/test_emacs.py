"""Emacs with Eglot, set up as `docs/editors.md` says, shows findings and applies fixes.

`apt-get install emacs-nox elpa-eglot` brings both; from Emacs 29 on Eglot is part of it.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from driven import Driven
from editors_page import documented

DRIVER = Path(__file__).with_name("drive_emacs.el")
PROGRAM = """\
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
größe = "𝒲"; x = torch.ones(64, 1024, 64); x.to(device)
"""


def _has_eglot(emacs: str) -> bool:
    ask = [emacs, "--batch", "--eval", "(progn (package-initialize) (require 'eglot))"]
    return subprocess.run(ask, capture_output=True, timeout=300).returncode == 0


EMACS = shutil.which("emacs")
if EMACS is None or not _has_eglot(EMACS):
    pytest.skip("no Emacs with Eglot on this machine", allow_module_level=True)


def test_a_finding_is_shown_explained_and_mended(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    editor = Driven(tmp_path, environment, PROGRAM)
    config = tmp_path / "config.el"
    config.write_text(documented("### Eglot", "elisp"), encoding="utf-8")
    assert EMACS is not None
    command = [EMACS, "--batch", "-l", str(DRIVER)]
    seen = editor.run(command, CONFIG=str(config), AT="x.to", ACTION="Assign the result")
    (finding,) = seen["diagnostics"]
    assert finding["text"] == "x.to(device)"
    assert "[discarded-transfer]: The result of" in finding["message"]
    assert seen["hover"].lstrip("`").startswith("cpu → cuda")
    assert seen["actions"][0] == "Assign the result: x = x.to(device)"
    assert editor.text == PROGRAM.replace("x.to(device)", "x = x.to(device)")
