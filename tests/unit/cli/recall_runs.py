"""A project whose reports are kept, and what of them was taken again."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from cli_runs import BUGGY, CommandLine, Run

FILES = {
    "train.py": "import torch\nfrom net import move\n\nx = torch.ones(2)\nmove(x)\n",
    "net.py": "def move(x):\n    return x\n",
    "alone.py": BUGGY,
    "plain.py": "x = 1  # device-lens: ignore[round-trip]\n",
    "broken.py": "import torch\nx = (\n",
}
LOSES = "def move(x):\n    x.to('cuda')\n"


def environment() -> dict[str, str]:
    """For processes of the tests' own: they find what this one finds."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def check(run: CommandLine, *options: str) -> dict[str, Any]:
    """The JSON of a run, in this process."""
    return run("check", "--output-format", "json", "--jobs", "1", *options).json


def fresh(run: CommandLine, *options: str) -> dict[str, Any]:
    """The same without a cache."""
    return check(run, "--no-cache", *options)


def documents() -> list[Path]:
    """What is kept."""
    cache = Path(os.environ["XDG_CACHE_HOME"]) / "device-lens" / "check-1"
    return sorted(cache.glob("*.json"))


def recalled(run: Run) -> int:
    """The files of which an earlier report was taken."""
    line = next((each for each in run.err.splitlines() if "unchanged" in each), "0 of them")
    return int(line.split()[0])


def statistics(run: CommandLine, *options: str) -> Run:
    """A run with its statistics, on standard error."""
    return run("check", "--output-format", "json", "--jobs", "1", "--statistics", *options)
