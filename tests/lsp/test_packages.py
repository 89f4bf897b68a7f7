"""Classes of installed packages: found with the project's interpreter, in trusted workspaces."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsp_editor import PATIENCE, Client, Editor, server_config, start, within
from lsprotocol import types

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROGRAM = "import fancy\n\nnet = fancy.Net()\nnet = net.to('cuda:1')\nprint(net)\n"


@pytest.fixture(scope="module")
def interpreter(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A command that tells of packages as an interpreter does."""
    site = tmp_path_factory.mktemp("site")
    files = {
        "torch/__init__.py": "from torch import nn\n",
        "torch/nn/__init__.py": "from torch.nn.modules.module import Module\n",
        "torch/nn/modules/__init__.py": "",
        "torch/nn/modules/module.py": "class Module:\n    pass\n",
        "fancy.py": "from torch import nn\n\n\nclass Net(nn.Module):\n    pass\n",
    }
    for name, text in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text, encoding="utf-8")
    program = site / "interpreter.py"
    program.write_text(f"print({json.dumps(json.dumps([str(site)]))})", encoding="utf-8")
    return [sys.executable, str(program)]


@pytest_lsp.fixture(config=server_config(), scope="module")
async def client(lsp_client: Client, root: Path) -> AsyncIterator[None]:
    options = {"trusted": False, "projectInterpreter": None}
    await start(lsp_client, "pull", root, options=options)
    yield
    await lsp_client.shutdown_session()


async def answer(editor: Editor) -> str:
    found = await editor.hover("net)")
    if found is None:
        return ""
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents.value


async def test_a_class_is_known_once_the_workspace_is_trusted(
    client: Client, root: Path, interpreter: list[str]
) -> None:
    editor = Editor(client, root / "main.py").open(PROGRAM)
    environment = {"trusted": False, "projectInterpreter": interpreter}
    client.protocol.notify("deviceLens/environment", environment)
    assert "module" not in await answer(editor)
    client.protocol.notify("deviceLens/environment", {**environment, "trusted": True})
    async with within(PATIENCE):
        while "module on cuda:1" not in await answer(editor):
            await asyncio.sleep(0.1)
