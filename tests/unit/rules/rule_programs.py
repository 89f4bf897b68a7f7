"""Analyses a program of one or more files as the command line would."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from device_lens.ide.project import Analysis, Project

HEAD = """\
import torch
from torch import nn
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
"""


def analysed(root: Path, files: Mapping[str, str], settings: str = "") -> dict[str, Analysis]:
    """What is known of each file, by name."""
    (root / "pyproject.toml").write_text(f"[tool.device-lens]\n{settings}", encoding="utf-8")
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    paths = {name: str(root / name) for name in files}
    project = Project(str(root))
    project.index(paths.values())
    found = {
        analysis.facts.path: analysis
        for group in project.groups(sorted(paths.values()))
        for analysis in project.analyse_together(group.targets, group.entries)
    }
    return {name: found.get(path) or project.without_analysis(path) for name, path in paths.items()}


def analysed_text(root: Path, text: str, settings: str = "") -> Analysis:
    """What is known of a program of one file."""
    return analysed(root, {"main.py": HEAD + text}, settings)["main.py"]


def rules_of(analysis: Analysis) -> list[str]:
    return [finding.rule for finding in analysis.findings]
