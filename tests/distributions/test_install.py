"""The wheel and the source distribution, installed alone, work wherever they are put and however
they are started.

What they need besides is linked from the environment of the tests, so that no network is wanted;
a library that the wheel does not declare is not there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 300
PROGRAM = 'import torch\n\nx = torch.ones(3)\nx.to("cuda")\n'
TRAPS = (
    "ast attr attrs cattrs dataclasses jedi json logging lsprotocol pathspec pygls rich typing "
    "typing_extensions"
).split()
"""Modules of Python's own and of libraries: here they fail whoever imports them."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links libraries as POSIX has it")


def build(source: Path, target: Path, *kinds: str) -> None:
    """Builds distributions without an environment of their own, which would be downloaded."""
    flags = [flag for kind in kinds for flag in ("-t", kind)]
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(target), *flags]
    subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=PATIENCE)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution of the checkout."""
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT / "server", folder, "sdist", "wheel")
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


class Installed:
    """The wheel in an environment of its own, under a path with spaces and other letters."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        environment = folder / "Größe der Dinge"
        subprocess.run(
            [sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True
        )
        (self._library,) = environment.glob("lib/python*/site-packages")
        self.python = environment / "bin" / "python"
        self.program = environment / "bin" / "device-lens"
        pip = [sys.executable, "-m", "pip", "--python", str(self.python), "install", "--quiet"]
        subprocess.run([*pip, "--no-index", "--no-deps", str(wheel)], check=True)
        with zipfile.ZipFile(wheel) as archive:
            (metadata,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
            lines = archive.read(metadata).decode().partition("\n\n")[0].splitlines()
        declared = [line.partition(": ")[2] for line in lines if line.startswith("Requires-Dist:")]
        for needed in _closure(declared):
            self._link(needed)

    def _link(self, needed: Distribution) -> None:
        tops = {file.parts[0] for file in needed.files or () if file.parts[0] != ".."}
        for top in tops - {"__pycache__"}:
            if not (self._library / top).exists():
                (self._library / top).symlink_to(Path(str(needed.locate_file(top))))


def _closure(requirements: list[str]) -> Iterator[Distribution]:
    """The installed distributions that requirements name, and those that these need."""
    waiting, seen = list(requirements), set[str]()
    while waiting:
        requirement = Requirement(waiting.pop())
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if not wanted or requirement.name in seen:
            continue
        seen.add(requirement.name)
        found = distribution(requirement.name)
        assert requirement.specifier.contains(found.version), requirement
        waiting += found.requires or ()
        yield found


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Installed:
    return Installed(tmp_path_factory.mktemp("environment"), wheel)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program among files that are named like modules and fail whoever imports them."""
    folder = tmp_path_factory.mktemp("Projekt mit Ümlaut")
    (folder / "train.py").write_text(PROGRAM, encoding="utf-8")
    for name in TRAPS:
        (folder / f"{name}.py").write_text(f'raise ImportError("{name} of the user")\n')
    return folder


@pytest.fixture(params=["empty", "hostile"])
def environment(request: pytest.FixtureRequest, project: Path) -> dict[str, str]:
    """The variables that the program is started with."""
    if request.param == "empty":
        return {}
    return {**os.environ, "PYTHONPATH": str(project), "COLUMNS": "nonsense", "LC_ALL": "C"}


def run(command: list[object], project: Path, environment: dict[str, str]) -> str:
    """What a command prints that finds something or nothing, and does not fail."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=project,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )
    assert done.returncode in (0, 1), done.stderr[-2000:]
    assert done.stderr == ""
    return done.stdout


def test_the_command_line_works(
    installed: Installed, project: Path, environment: dict[str, str]
) -> None:
    check = ["check", "--output-format", "json", "train.py"]
    for start in ([installed.program], [installed.python, "-m", "device_lens"]):
        found = json.loads(run([*start, *check], project, environment))
        rules = {each["rule"] for each in found["diagnostics"]}
        assert rules == {"discarded-transfer", "hardcoded-device"}
        assert "transfer cpu → cuda" in run([*start, "explain", "train.py"], project, environment)
        page = run([*start, "rule", "discarded-transfer"], project, environment)
        assert page.startswith("# discarded-transfer")


def test_the_server_answers(
    installed: Installed, project: Path, environment: dict[str, str]
) -> None:
    uri = (project / "train.py").as_uri()
    document = {"uri": uri, "languageId": "python", "version": 1, "text": PROGRAM}
    diagnostic = {"codeDescriptionSupport": True}
    capabilities = {"textDocument": {"diagnostic": {}, "publishDiagnostics": diagnostic}}
    messages = [
        {"id": 1, "method": "initialize", "params": {"capabilities": capabilities}},
        {"method": "initialized", "params": {}},
        {"method": "textDocument/didOpen", "params": {"textDocument": document}},
        {"id": 2, "method": "textDocument/diagnostic", "params": {"textDocument": {"uri": uri}}},
    ]
    server = subprocess.Popen(
        [str(installed.program), "serve"],
        cwd=project,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    for message in messages:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    server.stdin.flush()
    answers: dict[int, dict[str, object]] = {}
    while 2 not in answers:
        length = 0
        while line := server.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        assert length, "the server ended"
        message = json.loads(server.stdout.read(length))
        answers[message.get("id", 0)] = message
    server.stdin.close()
    assert server.wait(PATIENCE) == 0
    result = answers[2]["result"]
    assert isinstance(result, dict)
    pages = [each["codeDescription"]["href"] for each in result["items"]]
    names = {page.rpartition("/")[2] for page in pages}
    assert names == {"discarded-transfer.md", "hardcoded-device.md"}
    assert all("/site-packages/device_lens/pages/" in page for page in pages)


def test_the_source_distribution_builds_the_same_wheel(
    built: Path, wheel: Path, tmp_path: Path
) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path)
    (source,) = tmp_path.iterdir()
    build(source, tmp_path / "again", "wheel")
    (again,) = (tmp_path / "again").glob("*.whl")
    names = [sorted(zipfile.ZipFile(each).namelist()) for each in (wheel, again)]
    assert names[0] == names[1]
    assert any(name.endswith("/pages/discarded-transfer.md") for name in names[0])
    assert any(name.endswith("/licenses/LICENSE") for name in names[0])
