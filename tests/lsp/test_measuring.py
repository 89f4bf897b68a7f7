"""A hover on a transfer has it measured: in trusted workspaces, by a process that may fail."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import pytest_asyncio
import pytest_lsp
from lsp_editor import PATIENCE, Client, server_config, until, within
from lsp_worker import FAKE, PROGRAM, WorkerSession
from lsprotocol import types
from pygls.exceptions import JsonRpcException

pytestmark = [pytest.mark.asyncio, pytest.mark.usefixtures("cache")]

PRODUCT = "import torch\n\na = torch.randn(300, 300)\nb = a @ a\n"
ROOM = "&nbsp;&nbsp;&nbsp;"
MEASURED = "Measured on NVIDIA Scripted, driver 550.54, torch 2.4.0, 20"


class Measuring(WorkerSession):
    """A document with one transfer, and what an editor and its worker do about it."""

    def __init__(self, client: Client, root: Path) -> None:
        super().__init__(client, root)
        self._ended = False

    async def end(self) -> None:
        """Ends the session, once."""
        if not self._ended:
            self._ended = True
            await self.client.shutdown_session()

    @property
    def told(self) -> list[tuple[str, str]]:
        """State and details of what the status item was told, in order."""
        return [(each.state, getattr(each, "details", "")) for each in self.client.statuses]

    @property
    def at(self) -> str:
        """What is pointed at: the product where there is one, else the transfer."""
        return "@" if "@" in self.editor.text else "to("

    async def hover(self) -> str:
        found = await self.editor.hover(self.at)
        assert found is not None
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    async def hover_until(self, part: str) -> str:
        """Hovers again and again, as the user does, until the text is there."""
        async with within(PATIENCE):
            while part not in (text := await self.hover()):
                await asyncio.sleep(0.05)
        return text

    async def hint(self) -> str:
        """The label of the one inlay hint."""
        params = types.InlayHintParams(
            types.TextDocumentIdentifier(self.editor.uri), self.editor.range_of(PROGRAM)
        )
        (found,) = await self.client.text_document_inlay_hint_async(params) or ()
        return str(found.label)


@pytest_lsp.fixture(config=server_config())
async def client(lsp_client: Client) -> AsyncIterator[None]:
    yield


@pytest_asyncio.fixture
async def measuring(
    tmp_path_factory: pytest.TempPathFactory, client: Client
) -> AsyncIterator[Measuring]:
    found = Measuring(client, tmp_path_factory.mktemp("project").resolve())
    yield found
    await found.end()


def link_in(text: str) -> list[str]:
    """The arguments of the link that measures."""
    (found,) = re.findall(r"\(<command:deviceLens\.measure\?([^>]*)>\)", text)
    arguments = json.loads(unquote(found))
    assert isinstance(arguments, list)
    return arguments


async def test_a_hover_measures_and_the_next_one_shows_it(measuring: Measuring) -> None:
    await measuring.begin("greet answer answer")
    first = await measuring.hover()
    assert "*measuring…*" in first
    assert "≈ " in first.splitlines()[0]
    text = await measuring.hover_until(MEASURED)
    assert text.splitlines()[0].endswith("38.5 MB · 10 ms measured`")
    assert ": 9.0 ms to 11 ms in three of five runs." in text
    assert f"| pageable (this one){ROOM} | pinned{ROOM} | `non_blocking`" in text
    assert f"| 10 ms{ROOM} | ≈ " in text
    assert "measuring" not in text
    assert len(measuring.starts) == 1


async def test_an_operation_is_measured_too(measuring: Measuring) -> None:
    await measuring.begin("greet answer", program=PRODUCT)
    first = await measuring.hover()
    assert first.startswith("`cpu · float32 [300, 300] · 360 kB · ≈ ")
    assert "*measuring…*" in first
    text = await measuring.hover_until(MEASURED)
    assert text.splitlines()[0].endswith("360 kB · 10 ms measured`")
    assert "Worth moving to cuda." in text, "the estimated break-even says otherwise"
    assert f"| 10 ms{ROOM} | 100 µs{ROOM} | 500 µs |" in text
    assert "≈ " not in text
    assert len(measuring.starts) == 1


async def test_an_operation_is_measured_when_its_link_is_followed(measuring: Measuring) -> None:
    await measuring.begin("greet answer", program=PRODUCT, trigger="click")
    text = await measuring.hover()
    assert "[Measure this operation](" in text
    assert measuring.starts == []
    await measuring.run("deviceLens.measure", *link_in(text))
    await measuring.hover_until(MEASURED)


@pytest.mark.parametrize(("trusted", "trigger"), [(False, "hover"), (True, "off")])
async def test_no_operation_is_measured_where_nothing_may_be(
    measuring: Measuring, trusted: bool, trigger: str
) -> None:
    await measuring.begin("greet answer", trusted, program=PRODUCT, trigger=trigger)
    for _ in range(2):
        text = await measuring.hover()
    assert "Estimated for typical PCIe 4.0 x16." in text
    assert "deviceLens.measure" not in text
    assert measuring.starts == []


async def test_hints_are_refreshed_with_the_measurement(measuring: Measuring) -> None:
    await measuring.begin("greet answer")
    assert (await measuring.hint()).startswith("≈ ")
    await measuring.hover()
    await until(measuring.client, lambda: measuring.client.hint_refreshes)
    assert await measuring.hint() == "10 ms measured · 38.5 MB"


async def test_a_warm_worker_answers_within_the_budget(measuring: Measuring) -> None:
    await measuring.begin("greet answer answer", hoverBudget=5000)
    await measuring.hover_until(MEASURED)
    measuring.editor.replace("64, 3", "128, 3")
    assert "10 ms measured" in (await measuring.hover()).splitlines()[0]
    assert len(measuring.starts) == 1


async def test_measurements_outlive_the_worker(measuring: Measuring) -> None:
    await measuring.begin("greet answer")
    await measuring.hover_until(MEASURED)
    fake = [sys.executable, str(FAKE), str(measuring.root)]
    for interpreter in (None, fake):
        environment = {"trusted": True, "projectInterpreter": interpreter}
        measuring.client.protocol.notify("deviceLens/environment", environment)
    assert MEASURED in await measuring.hover()
    assert len(measuring.starts) == 1


@pytest.mark.parametrize(
    ("trusted", "trigger"), [(False, "hover"), (False, "click"), (True, "off"), (None, "off")]
)
async def test_nothing_is_started_where_nothing_may(
    measuring: Measuring, trusted: bool | None, trigger: str
) -> None:
    await measuring.begin("greet answer", trusted, trigger=trigger)
    for _ in range(2):
        text = await measuring.hover()
    assert "≈ " in text.splitlines()[0]
    assert "deviceLens.measure" not in text
    assert "measuring" not in text
    await measuring.run("deviceLens.measure", "0123456789abcdef")
    assert measuring.starts == []


async def test_a_click_measures_where_a_hover_does_not(measuring: Measuring) -> None:
    await measuring.begin("greet answer", trigger="click")
    link = link_in(await measuring.hover())
    assert measuring.starts == []
    await measuring.run("deviceLens.measure", *link)
    await measuring.hover_until(MEASURED)
    assert len(measuring.starts) == 1


@pytest.mark.parametrize("arguments", [["nothing"], [7], [["a"]], [{"source": "cpu"}], []])
async def test_no_other_argument_measures(measuring: Measuring, arguments: list[Any]) -> None:
    await measuring.begin("greet answer", trigger="click")
    with contextlib.suppress(JsonRpcException):
        await measuring.run("deviceLens.measure", *arguments)
    assert "≈ " in (await measuring.hover()).splitlines()[0]
    assert measuring.starts == []


async def test_measurements_can_be_cleared(measuring: Measuring) -> None:
    await measuring.begin("greet answer", trigger="click")
    await measuring.run("deviceLens.measure", *link_in(await measuring.hover()))
    await measuring.hover_until(MEASURED)
    await measuring.run("deviceLens.clearMeasurements")
    text = await measuring.hover()
    assert MEASURED not in text
    assert "≈ " in text.splitlines()[0]


FAULTS = [
    ("no-torch", "has no PyTorch: install torch there"),
    ("die", "The measuring process ended unexpectedly"),
    ("greet die", "The measuring process ended unexpectedly"),
    ("greet hang", "Measuring took too long and was stopped"),
]


@pytest.mark.parametrize(("steps", "sentence"), FAULTS)
async def test_a_fault_is_a_sentence(measuring: Measuring, steps: str, sentence: str) -> None:
    await measuring.begin(steps, timeout=1)
    text = await measuring.hover_until(sentence)
    assert "≈ " in text.splitlines()[0]
    await until(measuring.client, lambda: measuring.told[-1][0] == "degraded")
    told = measuring.told[-1][1]
    assert sentence in told
    assert "`" not in told


async def test_the_status_tells_what_would_help(measuring: Measuring) -> None:
    await measuring.begin("no-torch")
    await measuring.hover_until("has no PyTorch")
    await until(measuring.client, lambda: measuring.told[-1][0] == "degraded")
    assert measuring.client.statuses[-1].remedy == "project-interpreter"


async def test_the_status_tells_what_is_off_without_trust(measuring: Measuring) -> None:
    await measuring.begin("greet answer", trusted=False)
    await until(measuring.client, lambda: measuring.client.statuses)
    told = measuring.client.statuses[-1]
    assert (told.state, told.remedy) == ("ready", "trust")
    assert told.message == "not trusted: nothing is measured"


async def test_an_interpreter_that_is_none_is_a_sentence(measuring: Measuring) -> None:
    await measuring.begin("", python=str(measuring.root / "no python"))
    await measuring.hover_until("no python` cannot be started: select another interpreter.")


async def test_a_fault_that_is_mended_is_forgotten(measuring: Measuring) -> None:
    await measuring.begin("no-torch")
    await measuring.hover_until("has no PyTorch")
    (measuring.root / "steps").write_text("greet answer", encoding="utf-8")
    await measuring.hover_until(MEASURED)
    await until(measuring.client, lambda: measuring.told[-1] == ("ready", ""))


async def test_the_worker_ends_with_the_server(measuring: Measuring) -> None:
    await measuring.begin("greet answer")
    await measuring.hover_until(MEASURED)
    (process,) = measuring.starts
    os.kill(process, 0)
    await measuring.end()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


async def test_the_real_worker_measures_what_the_machine_has(
    measuring: Measuring, torch_python: str
) -> None:
    await measuring.begin("", python=torch_python, timeout=60)
    found = re.compile(r"Measured on .*, \d{4}-\d\d-\d\d: |No CUDA device to measure with: .*\n")
    text = ""
    async with within(3 * PATIENCE):
        while not found.search(text) or "*measuring…*" in text:
            text = await measuring.hover()
            await asyncio.sleep(0.2)
    if "No CUDA device" in text:
        assert "≈ " in text.splitlines()[0], "a copy in host memory is no transfer"
        assert "a plain copy of 38.5 MB in host memory takes " in text
        assert (await measuring.hint()).startswith("≈ ")
        assert measuring.told[-1][0] == "ready"
    else:
        assert text.splitlines()[0].endswith(" measured`")


async def test_the_real_worker_measures_operations(measuring: Measuring, torch_python: str) -> None:
    await measuring.begin("", python=torch_python, program=PRODUCT, timeout=60)
    async with within(3 * PATIENCE):
        while "Measured on " not in (text := await measuring.hover()) or "*measuring…*" in text:
            await asyncio.sleep(0.2)
    assert text.splitlines()[0].endswith(" measured`")
    if "no accelerator" in text:
        assert re.search(r"\| [\d.]+ .s[^|≈]* \| ≈ [^|]* \| ≈ [^|]* \|", text)
        assert "≈: estimated for typical PCIe 4.0 x16." in text
        assert "No CUDA device" not in text
    else:
        assert "≈ " not in text


BOTH = PROGRAM + "a = torch.randn(3, 3)\nb = a @ a\nloss = (a @ a).sum().item()\nname = 'x'\n"


async def measure_at(measuring: Measuring, part: str, inside: int = 0) -> Any:
    """Asks for what stands at a part of the text to be measured."""
    at = measuring.editor.at(part, inside)
    return await measuring.run("deviceLens.measureAt", measuring.editor.uri, at)


@pytest.mark.parametrize(
    ("part", "inside", "spot", "said"),
    [
        ("images.to", 0, 'to("cuda")', "cpu → cuda"),
        ("moved", 2, 'to("cuda")', "cpu → cuda"),
        ("b = ", 0, " @ a\n", "cpu · float32 [3, 3] · 36 B · 10 ms measured"),
        ("a @ a\n", 2, " @ a\n", "cpu · float32 [3, 3] · 36 B · 10 ms measured"),
    ],
)
async def test_the_command_measures_what_is_at_the_caret(
    measuring: Measuring, part: str, inside: int, spot: str, said: str
) -> None:
    await measuring.begin("greet answer", program=BOTH, trigger="off")
    answer = await measure_at(measuring, part, inside)
    assert answer["message"].startswith(said)
    expected = measuring.editor.at(spot, 9 if "cuda" in spot else 0)
    assert (answer["position"]["line"], answer["position"]["character"]) == (
        expected.line,
        expected.character,
    )
    params = types.HoverParams(types.TextDocumentIdentifier(measuring.editor.uri), expected)
    shown = await measuring.client.text_document_hover_async(params)
    assert shown is not None
    assert isinstance(shown.contents, types.MarkupContent)
    assert MEASURED in shown.contents.value
    assert len(measuring.starts) == 1


async def test_the_command_says_where_there_is_nothing(measuring: Measuring) -> None:
    await measuring.begin("greet answer", program=BOTH)
    answer = await measure_at(measuring, "name")
    assert answer["message"].startswith("Nothing here can be measured")
    assert measuring.starts == []


async def test_the_command_says_why_it_failed(measuring: Measuring) -> None:
    await measuring.begin("no-torch", program=BOTH)
    assert "has no PyTorch" in (await measure_at(measuring, "images.to"))["message"]


async def test_the_command_measures_nothing_without_trust(measuring: Measuring) -> None:
    await measuring.begin("greet answer", False, program=BOTH)
    answer = await measure_at(measuring, "images.to")
    assert answer["message"] == "Nothing is measured in a workspace that is not trusted."
    assert measuring.starts == []


async def test_editors_without_links_have_an_action(measuring: Measuring) -> None:
    await measuring.begin("greet answer", None, program=BOTH)
    (action,) = await measuring.editor.actions("images.to", ["source.measure"])
    assert action.title == "Measure this transfer on this machine"
    assert action.command is not None
    await measuring.run(action.command.command, *(action.command.arguments or ()))
    (shown,) = measuring.client.messages
    assert shown.message.endswith(" · 38.5 MB · 10 ms measured")
    (other,) = await measuring.editor.actions("b = ", ["source.measure"])
    assert other.title == "Measure this operation on this machine"
    assert not await measuring.editor.actions("name", ["source.measure"])


async def test_our_own_editor_needs_no_action(measuring: Measuring) -> None:
    await measuring.begin("greet answer", program=BOTH)
    assert not await measuring.editor.actions("images.to", ["source.measure"])
