"""Reading files, and the editor's version of them over the disk's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from device_lens.project.files import FileStore, ParseCache, Snapshot
from device_lens.project.reading import FileProblem, FileText, decode, read_text
from device_lens.syntax.source import SourceFile


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"x = 1\r\n", "x = 1\r\n", "utf-8"),
        ("\ufeffx = 'é'".encode(), "x = 'é'", "utf-8"),
        (
            "# coding: latin-1\nx = 'é'".encode("latin-1"),
            "# coding: latin-1\nx = 'é'",
            "iso-8859-1",
        ),
        (b"", "", "utf-8"),
    ],
)
def test_encodings(data: bytes, text: str, encoding: str) -> None:
    read = decode("a.py", data)
    assert isinstance(read, FileText)
    assert (read.text, read.encoding) == (text, encoding)
    assert read.encoded(read.text) == data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"x = '\xe9'\n", "cannot be decoded"),
        (b"#\n" * 5000 + b"\xe9", "is not utf-8: bad byte at offset 10000"),
        (b"# coding: klingon\n", "cannot be decoded"),
        (b"\x7fELF\0\0", "is not a text file"),
        ("x = 1".encode("utf-16"), "is not a text file"),
    ],
)
def test_undecodable(data: bytes, message: str) -> None:
    read = decode("a.py", data)
    assert isinstance(read, FileProblem)
    assert message in read.message


def test_unreadable(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no.py", "a\0b"):
        read = read_text(str(path))
        assert isinstance(read, FileProblem)
        assert "cannot be read" in read.message


def test_too_large(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    assert isinstance(read_text(str(path), 6), FileText)
    too_large = read_text(str(path), 5)
    assert isinstance(too_large, FileProblem)
    assert "larger than" in too_large.message


def _source(cache: ParseCache, path: str, snapshot: Snapshot) -> SourceFile:
    result = cache.get(path, snapshot)
    assert isinstance(result, SourceFile)
    return result


def test_the_editor_comes_before_the_disk(tmp_path: Path) -> None:
    path = str(tmp_path / "a.py")
    Path(path).write_text("x = 1\n")
    store, cache = FileStore(), ParseCache()
    assert _source(cache, path, store.snapshot()).text == "x = 1\n"
    store.open(path, 1, "x = 2\n")
    before = store.snapshot()
    store.change(path, 2, "x = 3\n")
    assert _source(cache, path, store.snapshot()).text == "x = 3\n"
    assert _source(cache, path, before).text == "x = 2\n"
    assert (before.version(path), store.snapshot().version(path)) == (1, 2)
    store.close(path)
    store.close(path)
    assert _source(cache, path, store.snapshot()).text == "x = 1\n"


def test_what_did_not_change_is_not_parsed_again(tmp_path: Path) -> None:
    path = str(tmp_path / "a.py")
    Path(path).write_text("x = 1\ny = 2\n")
    cache, snapshot = ParseCache(), Snapshot()
    first = _source(cache, path, snapshot)
    assert _source(cache, path, snapshot) is first
    Path(path).write_text("x = 1\ny = 22\n")
    second = _source(cache, path, snapshot)
    assert second.chunks[0] is first.chunks[0]
    assert second.chunks[1] is not first.chunks[1]


def test_a_file_may_come_and_go(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    cache = ParseCache()
    assert isinstance(cache.get(str(path), Snapshot()), FileProblem)
    path.write_text("x = 1\n")
    assert isinstance(cache.get(str(path), Snapshot()), SourceFile)
    path.unlink()
    path.mkdir()
    assert isinstance(cache.get(str(path), Snapshot()), FileProblem)


def test_notebooks_from_disk_and_editor(tmp_path: Path) -> None:
    path = str(tmp_path / "a.ipynb")
    Path(path).write_text('{"cells": [{"cell_type": "code", "source": ["x = 1"]}]}')
    store, cache = FileStore(), ParseCache()
    assert _source(cache, path, store.snapshot()).text == "x = 1"
    store.put_notebook(path, 1, ["x = 1", None, "y = 2"])
    file = _source(cache, path, store.snapshot())
    assert file.cell_map is not None
    assert file.cell_map.numbers == (0, 2)
    store.close(path)
    Path(path).write_text("{")
    problem = cache.get(path, store.snapshot())
    assert isinstance(problem, FileProblem)
    assert "not a notebook" in problem.message


def test_the_least_lately_used_is_forgotten() -> None:
    store, cache = FileStore(), ParseCache(most_lines=8)
    for name in "abc":
        store.open(name, 1, f"x = '{name}'\n")
    snapshot = store.snapshot()
    first = {name: cache.get(name, snapshot) for name in "ab"}
    assert cache.get("a", snapshot) is first["a"]
    chunks = {name: _source(cache, name, snapshot).chunks for name in "ab"}
    first.clear()
    cache.get("c", snapshot)
    assert _source(cache, "b", snapshot).chunks is chunks["b"]
    assert _source(cache, "a", snapshot).chunks is not chunks["a"]


def test_a_parse_that_is_held_is_given_again(tmp_path: Path) -> None:
    """Whoever holds one tells places by its nodes, which another parse would not have."""
    path = str(tmp_path / "a.py")
    Path(path).write_text("x = 1\n")
    store, cache = FileStore(), ParseCache(most_lines=8)
    held = _source(cache, path, store.snapshot())
    for name in "bcd":
        store.open(name, 1, f"x = '{name}'\n")
        cache.get(name, store.snapshot())
    assert cache.state(path) == ""
    assert _source(cache, path, store.snapshot()) is held
    assert cache.state(path) != ""


def test_a_file_replaced_by_a_pipe_does_not_hang(tmp_path: Path) -> None:
    path = str(tmp_path / "a.py")
    os.mkfifo(path)
    assert isinstance(read_text(path), FileProblem)
