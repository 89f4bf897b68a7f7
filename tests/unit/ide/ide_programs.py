"""Small programs for the tests of this folder: written to a folder, analysed as a project."""

from __future__ import annotations

from pathlib import Path

from device_lens.ide.project import Analysis, Project
from device_lens.syntax.position import Position

QUIET = '[tool.device-lens]\nseverity = {hardcoded-device = "off"}\n'
"""Configuration of the tests' projects: their programs name devices for the sake of brevity."""
LOOP = """\
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
images = torch.randn(64, 3, 224, 224)
for step in range(100):
    batch = images.to(device)
    loss = batch.sum()
    print(loss.item())
"""


def analysed(folder: Path, text: str, name: str = "main.py") -> Analysis:
    """What is known of a program that is alone in its folder."""
    (folder / "pyproject.toml").write_text(QUIET, encoding="utf-8")
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return Project(str(folder)).analyse(str(path))


def position_of(text: str, part: str, inside: int = 0) -> Position:
    """Where a part of a text begins."""
    before = text[: text.index(part) + inside]
    return Position(before.count("\n"), len(before.rpartition("\n")[2]))
