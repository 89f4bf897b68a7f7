"""The programs on which every fix is tried: each is copied to a folder of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mdtest_document import programs

TESTS = Path(__file__).parents[2]
CASES = TESTS.parents[1] / "shared" / "corpus" / "cases"
"""Labelled programs beside the repository; not everybody has them."""
_NOT_PROGRAMS = ("main_fixed*", "fixed", "expect.json")


@dataclass(frozen=True)
class Program:
    """Files by name, below a root of their own."""

    root: Path
    names: list[str]


def documented(folder: Path) -> Iterator[Program]:
    """The programs in the rules' documents, as these configure them."""
    for document in sorted((TESTS / "mdtest" / "rules").glob("*.md")):
        for number, program in enumerate(programs(document.read_text(encoding="utf-8"))):
            texts = {name: fence.text for name, fence in program.files.items()}
            settings = f"[tool.device-lens]\n{program.configuration}"
            yield _written(folder / f"{document.stem}-{number}", texts, settings)


def own(folder: Path) -> Iterator[Program]:
    """The examples and the scripts that the inference is tested on."""
    scripts = TESTS / "scripts"
    for script in sorted(scripts.glob("*.py")):
        yield _written(folder / script.stem, {script.name: script.read_text(encoding="utf-8")})
    for package in (TESTS.parent / "examples", scripts / "tabular_pkg"):
        yield _copied(package, folder / package.name)


def labelled(folder: Path) -> Iterator[Program]:
    """The labelled programs, without what tells their faults."""
    for case in sorted(CASES.iterdir()):
        yield _copied(case, folder / case.name)


def _written(root: Path, texts: Mapping[str, str], settings: str = "") -> Program:
    for name, text in {"pyproject.toml": settings, **texts}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return Program(root, sorted(texts))


def _copied(source: Path, root: Path) -> Program:
    shutil.copytree(source, root, ignore=shutil.ignore_patterns(*_NOT_PROGRAMS))
    if not (root / "pyproject.toml").exists():
        (root / "pyproject.toml").touch()
    files = sorted(root.rglob("*"))
    wanted = [path for path in files if path.suffix in (".py", ".ipynb")]
    return Program(root, [str(path.relative_to(root)) for path in wanted])
