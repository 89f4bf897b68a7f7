"""The inference against what really ran: scripts of many styles, each with a recording of the
device that every expression's value had on a machine with two GPUs.

A recording is `{"script": …, "files": {file: [[line, column, end line, end column, device], …]}}`
with lines from 1 and columns from 0, less the expressions that were on several devices in turn.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from device_lens.domain.device import Device, flatten_device
from device_lens.domain.guard import primary
from device_lens.interpreter.analysis import analyse
from device_lens.interpreter.budget import Options
from device_lens.interpreter.facts import FileFacts
from device_lens.interpreter.program import Program
from device_lens.project.imports import ImportResolver
from device_lens.syntax.source import SourceFile, parse

SCRIPTS = Path(__file__).parent.parent / "scripts"
RECORDINGS = sorted((SCRIPTS / "traces").glob("*.json"))
MOST_UNKNOWN = 0.05
"""The share of expressions of a script whose device may stay unknown."""

Place = tuple[int, int, int, int]


class Folder:
    """A folder of files as the interpreter sees a project."""

    def __init__(self, root: Path) -> None:
        self.resolver = ImportResolver(str(root))
        self.files: dict[str, SourceFile] = {}

    def source(self, path: str) -> SourceFile:
        if path not in self.files:
            self.files[path] = parse(path, Path(path).read_text(encoding="utf-8"))
        return self.files[path]

    @property
    def edited(self) -> frozenset[str]:
        return frozenset()

    def stamp(self, path: str) -> str:
        return path

    def resolve(self, module: str, level: int, importer: str) -> str | None:
        return self.resolver.resolve(module, level, importer)

    def is_package(self, path: str) -> bool:
        return path.endswith("__init__.py")

    def exports(self, path: str) -> tuple[str, ...]:
        return ()

    def foreign_class(self, qualified: str) -> None:
        return None


def devices_said(facts: FileFacts) -> dict[Place, str]:
    """The device that is said of each expression, where one is."""
    said: dict[Place, str] = {}
    for expression in facts.expressions:
        device = flatten_device(primary(expression.device))
        if isinstance(device, Device):
            where = facts.source.range(expression.site.chunk, expression.site.node)
            start, end = where.start, where.end
            said[start.line + 1, start.column, end.line + 1, end.column] = str(device)
    return said


def verdict(said: str | None, was: str) -> str:
    """`cuda` is the first GPU, and says nothing of another one."""
    if said is None or (said == "cuda" and was not in ("cuda:0", "cpu", "meta")):
        return "unknown"
    return "right" if said.replace("cuda:0", "cuda") == was.replace("cuda:0", "cuda") else "wrong"


def compare(recording: dict[str, Any]) -> tuple[Counter[str], list[str]]:
    """How many expressions are right, wrong or unknown, and a line for each that is not right."""
    script = SCRIPTS / recording["script"]
    paths = {name: str(SCRIPTS / name) for name in recording["files"]}
    folder = Folder(script.parent)
    program = Program(Options(), folder)
    facts = analyse(program, folder, list(paths.values()), [str(script)])
    counts: Counter[str] = Counter()
    missed: list[str] = []
    for name, rows in recording["files"].items():
        said = devices_said(facts[paths[name]])
        for *place, was in rows:
            found = said.get((place[0], place[1], place[2], place[3]))
            outcome = verdict(found, was)
            counts[outcome] += 1
            if outcome != "right":
                missed.append(f"{outcome}: {name}:{place[0]}:{place[1]} said {found}, was {was}")
    return counts, sorted(missed, reverse=True)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_devices_are_those_of_the_run(path: Path) -> None:
    counts, missed = compare(json.loads(path.read_text(encoding="utf-8")))
    assert counts["wrong"] == 0, "\n".join(missed)
    assert counts["unknown"] <= MOST_UNKNOWN * counts.total(), "\n".join(missed)


def test_every_script_has_a_recording() -> None:
    recorded = {json.loads(path.read_text(encoding="utf-8"))["script"] for path in RECORDINGS}
    packages = {"tabular_pkg/run.py", "dispatch_pkg/main.py"}
    assert recorded == {path.name for path in SCRIPTS.glob("*.py")} | packages
