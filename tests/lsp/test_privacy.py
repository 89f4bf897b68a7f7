"""Nothing of the user's is run, and nothing is sent anywhere."""

from __future__ import annotations

import ast
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
import pytest_lsp
from lsp_editor import Client, Editor, server_config, start

ROOT = Path(__file__).resolve().parent.parent.parent
NETWORK = {
    *("aiohttp", "ftplib", "http", "httpx", "imaplib", "poplib", "requests"),
    *("smtplib", "socket", "socketserver", "ssl", "telnetlib", "urllib.request", "xmlrpc"),
}
MARKING = 'import pathlib\n\npathlib.Path(__file__).with_suffix(".ran").touch()\n'
PROGRAM = """\
import torch
from helper import size

x = torch.ones(size)
x.to("cuda")
"""


@pytest_lsp.fixture(config=server_config())
async def client(lsp_client: Client) -> AsyncIterator[None]:
    yield
    await lsp_client.shutdown_session()


@pytest_asyncio.fixture
async def editor(client: Client, tmp_path: Path) -> Editor:
    """A program in a folder whose modules tell of having been run, one of them by the
    name of a library."""
    for name in ("helper", "conftest", "sitecustomize", "setup", "numpy"):
        (tmp_path / f"{name}.py").write_text(f"{MARKING}size = 3\n", encoding="utf-8")
    await start(client, "pull", tmp_path)
    return Editor(client, tmp_path / "main.py").open(PROGRAM)


@pytest.mark.asyncio
async def test_no_code_of_the_user_is_run(editor: Editor) -> None:
    assert "discarded-transfer" in await editor.pulled()
    assert await editor.hover("x.to") is not None
    assert list(editor.path.parent.glob("**/*.ran")) == []


def imported(path: Path) -> Iterator[str]:
    """The names of the modules that a file of Python imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""


def test_the_server_can_send_nothing() -> None:
    files = list((ROOT / "server" / "device_lens").rglob("*.py"))
    assert len(files) > 100
    for path in files:
        for name in imported(path):
            assert name not in NETWORK, path
            assert name.partition(".")[0] not in NETWORK, path


def test_the_extension_can_send_nothing() -> None:
    files = list((ROOT / "client").rglob("*.ts"))
    assert len(files) > 20
    for path in files:
        text = path.read_text(encoding="utf-8")
        found = re.search(r"'node:(https?|net|dgram|tls|http2)'|\bfetch\(|XMLHttpRequest", text)
        assert found is None, path
        assert "createTelemetryLogger" not in text, path
