"""What a star takes from a module, by its text alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from device_lens.project.files import FileStore, ParseCache
from device_lens.project.imports import ImportResolver
from device_lens.project.workspace import ProjectWorkspace


def exports(folder: Path, name: str, store: FileStore | None = None) -> set[str]:
    snapshot = (store or FileStore()).snapshot()
    workspace = ProjectWorkspace(ParseCache(), ImportResolver(str(folder)), snapshot)
    return set(workspace.exports(str(folder / name)))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("class A: ...\nasync def b(): ...\ndef _c(): ...\n", {"A", "b"}),
        ("a = 1\nb: int = 2\n_c = 3\nd == 4\nif True:\n    e = 5\n", {"a", "b"}),
        ('a = 1\n__all__ = ["B", \'c\']\n__all__ += ["d"]\n', {"B", "c", "d"}),
        ('__all__ = (\n    "A",  # one\n    "b",\n)\n__all__.extend(["c"])\n', {"A", "b", "c"}),
        ("a = 1\n__all__ = list(a)\n", {"a"}),
        ("from x import a, b as c, _d\n", {"a", "c"}),
        ("from x import (\n    a,\n    b as c,  # why\n)\n", {"a", "c"}),
        ("\0\0", set()),
    ],
)
def test_the_names_of_one_module(tmp_path: Path, text: str, names: set[str]) -> None:
    (tmp_path / "a.py").write_text(text)
    assert exports(tmp_path, "a.py") == names


def test_stars_lead_on_and_may_go_round_in_circles(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from b import *\nfrom elsewhere import *\nx = 1\n")
    (tmp_path / "b.py").write_text("from a import *\ny = 2\n")
    assert exports(tmp_path, "a.py") == {"x", "y"}


def test_an_open_document_counts_before_the_disk_and_what_cannot_be_read_has_none(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "b.py").write_bytes(b"\xff\xfe\xff" * 5)
    store = FileStore()
    store.open(str(tmp_path / "a.py"), 1, "y = 1\n")
    assert exports(tmp_path, "a.py", store) == {"y"}
    assert exports(tmp_path, "b.py") == set()
    assert exports(tmp_path, "none.py") == set()


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    cache, resolver, store = ParseCache(), ImportResolver(str(tmp_path)), FileStore()
    first = ProjectWorkspace(cache, resolver, store.snapshot())
    path = str(tmp_path / "a.py")
    store.open(path, 1, "x = 1\n")
    kept = first._exports
    assert ProjectWorkspace(cache, resolver, store.snapshot(), exports=kept).exports(path) == ("x",)
    store.change(path, 2, "y = 1\n")
    assert ProjectWorkspace(cache, resolver, store.snapshot(), exports=kept).exports(path) == ("y",)
