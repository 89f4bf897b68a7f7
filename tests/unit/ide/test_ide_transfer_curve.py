"""The picture of what transfers cost, as plain data."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

from ide_programs import LOOP, analysed, position_of

from device_lens.cost.calibration import Calibration
from device_lens.cost.curve import Point, fit
from device_lens.cost.route import Memory, Route
from device_lens.cost.transfer import TransferCost
from device_lens.ide import transfer_curve
from device_lens.ide.costs import Costs
from device_lens.ide.transfer_curve import DrawnCurve, TransferCurves, transfer_curves

TO_GPU = Route("cpu", "cuda:0", Memory.PAGEABLE)
HOST = Route("cpu", "cpu", Memory.PAGEABLE)
TYPICAL = "typical PCIe 4.0 x16"
POINTS = (Point(1 << 10, 9, 10, 11), Point(1 << 20, 90, 100, 130), Point(1 << 28, 2e4, 2.1e4, 3e4))


def calibration(*paths: Route) -> Calibration:
    curves = {path: fit(POINTS) for path in paths}
    return Calibration("NVIDIA Scripted, torch 2.4.0", "2026-08-01", MappingProxyType(curves))


def drawn(folder: Path, text: str, **costs: object) -> TransferCurves:
    found = analysed(folder, text)
    return transfer_curves(found.facts, replace(found.costs, **costs), "cuda")


def labels(found: TransferCurves, source: str) -> list[str]:
    return [each.label for each in found.curves if each.source == source]


def by_label(found: TransferCurves, label: str) -> DrawnCurve:
    (curve,) = (each for each in found.curves if each.label == label)
    return curve


def test_without_a_file_or_a_measurement_the_assumption_is_drawn() -> None:
    found = transfer_curves(None, Costs(), "cuda")
    assert [each.label for each in found.curves] == [
        "cpu → cuda, pageable",
        "cuda → cpu, pageable",
        "cpu → cuda, pinned",
        "cuda → cpu, pinned",
    ]
    assert {(each.source, each.basis, each.points) for each in found.curves} == {
        ("typical", TYPICAL, ())
    }
    assert found.basis == (
        f"Dashed curves are estimates for {TYPICAL}. Nothing is measured on this machine yet."
    )
    assert (found.transfers, found.left_out) == ((), "")


def test_models_span_what_a_calibration_measures_and_never_fall() -> None:
    found = transfer_curves(None, Costs(calibration(HOST)), "cuda")
    assert (found.sizes[0], found.sizes[-1]) == (transfer_curve.SMALLEST, transfer_curve.LARGEST)
    assert all(one < other for one, other in pairwise(found.sizes))
    assert len(found.curves) == 5
    for curve in found.curves:
        assert len(curve.times) == len(found.sizes)
        assert all(0 < one <= other for one, other in pairwise(curve.times))


def test_a_transfer_is_a_point_on_its_curve(tmp_path: Path) -> None:
    found = drawn(tmp_path, LOOP)
    (transfer,) = found.transfers
    assert transfer.range.start == position_of(LOOP, "images.to")
    assert (transfer.text, transfer.bytes) == ("images.to(device)", 38_535_168)
    assert (transfer.bytes_text, transfer.time_text) == ("38.5 MB", "≈ 6.4 ms")
    assert (transfer.route, transfer.in_loop) == ("cpu → cuda, pageable", True)
    curve = found.curves[transfer.curve]
    assert (curve.label, curve.source) == ("cpu → cuda, pageable", "typical")
    at = dict(zip(found.sizes, curve.times, strict=True))
    below, above = 1 << 25, 1 << 26
    assert at[below] < transfer.cost.microseconds < at[above]


def test_measured_curves_take_the_place_of_typical_ones(tmp_path: Path) -> None:
    found = drawn(tmp_path, LOOP, calibration=calibration(TO_GPU))
    assert labels(found, "typical") == []
    curve = by_label(found, "cpu → cuda:0, pageable")
    assert curve.points == POINTS
    model = set(zip(found.sizes, curve.times, strict=True))
    assert {(point.size, point.p50) for point in POINTS} <= model
    assert found.transfers[0].cost.source == "measured"
    assert found.curves[found.transfers[0].curve] is curve
    assert found.basis == "Measured on NVIDIA Scripted, torch 2.4.0, 2026-08-01."


def test_a_route_that_was_not_measured_keeps_its_assumption(tmp_path: Path) -> None:
    text = LOOP + 'back = batch.to("cpu")\n'
    found = drawn(tmp_path, text, calibration=calibration(TO_GPU))
    assert labels(found, "measured") == ["cpu → cuda:0, pageable"]
    assert labels(found, "typical") == ["cuda → cpu, pageable"]
    assert [each.cost.source for each in found.transfers] == ["measured", "typical"]
    assert f"Dashed curves are estimates for {TYPICAL}." in found.basis


def test_copies_in_host_memory_never_stand_in_for_an_accelerator(tmp_path: Path) -> None:
    found = drawn(tmp_path, LOOP, calibration=calibration(HOST))
    assert labels(found, "measured") == ["cpu → cpu"]
    assert found.transfers[0].cost.source == "typical"
    assert found.curves[found.transfers[0].curve].source == "typical"
    assert "It has no accelerator: what is measured are copies in host memory." in found.basis


def test_a_measurement_of_the_very_transfer_is_its_point(tmp_path: Path) -> None:
    cost = TransferCost(4000.0, "measured", "NVIDIA Scripted", (3900.0, 4200.0))
    (transfer,) = drawn(tmp_path, LOOP, measured=lambda wanted: cost).transfers
    assert transfer.cost == cost


def test_what_is_not_known_is_counted(tmp_path: Path) -> None:
    text = """\
import torch

def step(batch, device):
    one = torch.zeros(batch).to("cuda")
    two = torch.zeros(batch, 2).to("cuda")
    return one, two, torch.zeros(3).to(device)
"""
    found = drawn(tmp_path, text)
    assert found.transfers == ()
    assert found.left_out == (
        "3 transfers are not shown: 2 of unknown size, 1 between devices that are not known."
    )


def test_one_reason_is_said_at_once(tmp_path: Path) -> None:
    text = 'import torch\n\n\ndef step(n):\n    return torch.zeros(n).to("cuda")\n'
    assert drawn(tmp_path, text).left_out == "1 transfer of unknown size is not shown."


def test_what_moves_nothing_is_neither_shown_nor_counted(tmp_path: Path) -> None:
    text = 'import torch\n\nx = torch.zeros(3, device="cuda").to("cuda")\ny = x.half()\n'
    found = drawn(tmp_path, text)
    assert (found.transfers, found.left_out) == ((), "")


def test_a_huge_transfer_widens_the_picture(tmp_path: Path) -> None:
    text = LOOP.replace("64, 3", "640000, 3")
    found = drawn(tmp_path, text)
    (transfer,) = found.transfers
    assert transfer.bytes > transfer_curve.LARGEST
    assert found.sizes[-1] >= transfer.bytes


def test_apple_silicon_has_its_own_assumption() -> None:
    found = transfer_curves(None, Costs(), "mps")
    assert {each.basis for each in found.curves} == {"typical Apple unified memory"}
    assert found.curves[0].label == "cpu → mps, pageable"
