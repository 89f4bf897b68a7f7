"""An editor that a script drives on a program, and what was to be seen in it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class Driven:
    """A program in a folder of its own, whose name an editor has to quote, and a place for what the
    driver writes down as JSON."""

    def __init__(self, folder: Path, environment: dict[str, str], program: str) -> None:
        self.program = folder / "eigener Ordner" / "größe.py"
        self.program.parent.mkdir()
        self.program.write_text(program, encoding="utf-8")
        self._seen = folder / "seen.json"
        self._environment = environment

    def run(self, command: Sequence[str], **variables: str) -> dict[str, Any]:
        """What was to be seen in the editor that a command starts, whose driver reads variables."""
        self._seen.unlink(missing_ok=True)
        own = {"PROGRAM": str(self.program), "SEEN": str(self._seen), "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            command,
            env={**self._environment, **own, **variables},
            cwd=self.program.parent,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert self._seen.exists(), done.stdout[-2000:] + done.stderr[-2000:]
        seen: dict[str, Any] = json.loads(self._seen.read_text(encoding="utf-8"))
        assert "problem" not in seen, seen["problem"]
        return seen

    @property
    def text(self) -> str:
        """The program as it is on disk."""
        return self.program.read_text(encoding="utf-8")
