"""A client that is not our extension: it pulls nothing, knows no trust and no commands of ours."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_lsp
from lsp_editor import QUIET, Client, Editor, server_config, start, until
from lsprotocol import types

pytestmark = pytest.mark.asyncio(loop_scope="module")

FAKE = Path(__file__).with_name("fake_interpreter.py")
ACTION = "Measure this transfer on this machine"
PROGRAM = 'import torch\n\ngröße = "𝒲"; x = torch.randn(64, 3, 224, 224); x.to("cuda")\n'


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project").resolve()
    (folder / "pyproject.toml").write_text(QUIET, encoding="utf-8")
    (folder / "steps").write_text("greet answer", encoding="utf-8")
    return folder


@pytest_lsp.fixture(config=server_config(), scope="module")
async def client(
    lsp_client: Client, root: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[None]:
    section = {
        "projectInterpreter": [sys.executable, str(FAKE), str(root)],
        "semanticTokens": True,
    }
    lsp_client.set_configuration({})  # it answers, with nothing
    await start(lsp_client, "helix", root, options={"deviceLens": section})
    yield
    await lsp_client.shutdown_session()


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Measurements of a test are no other's, nor the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def editor(client: Client, root: Path, request: pytest.FixtureRequest) -> Editor:
    return Editor(client, root / f"{request.node.name}.py", "utf-8").open(PROGRAM)


async def test_ranges_count_bytes(editor: Editor) -> None:
    (found,) = await editor.pushed()
    assert editor.slice(found.range) == 'x.to("cuda")'


async def test_a_transfer_is_measured_by_an_action(editor: Editor, root: Path) -> None:
    text = await _hover(editor)
    assert f"A code action measures it: *{ACTION}*." in text
    assert "command:" not in text
    assert not (root / "starts").exists()
    action = next(each for each in await editor.actions("to(") if each.title == ACTION)
    assert action.command is not None
    assert (await editor.resolved(action)).command == action.command
    params = types.ExecuteCommandParams(action.command.command, action.command.arguments)
    await editor.client.workspace_execute_command_async(params)
    assert "Measured on NVIDIA Scripted" in await _hover(editor)


async def test_what_is_no_transfer_is_not_measured(editor: Editor) -> None:
    assert ACTION not in [each.title for each in await editor.actions("import")]
    assert ACTION not in [each.title for each in await editor.actions("to(", ["quickfix"])]


async def test_the_page_of_a_rule_is_shown_by_the_editor(editor: Editor) -> None:
    actions = await editor.actions("x.to(")
    action = next(each for each in actions if each.title == "Explain discarded-transfer")
    assert action.command is not None
    params = types.ExecuteCommandParams(action.command.command, action.command.arguments)
    await editor.client.workspace_execute_command_async(params)
    await until(editor.client, lambda: editor.client.shown_documents)
    assert editor.client.shown_documents[-1].uri.endswith("/discarded-transfer.md")


async def test_a_name_that_is_no_rule_shows_nothing(client: Client) -> None:
    count = len(client.shown_documents)
    params = types.ExecuteCommandParams("deviceLens.showRulePage", ["../../secret"])
    await client.workspace_execute_command_async(params)
    assert len(client.shown_documents) == count


async def test_tokens_come_to_who_asked_for_them_at_the_start(editor: Editor) -> None:
    params = types.SemanticTokensParams(types.TextDocumentIdentifier(editor.uri))
    found = await editor.client.text_document_semantic_tokens_full_async(params)
    assert found is not None
    assert len(found.data) >= 5


async def _hover(editor: Editor) -> str:
    found = await editor.hover("to(")
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents.value
