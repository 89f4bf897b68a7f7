"""Settings from the command line, ``pyproject.toml`` and the editor."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device_lens.project.configuration import Configurations
from device_lens.project.root import find_root
from device_lens.project.settings import Layer, read_layer


def _pyproject(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_key(tmp_path: Path) -> None:
    _pyproject(
        tmp_path,
        """
        [tool.device-lens]
        select = ["a"]
        ignore = ["b"]
        exclude = ["old/"]
        assume-accelerator = "mps"
        target-python = "3.12"
        docs-url = "https://example.org"
        [tool.device-lens.severity]
        a = "error"
        [tool.device-lens.per-file-ignores]
        "tests/*.py" = ["c"]
        [tool.device-lens.dims]
        B = 64
        """,
    )
    loaded = Configurations().of(str(tmp_path / "a.py"))
    configuration = loaded.configuration
    assert loaded.warnings == ()
    assert loaded.folder == str(tmp_path)
    assert configuration.select == ("a",)
    assert configuration.ignore == ("b",)
    assert configuration.exclude == ("old/",)
    assert configuration.assume_accelerator == "mps"
    assert configuration.target_python == "3.12"
    assert configuration.docs_url == "https://example.org"
    assert configuration.severity == {"a": "error"}
    assert configuration.dims == {"B": 64}
    assert configuration.ignored_in("tests/x.py") == {"c"}
    assert configuration.ignored_in("src/x.py") == frozenset()


def test_precedence(tmp_path: Path) -> None:
    _pyproject(tmp_path, '[tool.device-lens]\nignore = ["p"]\ndims = {B = 2, C = 3}\n')
    command_line = Layer(dims={"B": 1})
    editor = Layer(ignore=("e",), exclude=("x",), dims={"C": 9, "D": 4})
    found = Configurations(command_line, editor).of(str(tmp_path)).configuration
    assert found.ignore == ("p",)
    assert found.exclude == ("x",)
    assert found.dims == {"B": 1, "C": 3, "D": 4}


def test_the_nearest_table_counts(tmp_path: Path) -> None:
    _pyproject(tmp_path, '[tool.device-lens]\nignore = ["outer"]\n')
    _pyproject(tmp_path / "a", '[tool.device-lens]\nignore = ["inner"]\n')
    _pyproject(tmp_path / "a" / "b", "[project]\nname = 'b'\n")
    (tmp_path / "a" / "c" / ".git").mkdir(parents=True)
    configurations = Configurations()
    assert configurations.of(str(tmp_path / "a" / "b" / "x.py")).configuration.ignore == ("inner",)
    assert configurations.of(str(tmp_path / "x.py")).configuration.ignore == ("outer",)
    assert configurations.of(str(tmp_path / "a" / "c" / "x.py")).folder is None


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    path = _pyproject(tmp_path, '[tool.device-lens]\nignore = ["a"]\n')
    configurations = Configurations()
    assert configurations.of(str(tmp_path)).configuration.ignore == ("a",)
    path.write_text('[tool.device-lens]\nignore = ["a", "b"]\n', encoding="utf-8")
    assert configurations.of(str(tmp_path)).configuration.ignore == ("a", "b")


def test_an_unknown_key_names_the_nearest() -> None:
    layer, warnings = read_layer({"selct": ["a"], "wholly-other": 1, "ignore": ["b"]}, "p.toml")
    assert layer == Layer(ignore=("b",))
    assert [warning.message for warning in warnings] == [
        "unknown setting `selct`; did you mean `select`?",
        "unknown setting `wholly-other`",
    ]
    assert warnings[0].path == "p.toml"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"select": "a"}, "`select` must be a list of strings"),
        ({"severity": {"a": "fatal"}}, "`severity` must be one of"),
        ({"dims": {"B": 0}}, "`dims` must be a table of positive whole numbers"),
        ({"dims": {"B": True}}, "`dims` must be a table of positive whole numbers"),
        ({"assume-accelerator": "tpu"}, "`assume-accelerator` must be one of"),
        ({"target-python": 3.1}, '`target-python` must be a version such as "3.12"'),
        ({"perFileIgnores": []}, "`perFileIgnores` must be a table"),
        (7, "`tool.device-lens` must be a table"),
    ],
)
def test_wrong_types_are_warnings(table: Any, message: str) -> None:
    layer, (warning,) = read_layer(table)
    assert layer == Layer()
    assert warning.message.startswith(message)


def test_editor_spelling() -> None:
    layer, warnings = read_layer({"perFileIgnores": {"a": ["b"]}, "assumeAccelerator": "xpu"})
    assert layer == Layer(per_file_ignores={"a": ("b",)}, assume_accelerator="xpu")
    assert warnings == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
KEYS = st.sampled_from(["select", "severity", "dims", "exclude", "docs-url", "per-file-ignores"])


@given(st.dictionaries(KEYS | st.text(max_size=8), JSON) | JSON)
def test_any_table_is_read_without_an_exception(table: Any) -> None:
    layer, warnings = read_layer(table)
    assert isinstance(layer, Layer)
    assert all(warning.message for warning in warnings)


@pytest.mark.parametrize(
    "text", ["[tool", "\x00", "a = " + "[" * 20_000, "[tool]\ndevice-lens = 3"]
)
def test_a_broken_file_is_a_warning(tmp_path: Path, text: str) -> None:
    path = _pyproject(tmp_path, text)
    (tmp_path / ".git").mkdir()
    loaded = Configurations().of(str(tmp_path / "a.py"))
    assert loaded.configuration.ignore == ()
    assert [warning.path for warning in loaded.warnings] == [str(path)]


def test_a_huge_file_is_a_warning(tmp_path: Path) -> None:
    _pyproject(tmp_path, "# " + "x" * 1_000_001)
    (tmp_path / ".git").mkdir()
    (warning,) = Configurations().of(str(tmp_path)).warnings
    assert "too large" in warning.message


def test_root(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    assert find_root(str(tmp_path / "a" / "b" / "x.py"), "/elsewhere") == str(tmp_path)
    _pyproject(tmp_path / "a", "")
    assert find_root(str(tmp_path / "a" / "b"), "/elsewhere") == str(tmp_path / "a")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders here")
def test_a_pipe_or_folder_in_its_place_is_a_warning(tmp_path: Path) -> None:
    for number, make in enumerate((os.mkfifo, os.mkdir)):
        folder = tmp_path / str(number)
        folder.mkdir()
        make(folder / "pyproject.toml")
        loaded = Configurations().of(str(folder / "a.py"))
        assert [each.message for each in loaded.warnings] == ["is not a regular file"]


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 100_000,
        "a." * 100_000 + "b = 1",
        "x = " + "9" * 100_000,
        '[tool.device-lens]\nexclude = ["' + "*" * 5000 + 'x"]',
    ],
)
def test_a_file_made_to_be_expensive_is_read_or_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    loaded = Configurations().of(str(tmp_path / "a.py"))
    assert loaded.warnings or loaded.folder in (str(tmp_path), None)
