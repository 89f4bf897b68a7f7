"""A client that pulls diagnostics, resolves actions and answers for its settings, as VS Code."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
import pytest_lsp
from lsp_editor import PATIENCE, Client, Editor, rules, server_config, start, until, within
from lsprotocol import types
from pygls.exceptions import JsonRpcException

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROGRAM = """\
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.randn(64, 10)
x.to(device)
"""
KEPT = PROGRAM.replace("x.to", "y = x.to")
STALE = (-32801, -32802)


@pytest_lsp.fixture(config=server_config(), scope="module")
async def client(lsp_client: Client, root: Path) -> AsyncIterator[None]:
    options = {"trusted": True, "projectInterpreter": None, "ownCommands": True}
    await start(lsp_client, "pull", root, options=options)
    yield
    await lsp_client.shutdown_session()


async def test_a_pull_answers_for_the_newest_text(editor: Editor) -> None:
    editor.open(PROGRAM)
    (found,) = (await editor.pull()).items
    assert found.code == "discarded-transfer"
    assert found.source == "Device Lens"
    assert found.severity == types.DiagnosticSeverity.Warning
    assert editor.slice(found.range) == "x.to(device)"
    assert editor.client.published == []
    editor.replace("x.to(device)", "x = x.to(device)")
    assert await editor.pulled() == []


async def test_related_places_tell_where_a_value_was_made(editor: Editor) -> None:
    editor.open(PROGRAM)
    (found,) = (await editor.pull()).items
    places = [editor.slice(each.location.range) for each in found.related_information]
    assert "torch.randn(64, 10)" in places


async def test_a_finding_has_its_page_and_what_is_needless_is_faded(editor: Editor) -> None:
    editor.open('import torch\n\nx = torch.ones(3, device="cuda:0")\ny = x.to("cuda:0")\n')
    (found,) = await editor.told("redundant-transfer")
    assert list(found.tags or ()) == [types.DiagnosticTag.Unnecessary]
    assert found.code_description is not None
    page = url2pathname(urlsplit(found.code_description.href).path)
    assert Path(page).read_text(encoding="utf-8").startswith("# redundant-transfer")


async def test_what_is_the_same_is_said_to_be(editor: Editor) -> None:
    editor.open(PROGRAM)
    first = await editor.pull()
    again = await editor.pull(first.result_id)
    assert again.kind == types.DocumentDiagnosticReportKind.Unchanged
    editor.replace("x.to(device)", "")
    assert (await editor.pull(first.result_id)).kind == types.DocumentDiagnosticReportKind.Full


async def test_broken_syntax_keeps_what_is_known_elsewhere(editor: Editor) -> None:
    editor.open(PROGRAM)
    editor.change(
        types.TextDocumentContentChangePartial(
            editor.range_of("import torch\n\n"), "import torch\ndef f(:\n    return (\n\n"
        )
    )
    assert await editor.pulled() == ["discarded-transfer"]


async def test_a_hover_begins_with_the_answer(editor: Editor) -> None:
    editor.open(PROGRAM)
    found = await editor.hover("x.to(device)", 2)
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    first = found.contents.value.split("\n")[0]
    assert first.startswith("`cpu → cuda")
    assert "float32 [64, 10] · 2.56 kB" in first
    assert found.range is not None
    assert editor.slice(found.range) == "x.to(device)"


@pytest.mark.parametrize(("program", "shown"), [(PROGRAM, False), (KEPT, True)])
async def test_a_hover_leaves_out_what_the_finding_beside_it_shows(
    editor: Editor, program: str, shown: bool
) -> None:
    editor.open(program)
    found = await editor.hover("x.to(device)", 2)
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    assert (f"{editor.uri}#L4" in found.contents.value) is shown


async def test_a_hover_on_something_else_is_nothing(editor: Editor) -> None:
    editor.open("import torch\n\nname = 'x'\nprint(name)\n")
    assert await editor.hover("name") is None


async def test_a_fix_is_resolved_and_gives_the_expected_text(editor: Editor) -> None:
    editor.open(PROGRAM)
    actions = await editor.actions("x.to(device)")
    fix = next(each for each in actions if each.is_preferred)
    assert fix.kind == types.CodeActionKind.QuickFix
    assert fix.edit is None
    editor.apply((await editor.resolved(fix)).edit)
    assert editor.text == PROGRAM.replace("x.to(device)", "x = x.to(device)")
    assert await editor.pulled() == []


async def test_a_finding_can_be_ignored_and_explained(editor: Editor) -> None:
    editor.open(PROGRAM)
    actions = await editor.actions("x.to(device)")
    explain = next(each for each in actions if each.command is not None)
    assert explain.command is not None
    assert list(explain.command.arguments or ()) == ["discarded-transfer"]
    ignore = next(each for each in actions if "gnore" in each.title)
    editor.apply((await editor.resolved(ignore)).edit)
    assert "device-lens: ignore[discarded-transfer]" in editor.text
    assert await editor.pulled() == []


async def test_fix_all_applies_every_safe_fix(editor: Editor) -> None:
    editor.open(PROGRAM + "y = torch.rand(2)\ny.to(device)\n")
    (action,) = await editor.actions("import", only=["source.fixAll.deviceLens"])
    editor.apply((await editor.resolved(action)).edit)
    assert "\nx = x.to(device)\ny = torch.rand(2)\ny = y.to(device)\n" in editor.text


async def test_an_action_for_an_older_text_is_stale(editor: Editor) -> None:
    editor.open(PROGRAM)
    fix = next(each for each in await editor.actions("x.to(device)") if each.is_preferred)
    editor.replace("import torch", "import torch\n")
    with pytest.raises(JsonRpcException) as error:
        await editor.resolved(fix)
    assert error.value.code == -32801


async def test_an_answer_overtaken_by_an_edit_is_content_modified(editor: Editor) -> None:
    editor.open(PROGRAM * 40)
    hover = asyncio.ensure_future(editor.hover("x.to(device)", 2))
    await asyncio.sleep(0)
    editor.replace("import torch", "import  torch")
    (found,) = await asyncio.gather(hover, return_exceptions=True)
    if isinstance(found, JsonRpcException):
        assert found.code == -32801
    else:  # it was answered before the edit came
        assert isinstance(found, types.Hover)
    assert "discarded-transfer" in await editor.pulled()


async def test_a_cancelled_request_is_answered_as_such(editor: Editor) -> None:
    editor.open(PROGRAM * 400)
    protocol = editor.client.protocol
    params = types.HoverParams(
        types.TextDocumentIdentifier(editor.uri), editor.at("x.to(device)", 2)
    )
    waiting = asyncio.ensure_future(
        protocol.send_request_async(types.TEXT_DOCUMENT_HOVER, params, msg_id="hover-1")
    )
    await asyncio.sleep(0)  # lets the request go out before its cancellation
    protocol.notify(types.CANCEL_REQUEST, types.CancelParams("hover-1"))
    (found,) = await asyncio.gather(waiting, return_exceptions=True)
    assert isinstance(found, JsonRpcException)
    assert found.code == -32800
    assert "discarded-transfer" in await editor.pulled()


async def test_a_request_about_an_unknown_document_is_empty(client: Client, root: Path) -> None:
    stranger = Editor(client, root / "stranger.py")
    assert await stranger.pulled() == []
    params = types.HoverParams(types.TextDocumentIdentifier(stranger.uri), types.Position(9, 9))
    assert await client.text_document_hover_async(params) is None


async def test_many_edits_in_a_row_end_with_the_last_text(editor: Editor) -> None:
    editor.open(PROGRAM)
    for number in range(30):
        editor.replace("import torch", f"import torch\nv{number} = {number}")
    editor.replace("x.to(device)", "x = x.to(device)")
    pulls = [asyncio.ensure_future(editor.pull()) for _ in range(3)]
    for pull in pulls:
        assert rules((await pull).items) == []


async def test_transfers_in_sight_have_hints(editor: Editor) -> None:
    editor.open(PROGRAM.replace("64, 10", "64, 3, 224, 224"))
    everything = types.Range(types.Position(0, 0), types.Position(5, 0))
    params = types.InlayHintParams(types.TextDocumentIdentifier(editor.uri), everything)
    (hint,) = await editor.client.text_document_inlay_hint_async(params) or ()
    assert hint.position == editor.range_of("x.to(device)").end
    assert str(hint.label).startswith("≈ ")
    assert str(hint.label).endswith(" · 38.5 MB")
    assert hint.tooltip is None
    resolved = await editor.client.inlay_hint_resolve_async(hint)
    assert isinstance(resolved.tooltip, types.MarkupContent)
    assert "typical" in resolved.tooltip.value


async def test_hints_follow_their_settings(editor: Editor) -> None:
    client = editor.client
    editor.open(PROGRAM.replace("64, 10", "64, 3, 224, 224"))
    everything = types.Range(types.Position(0, 0), types.Position(5, 0))
    params = types.InlayHintParams(types.TextDocumentIdentifier(editor.uri), everything)

    async def labels(**settings: Any) -> list[str]:
        client.set_configuration({"deviceLens": settings})
        before = client.hint_refreshes
        client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
        await until(client, lambda: client.hint_refreshes > before)
        found = await client.text_document_inlay_hint_async(params)
        return [str(each.label) for each in found or ()]

    assert [each.partition(" · ")[2] for each in await labels(cost={"threshold": 5})] == ["38.5 MB"]
    assert await labels(cost={"threshold": 50}) == []
    assert await labels(inlayHints={"transfers": False, "devices": True}) == [": cpu"]
    await labels()


async def test_a_change_elsewhere_reaches_the_importer(editor: Editor, root: Path) -> None:
    helper = Editor(editor.client, root / "placing.py").open(
        "def place(x, device):\n    return x.to(device)\n"
    )
    editor.open(
        "import torch\nfrom placing import place\n\n"
        "w = torch.ones(3, device='cuda')\nx = torch.ones(3)\nx = place(x, 'cuda')\ny = x + w\n"
    )
    assert await editor.pulled() == []
    assert await helper.pulled() == []
    helper.replace("return x.to(device)", "return x")
    await helper.pull()
    await editor.told("created-on-default-device")


async def test_a_file_that_changes_on_disk_reaches_the_importer(editor: Editor, root: Path) -> None:
    placing = root / "on_disk.py"
    placing.write_text("def place(x, device):\n    return x.to(device)\n", encoding="utf-8")
    editor.open(
        "import torch\nfrom on_disk import place\n\n"
        "w = torch.ones(3, device='cuda')\nx = torch.ones(3)\nx = place(x, 'cuda')\ny = x + w\n"
    )
    assert await editor.pulled() == []
    placing.write_text("def place(x, device):\n    return x\n# longer\n", encoding="utf-8")
    event = types.FileEvent(placing.as_uri(), types.FileChangeType.Changed)
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
    await editor.told("created-on-default-device")


async def test_changed_settings_are_asked_for_and_take_effect(editor: Editor) -> None:
    client = editor.client
    editor.open(PROGRAM)
    assert await editor.pulled() == ["discarded-transfer"]
    before = client.diagnostic_refresh_count
    client.set_configuration(
        {"deviceLens": {"severity": {"discarded-transfer": "error"}, "hover": {"enable": False}}}
    )
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
    await until(client, lambda: client.diagnostic_refresh_count > before)
    (found,) = (await editor.pull()).items
    assert found.severity == types.DiagnosticSeverity.Error
    assert await editor.hover("x.to(device)", 2) is None
    client.set_configuration({"deviceLens": {"ignore": ["discarded-transfer"]}})
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
    await until(client, lambda: client.diagnostic_refresh_count > before + 1)
    assert await editor.pulled() == []
    client.set_configuration({})
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
    await until(client, lambda: client.diagnostic_refresh_count > before + 2)
    assert await editor.pulled() == ["discarded-transfer"]


async def test_semantic_tokens_are_registered_when_they_are_wanted(editor: Editor) -> None:
    client = editor.client
    assert "tokens" not in [each.id for each in client.registrations]
    client.set_configuration({"deviceLens": {"semanticTokens": True}})
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
    await until(client, lambda: "tokens" in [each.id for each in client.registrations])
    editor.open(PROGRAM)
    params = types.SemanticTokensParams(types.TextDocumentIdentifier(editor.uri))
    found = await client.text_document_semantic_tokens_full_async(params)
    assert found is not None
    assert list(found.data[:5]) == [3, 0, 1, 0, 1]
    client.set_configuration({})
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))


async def test_late_capabilities_are_registered(client: Client) -> None:
    wanted = {types.WORKSPACE_DID_CHANGE_WATCHED_FILES, types.WORKSPACE_DID_CHANGE_CONFIGURATION}
    await until(client, lambda: wanted <= {each.method for each in client.registrations})


async def test_the_status_is_told(client: Client) -> None:
    await until(client, lambda: client.statuses)
    assert {each.state for each in client.statuses} <= {"ready", "analysing", "degraded"}


async def test_the_page_of_a_rule_is_found(client: Client) -> None:
    ask = client.protocol.send_request_async
    found = await ask("deviceLens/rulePage", {"rule": "discarded-transfer"})
    assert found.href.endswith("/discarded-transfer.md")
    assert await ask("deviceLens/rulePage", {"rule": "../../etc/passwd"}) is None


async def test_closed_files_are_looked_at_on_request(client: Client, root: Path) -> None:
    (root / "closed.py").write_text(PROGRAM, encoding="utf-8")
    ask = client.workspace_diagnostic_async
    waiting = asyncio.ensure_future(ask(types.WorkspaceDiagnosticParams([])))
    client.set_configuration({"deviceLens": {"diagnosticMode": "workspace"}})
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
    (item,) = [each for each in (await waiting).items if each.uri == (root / "closed.py").as_uri()]
    assert isinstance(item, types.WorkspaceFullDocumentDiagnosticReport)
    assert rules(item.items) == ["discarded-transfer"]
    client.set_configuration({})
    previous = [types.PreviousResultId(item.uri, item.result_id or "")]
    waiting = asyncio.ensure_future(ask(types.WorkspaceDiagnosticParams(previous)))
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
    (item,) = (await waiting).items
    assert isinstance(item, types.WorkspaceFullDocumentDiagnosticReport)
    assert item.items == () or item.items == []


async def test_callers_on_disk_tell_where_things_are(editor: Editor, root: Path) -> None:
    module = editor.path.stem
    (root / "calling.py").write_text(
        f"import torch\nfrom {module} import add\n\nadd(torch.ones(3), torch.ones(3).cuda())\n",
        encoding="utf-8",
    )
    client = editor.client
    editor.open("def add(x, w):\n    return x + w\n")
    async with within(PATIENCE):
        before = client.diagnostic_refresh_count
        while not (found := await editor.pulled()):
            await until(client, lambda seen=before: client.diagnostic_refresh_count > seen)
            before = client.diagnostic_refresh_count
    assert found == ["device-mismatch"]


async def test_a_fix_that_changes_behaviour_is_confirmed(editor: Editor) -> None:
    editor.open(
        'import torch\n\na = torch.ones(3, device="cuda")\n'
        'b = torch.ones(3, device="cpu")\nc = a + b\n'
    )
    actions = await editor.actions("a + b")
    action = next(each for each in actions if each.title.endswith("(changes behaviour)"))
    edit = (await editor.resolved(action)).edit
    assert not action.is_preferred
    assert edit is not None
    assert [each.needs_confirmation for each in (edit.change_annotations or {}).values()] == [True]


async def test_a_related_loop_is_its_beginning(editor: Editor) -> None:
    editor.open(
        "import torch\n\nx = torch.ones(3)\n"
        'for i in range(9):\n    y = x.to("cuda")\n    print(i)\n'
    )
    (found,) = await editor.told("transfer-in-loop")
    (loop,) = found.related_information
    assert loop.location.range == types.Range(types.Position(3, 0), types.Position(3, 0))
