"""The user has this machine calibrated, and sees what it came to as a picture."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import pytest_lsp
from lsp_editor import PATIENCE, Client, server_config, until, within
from lsp_worker import WorkerSession
from lsprotocol import types

pytestmark = [pytest.mark.asyncio, pytest.mark.usefixtures("cache")]

WHOLE = "greet" + " answer" * 400
"""Steps of a worker that measures all that is asked of it."""
ROUTES = {
    "cpu → cuda:0, pageable",
    "cpu → cuda:0, pinned",
    "cuda:0 → cpu, pageable",
    "cuda:0 → cpu, pinned",
}


class Calibrating(WorkerSession):
    """A document with one transfer, and an editor whose user asks for calibrations."""

    def __init__(self, client: Client, root: Path) -> None:
        super().__init__(client, root)
        self.changes = 0
        """How often the server said that another picture is due."""

        @client.feature("deviceLens/measured")
        def on_measured(params: Any) -> None:
            self.changes += 1
            client.note()

    @property
    def was_started(self) -> bool:
        """Whether a process was started to measure."""
        return (self.root / "starts").exists()

    @property
    def told(self) -> str:
        """The message that the user got last."""
        return self.client.messages[-1].message

    async def calibrate(self) -> Any:
        return await self.run("deviceLens.calibrate")

    async def curve(self, uri: str | None = None) -> Any:
        """The picture of the document, or of another."""
        params = {"uri": self.editor.uri if uri is None else uri}
        return await self.client.protocol.send_request_async("deviceLens/transferCurve", params)

    def reports(self) -> list[dict[str, Any]]:
        """What the client was told of the one progress that there is."""
        (reports,) = self.client.progress_reports.values()
        return reports


@pytest_lsp.fixture(config=server_config())
async def client(lsp_client: Client) -> AsyncIterator[None]:
    yield


@pytest_asyncio.fixture
async def calibrating(
    tmp_path_factory: pytest.TempPathFactory, client: Client
) -> AsyncIterator[Calibrating]:
    yield Calibrating(client, tmp_path_factory.mktemp("project").resolve())
    await client.shutdown_session()


def labels(picture: Any, source: str) -> set[str]:
    return {each.label for each in picture.curves if each.source == source}


async def test_estimates_are_drawn_before_anything_is_measured(calibrating: Calibrating) -> None:
    await calibrating.begin(WHOLE)
    picture = await calibrating.curve()
    assert labels(picture, "measured") == set()
    assert "cpu → cuda, pinned" in labels(picture, "typical")
    assert picture.basis.endswith("Nothing is measured on this machine yet.")
    (transfer,) = picture.transfers
    assert (transfer.uri, transfer.bytes) == (calibrating.editor.uri, 38_535_168)
    assert transfer.text == 'images.to("cuda")'
    assert (transfer.range.start.line, transfer.range.start.character) == (3, 8)
    assert (transfer.source, transfer.basis) == ("typical", "typical PCIe 4.0 x16")
    assert picture.calibration.refusal is None
    assert not calibrating.was_started


async def test_calibrating_makes_the_curves_measured(calibrating: Calibrating) -> None:
    await calibrating.begin(WHOLE)
    assert await calibrating.calibrate() is True
    assert calibrating.told.startswith(
        "Device Lens: Measured 4 routes on NVIDIA Scripted, driver 550.54, torch 2.4.0, 20"
    )
    assert calibrating.changes == 3, "it began, it ended, and estimates rest on it"
    picture = await calibrating.curve()
    assert labels(picture, "measured") == ROUTES
    assert labels(picture, "typical") == set()
    (transfer,) = picture.transfers
    assert (transfer.source, transfer.time) == ("measured", 10_000.0)
    points = picture.curves[transfer.curve].points
    assert len(points) == 20
    assert points[0] == [1024, 9000.0, 10_000.0, 11_000.0]


async def test_progress_is_shown_and_ends(calibrating: Calibrating) -> None:
    await calibrating.begin(WHOLE)
    await calibrating.calibrate()
    begin, *shown, end = calibrating.reports()
    assert (begin["kind"], begin["title"], begin["cancellable"]) == (
        "begin",
        "Calibrating transfers",
        True,
    )
    assert shown[-1]["message"] == "cuda:0 → cpu pinned 1.02 kB"
    percentages = [each["percentage"] for each in shown]
    assert percentages == sorted(percentages)
    assert end["kind"] == "end"


async def test_cancelling_ends_it_at_once(calibrating: Calibrating) -> None:
    await calibrating.begin("greet answer hang", timeout=600)
    asked = asyncio.ensure_future(calibrating.calibrate())
    progress = calibrating.client.progress_reports
    await until(calibrating.client, lambda: any(progress.values()))
    (token,) = progress
    again = await calibrating.calibrate()
    assert (again, calibrating.told) == (
        False,
        "Device Lens: This machine is being calibrated already.",
    )
    calibrating.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    async with within(PATIENCE):
        assert await asked is False
    assert calibrating.reports()[-1]["kind"] == "end"
    assert labels(await calibrating.curve(), "measured") == set()


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        ("no-torch", "has no PyTorch: install torch there"),
        ("greet die", "The measuring process ended unexpectedly."),
    ],
)
async def test_a_fault_is_a_sentence(calibrating: Calibrating, steps: str, sentence: str) -> None:
    await calibrating.begin(steps)
    assert await calibrating.calibrate() is False
    assert sentence in calibrating.told
    assert "`" not in calibrating.told


async def test_nothing_is_started_in_a_workspace_that_is_not_trusted(
    calibrating: Calibrating,
) -> None:
    await calibrating.begin(WHOLE, trusted=False)
    assert await calibrating.calibrate() is False
    sentence = "Nothing is measured in a workspace that is not trusted."
    assert calibrating.told == f"Device Lens: {sentence}"
    assert (await calibrating.curve()).calibration.refusal == sentence
    assert not calibrating.was_started


async def test_an_editor_that_says_nothing_of_trust_may_ask(calibrating: Calibrating) -> None:
    await calibrating.begin(WHOLE, trusted=None, trigger="off")
    assert await calibrating.calibrate() is True
    assert labels(await calibrating.curve(), "measured") == ROUTES


async def test_what_is_cleared_is_no_longer_drawn(calibrating: Calibrating) -> None:
    await calibrating.begin(WHOLE)
    await calibrating.calibrate()
    before = calibrating.changes
    await calibrating.run("deviceLens.clearMeasurements")
    await until(calibrating.client, lambda: calibrating.changes == before + 1)
    assert labels(await calibrating.curve(), "measured") == set()


@pytest.mark.parametrize("uri", ["file:///nowhere/else.py", "", "untitled:1"])
async def test_without_a_document_the_machine_alone_is_drawn(
    calibrating: Calibrating, uri: str
) -> None:
    await calibrating.begin(WHOLE)
    await calibrating.calibrate()
    picture = await calibrating.curve(uri)
    assert (picture.uri, picture.transfers) == (None, [])
    assert labels(picture, "measured") == ROUTES


async def test_the_real_worker_calibrates_what_the_machine_has(
    calibrating: Calibrating, torch_python: str
) -> None:
    await calibrating.begin("", python=torch_python, timeout=60)
    async with within(5 * PATIENCE):
        assert await calibrating.calibrate() is True, calibrating.told
    picture = await calibrating.curve()
    measured = [each for each in picture.curves if each.source == "measured"]
    assert len(measured) > 0
    for curve in measured:
        assert len(curve.points) > 10
        assert all(0 < low <= middle <= high for _, low, middle, high in curve.points)
    if labels(picture, "measured") == {"cpu → cpu"}:
        assert "copies in host memory" in picture.basis
        assert picture.transfers[0].source == "typical"
    else:
        assert picture.transfers[0].source == "measured"
