"""Functions whose bodies are read when they are asked for are those that the file has."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from device_lens.project.files import FileStore, ParseCache, Snapshot
from device_lens.syntax.resting import Resting, rest, wake
from device_lens.syntax.source import SourceFile, parse

SCRIPTS = Path(__file__).parents[2] / "scripts"
TEXT = '''\
"""A module."""


@wraps(1)
def top(x: int = 1, *rest) -> None:
    """Text
  that is not indented."""
    y = [
x]
    return "é" + y


class Net(Base):
    width: int = 4

    @property
    def first(self):
        a = 1
        b = 2
        return a + b

    async def second(self):
        a = 1
        b = 2
        return a

    class Inner:
        def third(self):
            import os
            a = 1
            return os

        def fourth(self):
            def nested():
                return 1

            return nested
'''


def _resting(file: SourceFile) -> list[str]:
    nodes = (each for chunk in file.chunks for top in chunk.body for each in _heads(top))
    return [each.name for each in nodes if type(each) is Resting]


def _heads(statement: ast.stmt) -> list[ast.FunctionDef]:
    if isinstance(statement, ast.FunctionDef):
        return [statement]
    if isinstance(statement, ast.ClassDef):
        return [head for each in statement.body for head in _heads(each)]
    return []


def _dumped(file: SourceFile) -> list[str]:
    tops = [top for chunk in file.chunks for top in chunk.body]
    return [ast.dump(top, include_attributes=True) for top in tops]


def test_what_is_large_and_imports_nothing_rests() -> None:
    file = parse("a.py", TEXT)
    rest(file)
    assert _resting(file) == ["top", "first", "fourth"]


@pytest.mark.parametrize(
    "text", [TEXT, TEXT.replace("\n", "\r\n"), "\ufeff" + TEXT, "x = 1\n" + TEXT]
)
def test_it_wakes_as_it_was(text: str) -> None:
    file, other = parse("a.py", text), parse("a.py", text)
    rest(file)
    assert _dumped(file) == _dumped(other)
    assert _resting(file) == []


def test_all_wake_together() -> None:
    file = parse("a.py", TEXT)
    rest(file)
    wake(file)
    assert _resting(file) == []
    assert isinstance(file.chunks[1].body[0], ast.FunctionDef)


def test_scripts_are_what_they_were() -> None:
    for path in sorted(SCRIPTS.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        file, other = parse("a.py", text), parse("a.py", text)
        rest(file)
        assert _dumped(file) == _dumped(other), path


def test_a_file_on_disk_rests_until_it_is_edited(tmp_path: Path) -> None:
    path = str(tmp_path / "a.py")
    Path(path).write_text(TEXT, encoding="utf-8")
    store, cache = FileStore(), ParseCache(sparing=True)
    before = cache.get(path, Snapshot())
    assert isinstance(before, SourceFile)
    assert _resting(before)
    function = before.chunks[1].body[0]
    store.open(path, 1, TEXT + "\n\nx = 1\n")
    after = cache.get(path, store.snapshot())
    assert isinstance(after, SourceFile)
    assert _resting(after) == []
    assert after.chunks[1].body[0] is function
