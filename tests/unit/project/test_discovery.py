"""Which files count."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from device_lens.project import discovery
from device_lens.project.discovery import discover


def _tree(root: Path, *files: str, **texts: str) -> None:
    for name in files:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    for name, text in texts.items():
        (root / name).write_text(text, encoding="utf-8")


def _names(root: Path, *paths: str, exclude: tuple[str, ...] = ()) -> list[str]:
    found = discover([str(root / path) for path in paths or (".",)], exclude, str(root))
    assert found.problems == ()
    return [os.path.relpath(file, root).replace(os.sep, "/") for file in found.files]


def test_sources_and_notebooks_in_order(tmp_path: Path) -> None:
    _tree(tmp_path, "b.py", "a/z.ipynb", "a/c.txt", "a/b/d.py", "c.pyc")
    assert _names(tmp_path) == ["b.py", "a/z.ipynb", "a/b/d.py"]


def test_folders_of_tools_are_skipped(tmp_path: Path) -> None:
    _tree(tmp_path, ".venv/x.py", "node_modules/x.py", "a/__pycache__/x.py", ".git/x.py", "a.py")
    _tree(tmp_path, "myenv/pyvenv.cfg", "myenv/lib/x.py", ".github/y.py")
    assert _names(tmp_path) == ["a.py", ".github/y.py"]


def test_gitignore_files_nest(tmp_path: Path) -> None:
    _tree(tmp_path, "gen/a.py", "keep.py", "x_pb2.py", "sub/x_pb2.py", "sub/own.py", "sub/d/own.py")
    _tree(tmp_path, "build/a.py")
    (tmp_path / ".git" / "info").mkdir(parents=True)
    (tmp_path / ".git" / "info" / "exclude").write_text("build\n")
    (tmp_path / ".gitignore").write_text("/gen/\n*_pb2.py\n[\n")
    (tmp_path / "sub" / ".gitignore").write_text("!x_pb2.py\n/own.py\n")
    assert _names(tmp_path) == ["keep.py", "sub/x_pb2.py", "sub/d/own.py"]
    assert _names(tmp_path, "sub") == ["sub/x_pb2.py", "sub/d/own.py"]


def test_a_file_that_is_named_counts(tmp_path: Path) -> None:
    _tree(tmp_path, "gen/a.py", "script")
    (tmp_path / ".gitignore").write_text("gen\n")
    assert _names(tmp_path, "gen/a.py", "script", "gen/a.py") == ["gen/a.py", "script"]


def test_exclude(tmp_path: Path) -> None:
    _tree(tmp_path, "a.py", "old/b.py", "c/old/d.py", "c/e.py")
    assert _names(tmp_path, exclude=("/old/", "c/e.py")) == ["a.py", "c/old/d.py"]
    assert _names(tmp_path, "c", exclude=("/old/", "c/e.py")) == ["c/old/d.py"]


def test_links_make_no_loop(tmp_path: Path) -> None:
    _tree(tmp_path, "a/b.py")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "loop.py").symlink_to(tmp_path / "loop.py")
    (tmp_path / "linked.py").symlink_to(tmp_path / "a" / "b.py")
    found = discover([str(tmp_path)])
    assert [os.path.relpath(file, tmp_path) for file in found.files] == ["linked.py", "a/b.py"]


def test_what_is_missing_is_a_problem(tmp_path: Path) -> None:
    found = discover([str(tmp_path / "no.py")])
    assert found.files == ()
    assert found.problems[0].message == "no such file or folder"


def test_a_folder_that_cannot_be_listed_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _tree(tmp_path, "a/x.py", "b/y.py")
    scandir = os.scandir

    def refuse(path: str) -> object:
        if path.endswith("a"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr("os.scandir", refuse)
    found = discover([str(tmp_path)])
    assert [os.path.basename(file) for file in found.files] == ["y.py"]
    assert [problem.message for problem in found.problems] == ["permission denied"]


def test_the_number_of_files_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "MOST_FILES", 2)
    _tree(tmp_path, "a.py", "b.py", "c.py")
    found = discover([str(tmp_path)])
    assert len(found.files) == 2
    assert "more than 2 files" in found.problems[0].message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders here")
def test_a_pipe_instead_of_ignore_patterns_does_not_hang(tmp_path: Path) -> None:
    _tree(tmp_path, "a.py")
    os.mkfifo(tmp_path / ".gitignore")
    assert [Path(each).name for each in discover([str(tmp_path)]).files] == ["a.py"]


def test_very_many_files_are_bounded_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(40):
        folder = tmp_path / f"d{number}"
        folder.mkdir()
        for file in range(500):
            os.close(os.open(folder / f"f{file}.py", os.O_CREAT))
    assert len(discover([str(tmp_path)]).files) == 20_000
    monkeypatch.setattr(discovery, "MOST_FILES", 15_000)
    found = discover([str(tmp_path)])
    assert len(found.files) == 15_000
    assert "15,000" in found.problems[0].message
