"""The hook of pre-commit: what its file names exists, and what it installs can be built."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from device_lens.cli.main import main

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[3]
HOOK = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")


def _setting(key: str) -> str:
    found = re.search(rf"^\s+{key}: (.+)$", HOOK, re.MULTILINE)
    assert found is not None, f"the hook has no {key}"
    return found.group(1)


def test_the_hook_runs_a_command_that_is_installed(tmp_path: Path) -> None:
    script, command = _setting("entry").split()
    server = tomllib.loads((ROOT / "server" / "pyproject.toml").read_text(encoding="utf-8"))
    assert server["project"]["scripts"][script] == "device_lens.__main__:main"
    program = tmp_path / "bug.py"
    program.write_text("import torch\n\nx = torch.ones(3)\nx.to('cuda')\n", encoding="utf-8")
    assert main([command, str(program)]) == 1
    program.write_text("import torch\n\nx = torch.ones(3)\n", encoding="utf-8")
    assert main([command, str(program)]) == 0


def test_the_hook_installs_folders_of_the_clone() -> None:
    folders = re.findall(r'"(\./[^"]+)"', _setting("additional_dependencies"))
    assert folders
    for folder in folders:
        assert (ROOT / folder / "pyproject.toml").is_file()


@pytest.mark.parametrize("folder", [".", "server"])
def test_what_the_hook_installs_builds(folder: str, tmp_path: Path) -> None:
    source = ROOT / folder
    build = (
        "import os, sys; from hatchling.build import build_wheel; "
        "os.chdir(sys.argv[1]); print(build_wheel(sys.argv[2]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", build, str(source), str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert [path.suffix for path in tmp_path.iterdir()] == [".whl"]
