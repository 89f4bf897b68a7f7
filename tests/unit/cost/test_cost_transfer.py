"""Routes, estimates and their labels, loops, operations and break-even sizes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device_lens.cost.calibration import Calibration
from device_lens.cost.curve import Point, fit
from device_lens.cost.hardware import ASSUMPTIONS
from device_lens.cost.operation import (
    break_even,
    estimate_operation,
    operation_break_even,
)
from device_lens.cost.route import Direction, Memory, Route, canonical_device, route
from device_lens.cost.transfer import TransferCost, estimate_transfer, loop_cost
from device_lens.cost.work import OPERATIONS, operation_work, result_shape

_DEVICES = st.sampled_from(["cpu", "cuda", "cuda:0", "cuda:3", "mps", "xpu:1"])
_PATHS = st.builds(route, _DEVICES, _DEVICES, st.sampled_from(Memory))


def _path(source: str, target: str, memory: Memory = Memory.PAGEABLE) -> Route:
    path = route(source, target, memory)
    assert path is not None
    return path


@pytest.mark.parametrize(
    ("name", "canonical"),
    [("cuda", "cuda:0"), ("cpu:0", "cpu"), ("mps:0", "mps"), ("xpu", "xpu:0")],
)
def test_devices_have_one_name(name: str, canonical: str) -> None:
    assert canonical_device(name) == canonical


@pytest.mark.parametrize("name", ["meta", "cuda:", "cuda:01", "cuda:-1", "cpu:1", "cuda:0\n", ""])
def test_other_names_are_no_devices(name: str) -> None:
    assert canonical_device(name) is None
    assert route("cpu", name) is None


def test_directions() -> None:
    assert _path("cpu", "cuda").direction is Direction.HOST_TO_DEVICE
    assert _path("cuda", "cpu").direction is Direction.DEVICE_TO_HOST
    assert _path("cuda:0", "cuda:1").direction is Direction.DEVICE_TO_DEVICE
    assert _path("cpu", "cpu").direction is Direction.HOST_TO_HOST
    assert _path("cuda:0", "cuda:1", Memory.PINNED).memory is Memory.PAGEABLE
    assert _path("cpu", "cuda").text == "cpu → cuda:0"


def test_without_a_calibration_the_assumption_is_named() -> None:
    cost = estimate_transfer(_path("cpu", "cuda"), 38_535_168)
    assert cost is not None
    assert (cost.source, cost.assumption) == ("typical", "typical PCIe 4.0 x16")
    assert cost.microseconds == pytest.approx(15 + 38_535_168 / 6000)
    apple = estimate_transfer(_path("cpu", "mps"), 1000)
    assert apple is not None
    assert apple.assumption == "typical Apple unified memory"


def test_a_calibrated_route_is_measured_and_another_is_not() -> None:
    path = _path("cpu", "cuda:0", Memory.PINNED)
    curve = fit([Point(1000, 9, 10, 11), Point(1_000_000, 45, 50, 55)])
    calibration = Calibration("NVIDIA L4", "2026-08-01", {path: curve})
    cost = estimate_transfer(path, 1000, calibration)
    assert cost == TransferCost(10, "measured", "NVIDIA L4, 2026-08-01")
    other = estimate_transfer(_path("cuda:0", "cpu"), 1000, calibration)
    assert other is not None
    assert other.source == "typical"


def test_unknown_size_and_no_move() -> None:
    assert estimate_transfer(_path("cpu", "cuda"), None) is None
    stay = estimate_transfer(_path("cuda", "cuda:0"), 1 << 30)
    assert stay is not None
    assert stay.microseconds == 0


@given(_PATHS, st.integers(0, 1 << 45), st.integers(0, 1 << 45))
def test_estimates_grow_with_bytes_and_are_never_negative(path: Route, a: int, b: int) -> None:
    small, large = (estimate_transfer(path, size) for size in sorted((a, b)))
    assert small is not None
    assert large is not None
    assert 0 <= small.microseconds <= large.microseconds


def test_pinned_memory_is_never_assumed_slower() -> None:
    for assumption in ASSUMPTIONS:
        for source, target in (("cpu", "cuda"), ("cuda", "cpu")):
            pageable = assumption.link(_path(source, target))
            pinned = assumption.link(_path(source, target, Memory.PINNED))
            assert pinned.microseconds(1 << 26) <= pageable.microseconds(1 << 26)


def test_loops_add_up() -> None:
    typical = TransferCost(100.0, "typical", "typical PCIe 4.0 x16")
    measured = TransferCost(50.0, "measured", "NVIDIA L4, 2026-08-01")
    loop = loop_cost([typical, measured, typical], 1000)
    assert (loop.per_iteration_us, loop.total_us) == (250.0, 250_000.0)
    assert loop.saved_by_hoisting_us == pytest.approx(249_750.0)
    assert loop.source == "typical"
    assert loop.assumptions == ("typical PCIe 4.0 x16", "NVIDIA L4, 2026-08-01")
    assert loop_cost([measured], None).total_us is None
    assert loop_cost([measured], 3).source == "measured"
    assert loop_cost([], 5).total_us == 0


def test_work_of_operations() -> None:
    work = operation_work("matmul", [(3, 4), (4, 5)], 4)
    assert work is not None
    assert (work.flops, work.touched, work.moved) == (120, (12 + 20 + 15) * 4, (12 + 20) * 4)
    assert result_shape("conv2d", [(64, 3, 224, 224), (64, 3, 7, 7)], 2, 3) == (64, 64, 112, 112)
    assert result_shape("matmul", [(10, 3, 4), (4, 5)]) == (10, 3, 5)
    assert result_shape("add", [(3, 1), (1, 5)]) == (3, 5)
    linear = operation_work("linear", [(8, 16), (32, 16)], 4)
    assert linear is not None
    assert linear.moved == 8 * 16 * 4


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("matmul", [(3, 4), (3, 4)]),
        ("matmul", [(3, 4)]),
        ("matmul", [(4,), (4,)]),
        ("conv2d", [(1, 3, 2, 2), (8, 3, 7, 7)]),
        ("conv2d", [(1, 3, 9, 9), (8, 2, 3, 3)]),
        ("linear", [(8, 16), (32, 15)]),
        ("add", [(3,), (4,)]),
        ("relu", [(0,)]),
        ("softmax", [()]),
        ("exec", [(3,)]),
    ],
)
def test_shapes_that_do_not_fit_have_no_work(name: str, shapes: list[tuple[int, ...]]) -> None:
    assert operation_work(name, shapes, 4) is None
    assert result_shape(name, shapes) is None


def test_three_by_three_stays_on_the_cpu() -> None:
    shapes = [(3, 3), (3, 3)]
    work = operation_work("matmul", shapes, 4)
    assert work is not None
    cost = estimate_operation(work, "cuda")
    assert cost is not None
    assert not cost.worth_moving
    found = operation_break_even("matmul", shapes, 4, "cuda")
    assert found is not None
    assert found.of == "side"
    for size, worth in ((found.size, True), (found.size - 1, False)):
        there = operation_work("matmul", [(size, size)] * 2, 4)
        assert there is not None
        moved = estimate_operation(there, "cuda")
        assert moved is not None
        assert moved.worth_moving is worth


def test_moving_for_one_addition_is_never_worth_it() -> None:
    assert operation_break_even("add", [(10, 10), (10, 10)], 4, "cuda") is None
    assert operation_break_even("add", [(1, 5), (3, 5)], 4, "cuda") is None
    assert operation_break_even("add", [], 4, "cuda") is None
    assert operation_break_even("relu", [(10,)], 4, "meta") is None


@given(st.floats(0, 1000), st.floats(0.001, 10), st.floats(0, 10))
def test_break_even_is_where_the_lines_cross(overhead: float, cpu: float, moved: float) -> None:
    found = break_even(lambda n: cpu * n, lambda n: overhead + moved * n, largest=1 << 20)
    if found is None:
        assert overhead + moved * (1 << 20) >= cpu * (1 << 20)
    else:
        assert overhead + moved * found < cpu * found
        assert found == 1 or overhead + moved * (found - 1) >= cpu * (found - 1)


@given(st.sampled_from(sorted(OPERATIONS)), st.lists(st.lists(st.integers(-1, 9), max_size=5)))
def test_work_is_positive_or_absent(name: str, shapes: list[list[int]]) -> None:
    work = operation_work(name, [tuple(shape) for shape in shapes], 2)
    assert work is None or (work.flops > 0 and 0 < work.moved <= work.touched)
