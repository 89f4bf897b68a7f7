"""Collects the documents of this folder as tests. `MDTEST_UPDATE=1` rewrites their expectations."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from mdtest_document import Program, programs
from mdtest_program import check
from mdtest_rewrite import rewrite


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> pytest.Collector | None:
    """Every Markdown file is a file of tests."""
    if file_path.suffix != ".md" or file_path.name == "README.md":
        return None
    document: pytest.Collector = Document.from_parent(parent, path=file_path)
    return document


class Document(pytest.File):
    """One document; its programs are the tests."""

    def collect(self) -> Iterator[pytest.Item]:
        """The tests, named by their headings."""
        if os.environ.get("MDTEST_UPDATE"):
            with tempfile.TemporaryDirectory() as folder:
                rewrite(self.path, Path(folder))
        for program in programs(self.path.read_text(encoding="utf-8")):
            yield ProgramTest.from_parent(self, name=program.title, program=program)


class Unexpected(Exception):
    """What is not as a document says."""


class ProgramTest(pytest.Item):
    """One program."""

    def __init__(self, *, program: Program, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self.program = program
        self.funcargs: dict[str, object] = {}  # pytest-lsp takes every item to have them

    def runtest(self) -> None:
        """Analyses the program and compares."""
        with tempfile.TemporaryDirectory() as folder:
            wrong = check(self.program, Path(folder), self.path.stem)
        if wrong:
            raise Unexpected("\n".join(wrong))

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None
    ) -> str:
        """The sentences alone, where they say it all."""
        if isinstance(excinfo.value, Unexpected):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the program starts."""
        return self.path, self.program.line, self.name
