"""Starting, ending, and messages that are not what they should be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from lsp_editor import PATIENCE, server_config, within

CAPABILITIES: dict[str, Any] = {"notebookDocument": {"synchronization": {}}}
INITIALIZE = {"processId": None, "rootUri": None, "capabilities": CAPABILITIES}


class RawServer:
    """A server process and its bytes."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "device_lens", "serve", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def send(self, message: Any) -> None:
        self.send_bytes(json.dumps(message).encode())

    def send_bytes(self, body: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def request(self, number: int, method: str, params: Any) -> dict[str, Any]:
        """The answer to a request; what else comes is passed over."""
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return self.answer(number)

    def answer(self, number: int) -> dict[str, Any]:
        while True:
            message = self.receive()
            if message.get("id") == number and "method" not in message:
                return message

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline()) != b"\r\n":
            if not line:
                raise EOFError
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        found: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return found

    def notify(self, method: str, params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def initialize(self) -> dict[str, Any]:
        found = self.request(0, "initialize", INITIALIZE)
        self.notify("initialized", {})
        return found


@pytest.fixture
def server() -> Iterator[RawServer]:
    found = RawServer()
    yield found
    found.process.kill()
    found.process.wait()


def test_shutdown_then_exit_ends_the_process(server: RawServer) -> None:
    server.initialize()
    assert server.request(1, "shutdown", None)["result"] is None
    server.notify("exit", None)
    assert server.process.wait(20) == 0


def test_the_process_ends_when_its_input_does(server: RawServer) -> None:
    server.initialize()
    assert server.process.stdin is not None
    server.process.stdin.close()
    assert server.process.wait(20) == 0


def test_what_the_server_can_do_is_told(server: RawServer) -> None:
    found = server.initialize()["result"]
    offered = found["capabilities"]
    assert offered["positionEncoding"] == "utf-16"
    assert offered["diagnosticProvider"]["interFileDependencies"] is True
    assert offered["codeActionProvider"]["resolveProvider"] is True
    assert "source.fixAll.deviceLens" in offered["codeActionProvider"]["codeActionKinds"]
    assert offered["inlayHintProvider"] == {"resolveProvider": True}
    assert "semanticTokensProvider" not in offered
    assert "codeLensProvider" not in offered
    assert offered["notebookDocumentSync"]["notebookSelector"]
    assert found["serverInfo"]["name"] == "device-lens"


def test_a_malformed_request_is_answered(server: RawServer) -> None:
    server.initialize()
    found = server.request(1, "textDocument/hover", {"textDocument": 7})
    assert found["error"]["code"] in (-32602, -32603)
    found = server.request(2, "no/such/method", {})
    assert found["error"]["code"] == -32601
    assert server.request(5, 7, {})["error"]["code"] == -32600
    assert server.request(3, "deviceLens/rulePage", {"rule": "nothing-such"})["result"] is None
    found = server.request(4, "workspace/executeCommand", {"command": "deviceLens.measure"})
    assert found["error"]["code"] == -32602


def test_nonsense_does_not_end_the_server(server: RawServer) -> None:
    server.initialize()
    server.send_bytes(b"{not json")
    server.send_bytes(b"[]")
    server.send_bytes(b'{"jsonrpc": "2.0", "params": {}}')
    server.send_bytes(b'{"jsonrpc": "2.0", "method": null, "params": {}}')
    server.send_bytes(b'{"jsonrpc": "2.0", "id": [[]], "method": "textDocument/hover"}')
    server.notify("$/cancelRequest", {"id": "never asked"})
    server.notify("textDocument/didChange", {"textDocument": {"uri": "x"}})
    server.notify("textDocument/didClose", {"textDocument": {"uri": "file:///never/opened.py"}})
    server.notify("window/workDoneProgress/cancel", {"token": "none"})
    assert server.request(1, "deviceLens/rulePage", {"rule": "x"})["result"] is None


def test_a_document_on_no_disk_is_analysed(server: RawServer) -> None:
    server.initialize()
    text = "import torch\nx = torch.ones(2)\nx.to('cuda')\n"
    document = {"uri": "untitled:Untitled-1", "languageId": "python", "version": 1, "text": text}
    server.notify("textDocument/didOpen", {"textDocument": document})
    while (message := server.receive()).get("method") != "textDocument/publishDiagnostics":
        pass
    assert message["params"]["uri"] == "untitled:Untitled-1"
    assert "discarded-transfer" in [each["code"] for each in message["params"]["diagnostics"]]


def test_starting_does_not_load_the_analysis() -> None:
    program = (
        "import sys; from device_lens.lsp.server import create_server; create_server();"
        "heavy = [m for m in sys.modules if m.startswith(('device_lens.interpreter',"
        "'device_lens.models', 'device_lens.rules', 'device_lens.benchmark', 'jedi', 'torch',"
        "'rich', 'pathspec'))]; print(heavy)"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=dict(os.environ)
    )
    assert found.stdout.strip() == "[]", found.stderr


@pytest.mark.asyncio
async def test_a_test_whose_set_up_fails_does_not_wait_for_its_server() -> None:
    client = await server_config().start()
    async with within(PATIENCE):
        await client.stop()
