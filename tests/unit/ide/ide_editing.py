"""Files that are edited in an editor, held against a look at them from nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from device_lens.ide.explain import explain
from device_lens.ide.locations import Printer
from device_lens.ide.project import Project
from device_lens.interpreter import imports
from device_lens.project.files import FileStore, Snapshot

SCRIPT = """\
import torch
from torch import nn


def prepare(batch, device):
    # here
    return batch.to(device)


def main():
    device = torch.device("cuda:0")
    model = nn.Linear(4, 4).to(device)
    seen = []
    for step in range(10):
        batch = torch.zeros(4)
        batch = prepare(batch, device)
        # loop
        out = model(batch)
        seen.append(out.detach())
    # end
    return seen


if __name__ == "__main__":
    main()
"""


class Editing:
    """A folder of files, all open, with a project that has seen each version of them."""

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        self.folder = folder
        self.store = FileStore()
        self.texts = dict(files)
        self.version = 1
        for name, text in files.items():
            path = folder / f"{name}.py"
            path.write_text(text, encoding="utf-8")
            self.store.change(str(path), self.version, text)
        self.project = self.fresh()
        self.project.fixes_wait = True

    def fresh(self) -> Project:
        found = Project(str(self.folder))
        found.index([str(self.folder / f"{name}.py") for name in self.texts], self.snapshot())
        return found

    def snapshot(self) -> Snapshot:
        return self.store.snapshot()

    def edit(self, name: str, old: str, new: str) -> None:
        assert old in self.texts[name]
        self.texts[name] = self.texts[name].replace(old, new, 1)
        self.version += 1
        self.store.change(str(self.folder / f"{name}.py"), self.version, self.texts[name])

    def said(self, name: str, project: Project | None = None) -> tuple[object, list[object]]:
        """All that is known of a file, and what is reported with its fixes."""
        path = str(self.folder / f"{name}.py")
        analysis = (project or self.project).analyse(path, self.snapshot())
        found = [
            (each.rule, each.range, each.message, tuple(each.fixes)) for each in analysis.findings
        ]
        printer = Printer(str(self.folder), lambda path: None)
        return explain(analysis.facts, analysis.sources, analysis.costs, printer), found

    def agree(self) -> None:
        """Whether a project that sees all this for the first time says the same."""
        for name in self.texts:
            assert self.said(name) == self.said(name, self.fresh())


def modules_run(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the modules and scripts whose top levels run as a whole from now on."""
    names: list[str] = []
    original = imports.run_module

    def run(machine, namespace, top=None):  # type: ignore[no-untyped-def]
        names.append(namespace.name)
        original(machine, namespace, top)

    monkeypatch.setattr(imports, "run_module", run)
    return names


def scripts_run(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The scripts that run as a whole from now on."""
    names: list[str] = []
    original = imports.run_module

    def run(machine, namespace, top=None):  # type: ignore[no-untyped-def]
        if namespace.name == "__main__":
            names.append(namespace.path)
        original(machine, namespace, top)

    monkeypatch.setattr(imports, "run_module", run)
    return names


def typed(editing: Editing, mark: str, statement: str, scripts: list[str]) -> int:
    """Types a statement before a comment, letter by letter; how often the script ran as a whole."""
    line = next(line for line in editing.texts["train"].split("\n") if line.strip() == mark)
    indent = line[: len(line) - len(mark)]
    editing.said("train")
    scripts.clear()
    whole = 0
    for end in range(len(statement)):
        before = f"{indent}{statement[:end]}\n{line}" if end else line
        editing.edit("train", before, f"{indent}{statement[: end + 1]}\n{line}")
        mine = editing.said("train")
        whole += len(scripts)
        assert mine == editing.said("train", editing.fresh())
        scripts.clear()
    return whole
