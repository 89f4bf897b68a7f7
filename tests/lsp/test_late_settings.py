"""Settings that come late, or in another order than they were asked for, count all the same."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsp_editor import PATIENCE, QUIET, Client, Editor, server_config, start, until, within
from lsprotocol import types

pytestmark = pytest.mark.asyncio

FAKE = Path(__file__).with_name("fake_interpreter.py")
PROGRAM = 'import torch\n\nimages = torch.randn(64, 3, 224, 224)\nmoved = images.to("cuda")\n'
LOST = "import torch\n\nimages = torch.randn(3)\nimages.to('cuda')\n"
MEASURED = "Measured on NVIDIA Scripted, driver 550.54, torch 2.4.0, 20"
TRUSTED = {"trusted": True, "ownCommands": True}


@pytest_lsp.fixture(config=server_config())
async def client(lsp_client: Client) -> AsyncIterator[None]:
    yield
    await lsp_client.shutdown_session()


@pytest.fixture
def root(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, and a place for measurements that are no other test's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    folder = tmp_path_factory.mktemp("project").resolve()
    (folder / "pyproject.toml").write_text(QUIET, encoding="utf-8")
    return folder


def interpreter(folder: Path, steps: str) -> list[str]:
    """The command of an interpreter whose worker follows the steps."""
    folder.mkdir(exist_ok=True)
    (folder / "steps").write_text(steps, encoding="utf-8")
    return [sys.executable, str(FAKE), str(folder)]


def hold(client: Client) -> asyncio.Event:
    """Keeps the next answer about settings back until the event is set."""
    gate = asyncio.Event()
    client.held.append(gate)
    return gate


def configure(client: Client, **section: Any) -> None:
    """Changes settings as a user does, and tells the server that they are others."""
    client.set_configuration({"deviceLens": section})
    changed = types.DidChangeConfigurationParams(settings=None)
    client.workspace_did_change_configuration(changed)


async def hover_until(editor: Editor, part: str) -> None:
    """Hovers again and again, as the user does, until the text is there."""
    async with within(PATIENCE):
        while part not in await hover(editor):
            await asyncio.sleep(0.05)


async def hover(editor: Editor) -> str:
    found = await editor.hover("to(")
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents.value


async def test_an_answer_after_the_first_hover_names_the_interpreter(
    client: Client, root: Path
) -> None:
    command = interpreter(root / "gpu", "greet answer")
    client.set_configuration({"deviceLens": {"projectInterpreter": command}})
    gate = hold(client)
    await start(client, "pull", root, options=TRUSTED)
    editor = Editor(client, root / "main.py").open(PROGRAM)
    assert "No Python is known to measure with" in await hover(editor)
    gate.set()
    await hover_until(editor, MEASURED)


async def test_findings_follow_an_answer_that_comes_late(client: Client, root: Path) -> None:
    client.set_configuration({"deviceLens": {"ignore": ["discarded-transfer"]}})
    gate = hold(client)
    await start(client, "pull", root, options=TRUSTED)
    editor = Editor(client, root / "main.py").open(LOST)
    assert await editor.pulled() == ["discarded-transfer"], "the defaults count meanwhile"
    gate.set()
    await until(client, lambda: client.diagnostic_refresh_count)
    assert await editor.pulled() == []


async def test_settings_that_are_known_outlast_a_question_without_answer(
    client: Client, root: Path
) -> None:
    client.set_configuration({"deviceLens": {"ignore": ["discarded-transfer"]}})
    await start(client, "pull", root, options=TRUSTED)
    editor = Editor(client, root / "main.py").open(LOST)
    assert await editor.pulled() == []
    gate = hold(client)
    configure(client)
    await until(client, lambda: not client.held)
    editor.replace("3", "4")
    assert await editor.pulled() == []
    gate.set()  # a client does not end with a question open


async def test_an_answer_that_was_overtaken_does_not_count(client: Client, root: Path) -> None:
    gate = hold(client)
    await start(client, "pull", root, options=TRUSTED)
    await until(client, lambda: not client.held)
    configure(client, ignore=["discarded-transfer"])
    editor = Editor(client, root / "main.py").open(LOST)
    assert await editor.pulled() == []
    gate.set()  # with the settings of the start
    refreshes = client.diagnostic_refresh_count
    editor.replace("3", "4")
    assert await editor.pulled() == []
    configure(client)
    await until(client, lambda: client.diagnostic_refresh_count > refreshes)
    assert await editor.pulled() == ["discarded-transfer"]


@pytest.mark.parametrize("told_by", ["the extension", "settings"])
async def test_another_interpreter_after_the_first_measurement_is_asked(
    client: Client, root: Path, told_by: str
) -> None:
    """A start with another Python than the one that the user has set, as where settings are read
    late: what is wrong with the first is no word about the second."""
    without = interpreter(root / "without", "no-torch")
    right = interpreter(root / "gpu", "greet answer")
    options: dict[str, Any] = {**TRUSTED}
    if told_by == "settings":
        client.set_configuration({"deviceLens": {"projectInterpreter": without}})
    else:
        options["projectInterpreter"] = without
    await start(client, "pull", root, options=options)
    editor = Editor(client, root / "main.py").open(PROGRAM)
    await hover_until(editor, "has no PyTorch")
    if told_by == "settings":
        configure(client, projectInterpreter=right)
    else:
        environment = {"trusted": True, "projectInterpreter": right}
        client.protocol.notify("deviceLens/environment", environment)
    await hover_until(editor, MEASURED)
    assert "has no PyTorch" not in await hover(editor)


async def test_a_server_that_is_switched_off_says_so(client: Client, root: Path) -> None:
    await start(client, "pull", root, options=TRUSTED)
    editor = Editor(client, root / "main.py").open(LOST)
    assert await editor.pulled() == ["discarded-transfer"]
    client.set_configuration({"deviceLens": {"enable": False}}, scope_uri=root.as_uri())
    configure(client, enable=False)
    off = "off: deviceLens.enable is false"
    await until(client, lambda: client.statuses and told(client) == off)
    assert await editor.pulled() == []
    client.set_configuration({"deviceLens": {}}, scope_uri=root.as_uri())
    configure(client, enable=True)
    await until(client, lambda: told(client) != off)


def told(client: Client) -> str:
    """What the status item says besides its state."""
    return getattr(client.statuses[-1], "message", "")
