"""The view of a project that the interpreter gets."""

from __future__ import annotations

from pathlib import Path

from device_lens.interpreter.protocol import Workspace
from device_lens.project.files import FileStore, ParseCache
from device_lens.project.imports import ImportResolver
from device_lens.project.reading import FileProblem
from device_lens.project.workspace import ProjectWorkspace


def test_a_view_does_not_change_under_its_reader(tmp_path: Path) -> None:
    path = str(tmp_path / "a.py")
    Path(path).write_text("x = 1\n")
    store, cache, resolver = FileStore(), ParseCache(), ImportResolver(str(tmp_path))
    workspace: Workspace = ProjectWorkspace(cache, resolver, store.snapshot())
    first = workspace.source(path)
    Path(path).write_text("x = 22\n")
    assert workspace.source(path) is first
    later = ProjectWorkspace(cache, resolver, store.snapshot())
    assert later.source(path) is not first


def test_what_the_protocol_asks(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    init = str(tmp_path / "pkg" / "__init__.py")
    Path(init).write_text("")
    store = FileStore()
    store.open(str(tmp_path / "unsaved.py"), 1, "import pkg\n")
    workspace = ProjectWorkspace(ParseCache(), ImportResolver(str(tmp_path)), store.snapshot())
    importer = str(tmp_path / "unsaved.py")
    assert workspace.resolve("pkg", 0, importer) == init
    assert workspace.resolve("unsaved", 0, init) == importer
    assert workspace.is_package(init)
    assert not workspace.is_package(importer)
    assert workspace.foreign_class("lib.Net") is None
    assert workspace.source(str(tmp_path / "none.py")) is None
    assert isinstance(workspace.read(str(tmp_path / "none.py")), FileProblem)
