"""Imports resolved to files of the workspace."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device_lens.project.imports import ImportResolver

FILES = [
    "train.py", "utils.py", "pkg/__init__.py", "pkg/net.py", "pkg/sub/__init__.py",
    "pkg/sub/deep.py", "pkg/utils.py", "space/inner/mod.py", "src/lib/__init__.py",
    "src/lib/core.py", "scripts/run.py", "scripts/helper.py", "scripts/random.py",
    "tests/torch/nn.py", "tests/test_x.py", "tests/json/tool.py",
    "pkg/torch/__init__.py", "pkg/torch/plain/deep.py", "mod/__init__.py",
]  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in FILES:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("importer", "level", "module", "found"),
    [
        ("train.py", 0, "utils", "utils.py"),
        ("train.py", 0, "pkg", "pkg/__init__.py"),
        ("train.py", 0, "pkg.net", "pkg/net.py"),
        ("train.py", 0, "pkg.sub.deep", "pkg/sub/deep.py"),
        ("train.py", 0, "pkg.none", None),
        ("train.py", 0, "space", None),
        ("train.py", 0, "space.inner.mod", "space/inner/mod.py"),
        ("train.py", 0, "lib.core", "src/lib/core.py"),
        ("train.py", 0, "pkg.?0", "pkg/net.py"),
        ("train.py", 0, "pkg.?1", "pkg/sub/__init__.py"),
        ("train.py", 0, "pkg.?3", "pkg/utils.py"),
        ("train.py", 0, "pkg.?4", None),
        ("train.py", 0, "space.inner.?0", "space/inner/mod.py"),
        ("train.py", 0, "none.?0", None),
        ("pkg/net.py", 1, "sub.?0", "pkg/sub/deep.py"),
        ("train.py", 0, "helper", None),
        ("src/lib/core.py", 0, "lib", "src/lib/__init__.py"),
        ("scripts/run.py", 0, "helper", "scripts/helper.py"),
        ("scripts/run.py", 0, "utils", "utils.py"),
        ("space/inner/mod.py", 0, "mod", "mod/__init__.py"),
        ("space/inner/mod.py", 1, "mod", "space/inner/mod.py"),
        ("scripts/run.py", 0, "random", "scripts/random.py"),
        ("pkg/net.py", 0, "utils", "utils.py"),
        ("pkg/net.py", 0, "net", "pkg/net.py"),
        ("pkg/net.py", 1, "utils", "pkg/utils.py"),
        ("pkg/net.py", 1, "", "pkg/__init__.py"),
        ("pkg/__init__.py", 1, "net", "pkg/net.py"),
        ("pkg/sub/deep.py", 2, "net", "pkg/net.py"),
        ("pkg/sub/deep.py", 1, "deep", "pkg/sub/deep.py"),
        ("pkg/sub/deep.py", 9, "x", None),
        ("tests/test_x.py", 0, "torch.nn", None),
        ("tests/test_x.py", 0, "json.tool", None),
        ("pkg/torch/plain/deep.py", 0, "torch", None),
        ("pkg/torch/plain/deep.py", 0, "pkg.torch", "pkg/torch/__init__.py"),
        ("train.py", 0, "../utils", None),
        ("train.py", 0, "", None),
    ],
)
def test_resolve(root: Path, importer: str, level: int, module: str, found: str | None) -> None:
    resolver = ImportResolver(str(root), frozenset({"torch"}))
    expected = None if found is None else str(root / found)
    for _ in range(2):
        assert resolver.resolve(module, level, str(root / importer)) == expected


@pytest.mark.parametrize(
    ("folder", "module", "found"),
    [
        ("pkg", "pkg.net", "pkg/net.py"),
        ("pkg", "pkg.sub.deep", "pkg/sub/deep.py"),
        ("pkg", "pkg", "pkg/__init__.py"),
        ("pkg", "train", None),
        ("pkg/sub", "pkg.sub.deep", "pkg/sub/deep.py"),
        ("pkg/sub", "pkg.net", None),
        ("pkg/torch", "pkg.torch.plain.deep", "pkg/torch/plain/deep.py"),
    ],
)
def test_a_package_that_is_the_root_knows_its_name(
    root: Path, folder: str, module: str, found: str | None
) -> None:
    resolver = ImportResolver(str(root / folder))
    importer = str(root / folder / "__init__.py")
    assert resolver.resolve(module, 0, importer) == (found and str(root / found))


def test_answers_are_remembered_until_files_change(root: Path) -> None:
    resolver = ImportResolver(str(root))
    importer = str(root / "train.py")
    assert resolver.resolve("new", 0, importer) is None
    (root / "new.py").write_text("")
    assert resolver.resolve("new", 0, importer) is None
    resolver.invalidate()
    assert resolver.resolve("new", 0, importer) == str(root / "new.py")


def test_unsaved_files_exist(root: Path) -> None:
    resolver = ImportResolver(str(root))
    importer = str(root / "train.py")
    assert resolver.resolve("fresh.mod", 0, importer) is None
    resolver.with_unsaved(frozenset({str(root / "fresh" / "mod.py")}))
    assert resolver.resolve("fresh.mod", 0, importer) == str(root / "fresh" / "mod.py")


@given(st.text(max_size=12), st.integers(0, 40), st.text(max_size=12))
def test_anything_is_resolved_without_an_exception(module: str, level: int, path: str) -> None:
    resolver = ImportResolver("/nowhere/at/all")
    assert resolver.resolve(module, level, f"/nowhere/at/all/{path}") is None
