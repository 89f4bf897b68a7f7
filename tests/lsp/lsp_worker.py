"""Sessions whose server measures: with a worker that follows a script, or with a real one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from lsp_editor import Client, Editor, start
from lsprotocol import types

FAKE = Path(__file__).with_name("fake_interpreter.py")
PROGRAM = 'import torch\n\nimages = torch.randn(64, 3, 224, 224)\nmoved = images.to("cuda")\n'


class WorkerSession:
    """A document, by default with one transfer, and what an editor has measured of it."""

    def __init__(self, client: Client, root: Path) -> None:
        self.client = client
        self.root = root
        self.editor = Editor(client, root / "main.py")

    @property
    def starts(self) -> list[int]:
        """The processes that were started to measure."""
        marks = self.root / "starts"
        return [int(each) for each in marks.read_text().split()] if marks.exists() else []

    async def begin(
        self,
        steps: str,
        trusted: bool | None = True,
        python: str = "",
        program: str = PROGRAM,
        **benchmark: Any,
    ) -> None:
        """Starts a session whose worker follows the steps, or is a real one of `python`."""
        (self.root / "steps").write_text(steps, encoding="utf-8")
        fake = [sys.executable, str(FAKE), str(self.root)]
        interpreter = [python] if python else fake
        options: dict[str, Any] = {"projectInterpreter": interpreter}
        if trusted is not None:  # None: an editor that is not ours, and says nothing of trust
            options |= {"trusted": trusted, "ownCommands": True}
        self.client.set_configuration({"deviceLens": {"benchmark": benchmark}})
        await start(self.client, "pull", self.root, options=options)
        self.editor.open(program)

    async def run(self, command: str, *arguments: Any) -> Any:
        """Runs a command of the server."""
        params = types.ExecuteCommandParams(command, list(arguments) or None)
        return await self.client.workspace_execute_command_async(params)
