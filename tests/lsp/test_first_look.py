"""A file that imports a lot is looked at by itself first: nobody waits for its squiggles."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsp_editor import Client, Editor, rules, server_config, start, until

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROGRAM = """\
import torch
from heavy import left_on_the_host

x = torch.randn(64, 10)
x.to("cuda")
y = left_on_the_host() + torch.ones(3, device="cuda")
"""


@pytest_lsp.fixture(config=server_config(), scope="module")
async def client(lsp_client: Client, root: Path) -> AsyncIterator[None]:
    made = "".join(f"kept_{n} = torch.zeros({n}, 2) + 1\n" for n in range(6_000))
    text = (
        f"import torch\n\n{made}\ndef left_on_the_host():\n    return torch.ones(3, device='cpu')\n"
    )
    (root / "heavy.py").write_text(text, encoding="utf-8")
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
