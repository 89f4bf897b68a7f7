"""The device map over the wire, as the extension of this project asks for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsp_editor import Client, Editor, server_config, start, until
from lsprotocol import types

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROGRAM = """\
import torch

größe = torch.randn(64, 10)
for step in range(10):
    batch = größe.to("cuda")
    loss = batch.sum()
"""


@pytest_lsp.fixture(config=server_config(), scope="module")
async def client(lsp_client: Client, root: Path) -> AsyncIterator[None]:
    options = {"trusted": False, "projectInterpreter": None, "ownCommands": True}
    await start(lsp_client, "pull", root, options=options)
    yield
    await lsp_client.shutdown_session()


async def ask(client: Client, uri: str, part: str | None = None) -> Any:
    params = {"textDocument": {"uri": uri}, "part": part}
    return await client.protocol.send_request_async("deviceLens/deviceMap", params)


async def test_a_map_has_places_in_the_document(editor: Editor) -> None:
    editor.open(PROGRAM)
    await editor.told("transfer-in-loop")
    found = await ask(editor.client, editor.uri)
    devices = {(each.label, each.device) for each in found.nodes}
    assert devices >= {("größe", "cpu"), ("batch", "cuda")}
    (transfer,) = [each for each in found.edges if each.kind == "transfer"]
    assert transfer.label.startswith("2.56 kB")
    assert [each.rule for each in transfer.problems] == ["transfer-in-loop"]
    assert transfer.location.uri == editor.uri
    place = transfer.location.range
    where = types.Range(
        types.Position(place.start.line, place.start.character),
        types.Position(place.end.line, place.end.character),
    )
    assert editor.slice(where) == 'größe.to("cuda")'
    assert "The workspace is not trusted" in found.notes[-1]
    assert [each.title for each in found.parts] == ["for step in range(10)", "the file's main flow"]
    whole = await ask(editor.client, editor.uri, found.parts[1].id)
    assert whole.part == found.parts[1].id


async def test_a_new_analysis_is_told_and_the_map_is_another(editor: Editor) -> None:
    editor.open(PROGRAM)
    await editor.told("transfer-in-loop")
    before = await ask(editor.client, editor.uri)
    editor.client.analysed.clear()
    editor.replace('größe.to("cuda")', "größe.abs()")
    await editor.pulled()
    await until(editor.client, lambda: editor.uri in editor.client.analysed)
    found = await ask(editor.client, editor.uri, before.part)
    assert {each.kind for each in found.edges} == {"flow"}
    assert found.remark == "Each iteration makes no transfers."


async def test_what_has_no_map_says_why(client: Client, root: Path, editor: Editor) -> None:
    closed = await ask(client, (root / "never-opened.py").as_uri())
    assert closed.nodes == []
    assert "does not look at this file" in closed.remark
    editor.open("print('no tensors')\n")
    empty = await ask(client, editor.uri)
    assert empty.remark == "No tensors, modules or transfers are known in this file."
    assert await client.protocol.send_request_async("deviceLens/deviceMap", {"x": 1}) is None
