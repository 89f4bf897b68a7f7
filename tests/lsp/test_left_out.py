"""What is not looked at so that nobody has to wait: the status tells it, and warns of nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from lsp_editor import PATIENCE, within
from lsprotocol import types

from device_lens.ide import project
from device_lens.lsp.analyst import MOST_CALLERS
from device_lens.lsp.features.status import Status
from device_lens.lsp.neighbours import Neighbours
from device_lens.lsp.session import Session

pytestmark = pytest.mark.asyncio

MODULE = "import torch\n\n\ndef add(x, w):\n    return x + w\n"


class Open:
    """A session in which the module of a project is open, and what its status said."""

    def __init__(self, root: Path) -> None:
        self.session = Session()
        self.sent: list[dict[str, str]] = []
        self.path = root / "module.py"
        self.path.write_text(MODULE, encoding="utf-8")
        self.status = Status(self.session, self._note)
        self.neighbours = Neighbours(self.session)
        self._news = asyncio.Event()

    def _note(self, method: str, params: dict[str, str]) -> None:
        self.sent.append(params)
        self._news.set()

    async def told(self, state: dict[str, str]) -> None:
        """Waits until the status is this one."""
        async with within(PATIENCE):
            while self.sent[-1:] != [state]:
                self._news.clear()
                await self._news.wait()

    async def open(self) -> None:
        self.session.folders = (str(self.path.parent),)
        self.session.start()
        self.session.configure({})
        uri = self.path.as_uri()
        self.session.documents.open(types.TextDocumentItem(uri, "python", 1, MODULE))
        await self.session.result(uri)

    def close(self) -> None:
        self.neighbours.close()
        self.session.close()


@pytest_asyncio.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Open]:
    found = Open(tmp_path)
    yield found
    found.close()


async def test_scripts_that_do_not_run_first_are_counted(opened: Open, tmp_path: Path) -> None:
    for number in range(MOST_CALLERS + 2):
        text = "import torch\nfrom module import add\n\nadd(torch.ones(3), torch.ones(3))\n"
        (tmp_path / f"run{number}.py").write_text(text, encoding="utf-8")
    await opened.open()
    sentence = f"only the nearest {MOST_CALLERS} of {MOST_CALLERS + 2} scripts that use it count"
    message = "some callers left out: module.py"
    details = f"module.py: {sentence}."
    await opened.told({"state": "ready", "message": message, "details": details})
    opened.status.closed(str(opened.path))
    await opened.told({"state": "ready"})


async def test_a_project_too_large_to_look_for_callers_is_told(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project, "MOST_SEARCHED", 2)
    for number in range(2):
        (tmp_path / f"other{number}.py").touch()
    await opened.open()
    details = "module.py: callers are not looked for among 3 files."
    message = "some callers left out: module.py"
    await opened.told({"state": "ready", "message": message, "details": details})


async def test_what_keeps_from_measuring_is_said_first(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project, "MOST_SEARCHED", 0)
    client = opened.session.client
    opened.session.client = replace(client, speaks_of_trust=True, trusted=False)
    await opened.open()
    details = "module.py: callers are not looked for among 1 files."
    message = "not trusted: nothing is measured"
    await opened.told({"state": "ready", "message": message, "remedy": "trust", "details": details})
