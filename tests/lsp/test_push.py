"""A client that only takes what is pushed, has no settings to ask for, and shows plain text."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsp_editor import Client, Editor, rules, server_config, start, until
from lsprotocol import types

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROGRAM = """\
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.randn(64, 10)
x.to(device)
"""


@pytest_lsp.fixture(config=server_config(), scope="module")
async def client(lsp_client: Client, root: Path) -> AsyncIterator[None]:
    await start(lsp_client, "push", root)
    yield
    await lsp_client.shutdown_session()


async def test_diagnostics_follow_the_text(editor: Editor) -> None:
    editor.open(PROGRAM)
    assert rules(await editor.pushed()) == ["discarded-transfer"]
    editor.replace("x.to(device)", "x = x.to(device)")
    assert await editor.pushed() == []
    editor.replace("x = x.to(device)", "x.to(device)")
    assert rules(await editor.pushed()) == ["discarded-transfer"]


async def test_closing_clears(editor: Editor) -> None:
    editor.open(PROGRAM)
    assert await editor.pushed() != []
    count = len(editor.client.published)
    editor.close()
    await until(editor.client, lambda: len(editor.client.published) > count)
    last = editor.client.published[-1]
    assert (last.uri, list(last.diagnostics)) == (editor.uri, [])


async def test_a_closed_document_can_be_opened_again(editor: Editor) -> None:
    editor.open(PROGRAM)
    assert await editor.pushed() != []
    editor.close()
    editor.open("import torch\n")
    assert await editor.pushed() == []


async def test_a_version_is_published_once(editor: Editor) -> None:
    editor.open(PROGRAM)
    await editor.pushed()
    editor.replace("64", "32")
    await editor.pushed()
    other = Editor(editor.client, editor.path.with_name("another.py")).open(PROGRAM)
    await other.pushed()
    versions = [each.version for each in editor.client.published if each.uri == editor.uri]
    assert versions == [1, 2]


async def test_broken_text_keeps_what_is_known_elsewhere(editor: Editor) -> None:
    editor.open(PROGRAM)
    await editor.pushed()
    editor.replace("import torch\n", "import torch\nfor i in range(:\n    y = [\n\n")
    assert rules(await editor.pushed()) == ["discarded-transfer"]


async def test_a_whole_document_can_be_sent(editor: Editor) -> None:
    editor.open("import torch\n")
    assert await editor.pushed() == []
    editor.change(types.TextDocumentContentChangeWholeDocument(PROGRAM))
    assert rules(await editor.pushed()) == ["discarded-transfer"]


async def test_a_change_elsewhere_is_pushed_for_the_importer(editor: Editor, root: Path) -> None:
    helper = Editor(editor.client, root / "placing.py").open(
        "def place(x, device):\n    return x.to(device)\n"
    )
    editor.open(
        "import torch\nfrom placing import place\n\n"
        "w = torch.ones(3, device='cuda')\nx = place(torch.ones(3), 'cuda')\ny = x + w\n"
    )
    assert await editor.pushed() == []
    await helper.pushed()
    count = len(editor.client.published)
    helper.replace("return x.to(device)", "return x")

    def has_news() -> bool:
        news = editor.client.published[count:]
        return any(each.uri == editor.uri and each.diagnostics for each in news)

    await until(editor.client, has_news)
    assert helper.version == 2


async def test_a_hover_is_plain_text(editor: Editor) -> None:
    editor.open(PROGRAM)
    found = await editor.hover("x.to(device)", 2)
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    assert found.contents.kind == types.MarkupKind.PlainText
    assert found.contents.value.startswith("cpu → cuda")
    assert "`" not in found.contents.value


async def test_actions_have_their_edits(editor: Editor) -> None:
    editor.open(PROGRAM)
    actions = await editor.actions("x.to(device)")
    assert all(each.edit is not None and each.command is None for each in actions)
    fix = next(each for each in actions if each.is_preferred)
    assert fix.edit is not None
    assert fix.edit.document_changes is None
    editor.apply(fix.edit)
    assert editor.text == PROGRAM.replace("x.to(device)", "x = x.to(device)")


async def test_settings_may_be_sent(editor: Editor) -> None:
    client = editor.client
    editor.open(PROGRAM)
    assert await editor.pushed() != []
    count = len(client.published)
    settings = {"deviceLens": {"severity": {"discarded-transfer": "hint"}}}
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))

    def has_news() -> list[types.PublishDiagnosticsParams]:
        return [each for each in client.published[count:] if each.uri == editor.uri]

    await until(client, has_news)
    assert has_news()[-1].diagnostics[0].severity == types.DiagnosticSeverity.Hint
    count = len(client.published)
    client.workspace_did_change_configuration(
        types.DidChangeConfigurationParams({"deviceLens": {"enable": False}})
    )
    await until(client, has_news)
    assert list(has_news()[-1].diagnostics) == []
    client.workspace_did_change_configuration(
        types.DidChangeConfigurationParams({"deviceLens": {}})
    )
    assert rules(await editor.pushed()) == ["discarded-transfer"]


async def test_on_save_waits_for_the_save(editor: Editor) -> None:
    client = editor.client
    client.workspace_did_change_configuration(
        types.DidChangeConfigurationParams({"deviceLens": {"run": "onSave"}})
    )
    editor.open(PROGRAM)
    assert await editor.pushed() != []
    editor.replace("x.to(device)", "x = x.to(device)")
    assert await editor.hover("x.to(device)", 2) is not None  # it was analysed, yet not published
    assert [each.version for each in client.published if each.uri == editor.uri] == [1]
    editor.save()
    assert await editor.pushed() == []
    client.workspace_did_change_configuration(
        types.DidChangeConfigurationParams({"deviceLens": {}})
    )
