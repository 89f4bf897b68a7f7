"""A file that imports a lot is looked at by itself first: nobody waits for its squiggles."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsp_editor import Client as EditorClient
from lsp_editor import Editor, rules, server_config, start, until
from lsprotocol import types

from device_lens.lsp.client import Client
from device_lens.lsp.session import Session

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROGRAM = """\
import torch
from heavy import left_on_the_host

x = torch.randn(64, 10)
x.to("cuda")
y = left_on_the_host() + torch.ones(3, device="cuda")
"""


def _write_heavy(root: Path) -> None:
    """A module that takes more than a moment to run."""
    made = "".join(f"kept_{n} = torch.zeros({n}, 2) + 1\n" for n in range(6_000))
    host = "def left_on_the_host():\n    return torch.ones(3, device='cpu')\n"
    (root / "heavy.py").write_text(f"import torch\n\n{made}\n{host}", encoding="utf-8")


@pytest_lsp.fixture(config=server_config(), scope="module")
async def client(lsp_client: EditorClient, root: Path) -> AsyncIterator[None]:
    _write_heavy(root)
    await start(lsp_client, "push", root)
    yield
    await lsp_client.shutdown_session()


async def test_what_a_file_tells_by_itself_comes_first_then_all(editor: Editor) -> None:
    editor.open(PROGRAM)

    def said() -> list[list[str]]:
        published = [each for each in editor.client.published if each.uri == editor.uri]
        return [sorted(rules(each.diagnostics)) for each in published]

    alone = ["discarded-transfer"]
    whole = ["device-mismatch", "discarded-transfer"]
    await until(editor.client, lambda: whole in said())
    assert said() == [alone, whole]
    # From now on the whole is known, and only that is told.
    editor.replace("64", "32")
    assert sorted(rules(await editor.pushed())) == whole
    assert said() == [alone, whole, whole]


@pytest.mark.parametrize("hears", [True, False])
async def test_who_pulls_once_gets_all_at_once(root: Path, hears: bool) -> None:
    """A client that cannot be told to pull again would be left with the first look."""
    _write_heavy(root)
    session = Session()
    session.client = Client(pulls_diagnostics=True, refreshes_diagnostics=hears)
    session.folders = (str(root),)
    session.start()
    try:
        session.configure({})
        uri = (root / "program.py").as_uri()
        session.documents.open(types.TextDocumentItem(uri, "python", 1, PROGRAM))
        found = await session.result(uri)
        assert found is not None
        assert found.is_glance is hears
    finally:
        session.close()
