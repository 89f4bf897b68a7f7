"""A workspace of several folders, each with settings and a configuration of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsp_editor import PATIENCE, QUIET, Client, Editor, capabilities, rules, server_config, within
from lsprotocol import types

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROGRAM = 'import torch\n\nx = torch.ones(3)\nx.to("cuda")\n'


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """`plain` has nothing of its own, `configured` a file, `set` settings, `off` a switch."""
    root = tmp_path_factory.mktemp("workspace").resolve()
    found = {name: root / name for name in ("plain", "configured", "set", "off")}
    for folder in found.values():
        folder.mkdir()
        (folder / "pyproject.toml").write_text(QUIET, encoding="utf-8")
    severity = 'severity = {discarded-transfer = "error", hardcoded-device = "off"}\n'
    text = f"[tool.device-lens]\n{severity}"
    (found["configured"] / "pyproject.toml").write_text(text, encoding="utf-8")
    return found


@pytest_lsp.fixture(config=server_config(), scope="module")
async def client(lsp_client: Client, folders: dict[str, Path]) -> AsyncIterator[None]:
    for name, section in {
        "set": {"severity": {"discarded-transfer": "hint"}},
        "off": {"enable": False},
    }.items():
        uri = folders[name].as_uri()
        lsp_client.set_configuration({"deviceLens": section}, scope_uri=uri)
    params = types.InitializeParams(
        capabilities=capabilities("pull"),
        workspace_folders=[
            types.WorkspaceFolder(each.as_uri(), name) for name, each in folders.items()
        ],
    )
    await lsp_client.initialize_session(params)
    yield
    await lsp_client.shutdown_session()


@pytest.mark.parametrize(
    ("folder", "severity"),
    [
        ("plain", types.DiagnosticSeverity.Warning),
        ("configured", types.DiagnosticSeverity.Error),
        ("set", types.DiagnosticSeverity.Hint),
    ],
)
async def test_each_folder_has_its_own_severity(
    client: Client, folders: dict[str, Path], folder: str, severity: types.DiagnosticSeverity
) -> None:
    editor = Editor(client, folders[folder] / "main.py").open(PROGRAM)
    (found,) = (await editor.pull()).items
    assert (found.code, found.severity) == ("discarded-transfer", severity)


async def test_a_folder_can_be_switched_off(client: Client, folders: dict[str, Path]) -> None:
    editor = Editor(client, folders["off"] / "main.py").open(PROGRAM)
    assert await editor.pulled() == []
    assert await editor.hover("to(") is None


async def test_a_folder_that_is_added_counts(client: Client, folders: dict[str, Path]) -> None:
    added = folders["plain"].parent / "added"
    added.mkdir()
    (added / "pyproject.toml").write_text(QUIET, encoding="utf-8")
    editor = Editor(client, added / "main.py").open(PROGRAM)
    assert await editor.pulled() == ["discarded-transfer"]
    client.set_configuration({"deviceLens": {"enable": False}}, scope_uri=added.as_uri())
    event = types.WorkspaceFoldersChangeEvent([types.WorkspaceFolder(added.as_uri(), "added")], [])
    client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
    async with within(PATIENCE):
        while await editor.pulled():
            await asyncio.sleep(0.05)
    assert await editor.hover("to(") is None
    assert rules((await Editor(client, folders["plain"] / "b.py").open(PROGRAM).pull()).items)
