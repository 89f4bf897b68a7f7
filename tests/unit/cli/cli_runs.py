"""Runs the command line in this process, in a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from device_lens.cli.main import main

BUGGY = "import torch\n\nx = torch.rand(2)\nx.to('cuda')\n"
CLEAN = "import torch\n\nx = torch.rand(2)\n"


QUIET = '[tool.device-lens]\nseverity = {hardcoded-device = "off"}\n'
"""Configuration of the tests' projects: their programs name devices for the sake of brevity."""


@dataclass(frozen=True)
class Run:
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


class CommandLine:
    """A folder and the command line in it."""

    def __init__(
        self, folder: Path, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]
    ) -> None:
        self.folder = folder
        self._capture = capture
        patch.chdir(folder)
        patch.setenv("NO_COLOR", "1")
        patch.delenv("FORCE_COLOR", raising=False)
        (folder / "pyproject.toml").write_text(QUIET, encoding="utf-8")

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())

    def read(self, name: str) -> str:
        return (self.folder / name).read_bytes().decode()

    def __call__(self, *arguments: str) -> Run:
        self._capture.readouterr()
        try:
            status = main(arguments)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        out, err = self._capture.readouterr()
        return Run(status, out, err)
