"""Columns in the client's units, and line ends as the protocol has them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsp_editor import QUIET, Client, Editor, rules, server_config, start
from lsprotocol import types

from device_lens.syntax.position import Encoding

pytestmark = pytest.mark.asyncio(loop_scope="module")

AWKWARD = (
    "import torch\r\n"
    'note = "🙂 \u2028 \x0c é"\r\n'
    "\x0c\r\n"
    'größe = torch.rand(2); "🙂🙂"; größe.to("cuda")\r\n'
    "last = 1"
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pröject with spaces").resolve()
    (folder / "pyproject.toml").write_text(QUIET, encoding="utf-8")
    return folder


ENCODINGS: list[Encoding] = ["utf-8", "utf-16", "utf-32"]


@pytest_lsp.fixture(config=server_config(), scope="module", params=ENCODINGS)
async def client(
    request: pytest.FixtureRequest, lsp_client: Client, root: Path
) -> AsyncIterator[None]:
    await start(lsp_client, "push", root, positionEncodings=[request.param])
    yield
    await lsp_client.shutdown_session()


@pytest.fixture
def editor(client: Client, root: Path, request: pytest.FixtureRequest) -> Editor:
    name = f"größe {request.node.name.partition('[')[0]}.py"
    chosen = request.node.callspec.params["client"]
    return Editor(client, root / name, chosen)


async def test_ranges_are_in_the_clients_units(editor: Editor) -> None:
    editor.open(AWKWARD)
    (found,) = await editor.pushed()
    assert editor.slice(found.range) == 'größe.to("cuda")'
    assert found.range.start.line == 3


async def test_hovers_are_found_in_the_clients_units(editor: Editor) -> None:
    editor.open(AWKWARD)
    found = await editor.hover('größe.to("cuda")', 6)
    assert found is not None
    assert found.range is not None
    assert editor.slice(found.range) == 'größe.to("cuda")'


async def test_changes_are_applied_in_the_clients_units(editor: Editor) -> None:
    editor.open(AWKWARD)
    await editor.pushed()
    editor.replace('"🙂🙂"; ', '"é🙂"; größe = ')
    assert await editor.pushed() == []
    editor.replace("größe = größe", "größe")
    (found,) = await editor.pushed()
    assert editor.slice(found.range) == 'größe.to("cuda")'


async def test_a_fix_lands_where_it_should(editor: Editor) -> None:
    editor.open(AWKWARD)
    actions = await editor.actions('größe.to("cuda")')
    editor.apply(next(each for each in actions if each.is_preferred).edit)
    assert editor.text == AWKWARD.replace("größe.to", "größe = größe.to")


async def test_places_beyond_the_text_are_taken_into_it(editor: Editor) -> None:
    editor.open("import torch\nx = torch.ones(2)\n")
    await editor.pushed()
    far = types.Position(99, 99)
    where = types.Range(types.Position(1, 999), far)
    editor.change(types.TextDocumentContentChangePartial(where, '\nx.to("cuda")\n'))
    assert rules(await editor.pushed()) == ["discarded-transfer"]
