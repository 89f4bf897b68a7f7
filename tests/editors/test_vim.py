"""Vim with ALE, set up as `docs/editors.md` says, shows findings and applies fixes.

`apt-get install vim vim-ale` brings both.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from driven import Driven
from editors_page import documented

DRIVER = Path(__file__).with_name("drive_vim.vim")
PROGRAM = """\
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
größe = "𝒲"; x = torch.ones(64, 1024, 64)
x.to(device)
"""
"""ALE counts bytes and not UTF-16: what is asked about stands in a line of ASCII."""


def _has_ale(vim: str) -> bool:
    ask = ["-c", "silent! packadd ale", "-c", "if !exists(':ALEHover') | cquit | endif"]
    done = subprocess.run(
        [vim, "-N", "-u", "NONE", "-i", "NONE", "-n", "-e", "-s", *ask, "-c", "qall!"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
    )
    return done.returncode == 0


VIM = shutil.which("vim")
if VIM is None or not _has_ale(VIM):
    pytest.skip("no Vim with ALE on this machine", allow_module_level=True)


def test_a_finding_is_shown_explained_and_mended(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    editor = Driven(tmp_path, environment, PROGRAM)
    config = tmp_path / "vimrc"
    setup = documented("## Vim", "vim")
    config.write_text(f"set encoding=utf-8\nfiletype on\npackadd ale\n{setup}", encoding="utf-8")
    assert VIM is not None
    command = [VIM, "--not-a-term", "-N", "-u", str(config), "-i", "NONE", "-n", "-S", str(DRIVER)]
    seen = editor.run(command, AT="to(device)", ACTION="Assign the result", TERM="dumb")
    (finding,) = seen["findings"]
    assert (finding["code"], finding["type"], finding["line"]) == ("discarded-transfer", "W", 5)
    assert finding["text"].startswith("The result of")
    assert seen["hover"].lstrip("`").startswith("cpu → cuda")
    assert seen["actions"][0] == "Assign the result: x = x.to(device)"
    assert editor.text == PROGRAM.replace("x.to(device)", "x = x.to(device)")
