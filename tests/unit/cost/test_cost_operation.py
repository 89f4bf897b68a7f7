"""What operations cost, and from what size on moving them to an accelerator pays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device_lens.cost.operation import (
    MeasuredOperation,
    OperationCost,
    break_even,
    estimate_operation,
    estimate_sequence,
    operation_break_even,
    sequence_break_even,
)
from device_lens.cost.work import Work, operation_work, traffic_work

SIZES = st.integers(1, 512)


def cost_of(name: str, *shapes: tuple[int, ...], device: str = "cuda") -> OperationCost:
    work = operation_work(name, shapes, 4)
    assert work is not None
    cost = estimate_operation(work, device)
    assert cost is not None
    return cost


def test_three_by_three_stays_on_the_cpu() -> None:
    assert not cost_of("matmul", (3, 3), (3, 3)).worth_moving
    assert cost_of("matmul", (4096, 4096), (4096, 4096)).worth_moving


@pytest.mark.parametrize("device", ["cuda", "mps", "xpu:1"])
def test_moving_pays_from_the_break_even_of_squares_on(device: str) -> None:
    even = operation_break_even("matmul", [(3, 3), (3, 3)], 4, device)
    assert even is not None
    assert even.of == "side"
    assert 10 < even.size < 2000
    at, below = (
        cost_of("matmul", (side, side), (side, side), device=device)
        for side in (even.size, even.size - 1)
    )
    assert at.worth_moving
    assert not below.worth_moving


@given(SIZES, SIZES, st.sampled_from([256, 1024, 4096]))
def test_what_shares_the_batch_grows_along(batch: int, rows: int, inner: int) -> None:
    even = operation_break_even("matmul", [(batch, rows, inner), (batch, inner, rows)], 4, "cuda")
    if even is None:
        return
    assert even.of == "first dimension"
    size = even.size
    assert cost_of("matmul", (size, rows, inner), (size, inner, rows)).worth_moving


def test_a_weight_does_not_grow_with_the_batch() -> None:
    even = operation_break_even("linear", [(256, 256), (256, 256)], 4, "cuda")
    assert even is not None
    assert even.of == "first dimension"
    assert cost_of("linear", (even.size, 256), (256, 256)).worth_moving
    assert not cost_of("linear", (even.size - 1, 256), (256, 256)).worth_moving


def test_a_sum_never_pays_for_its_transfer() -> None:
    assert operation_break_even("add", [(8, 8), (8, 8)], 4, "cuda") is None
    assert operation_break_even("matmul", [], 4, "cuda") is None
    assert operation_break_even("matmul", [(3, 3), (3, 3)], 4, "meta") is None


def test_stride_and_padding_count() -> None:
    shapes = [(8, 64, 56, 56), (64, 64, 3, 3)]
    sizes = [
        operation_break_even("conv2d", shapes, 4, "cuda", stride=stride, padding=1)
        for stride in (1, 2)
    ]
    assert sizes[0] is not None
    assert sizes[1] is not None
    assert sizes[0].size < sizes[1].size


@given(st.lists(st.tuples(st.integers(1, 256), st.integers(1, 9)), min_size=1, max_size=5))
def test_a_sequence_is_the_sum_of_its_operations(layers: list[tuple[int, int]]) -> None:
    works = []
    for width, times in layers:
        work = operation_work("linear", [(32, width), (width, width)], 4)
        assert work is not None
        works.append((work, times))
    whole = estimate_sequence(works, 4096, "cuda")
    assert whole is not None
    parts = [(estimate_operation(work, "cuda"), times) for work, times in works]
    assert whole.cpu_us == pytest.approx(sum(p.cpu_us * n for p, n in parts if p))
    assert whole.accelerator_us == pytest.approx(sum(p.accelerator_us * n for p, n in parts if p))


def test_a_sequence_pays_from_some_batch_on() -> None:
    work = operation_work("linear", [(32, 4096), (4096, 4096)], 4)
    assert work is not None
    works, moved = [(work, 6)], 32 * 4096 * 4
    even = sequence_break_even(works, moved, 32, "cuda")
    assert even is not None
    assert even.of == "first dimension"
    whole = estimate_sequence(works, moved, "cuda")
    assert whole is not None
    assert whole.worth_moving == (even.size <= 32)
    assert sequence_break_even(works, moved, 0, "cuda") is None
    assert sequence_break_even(works, moved, 32, "cpu") is None
    idle = traffic_work([(32, 4096), (32, 4096)], 4)
    assert idle is not None
    assert sequence_break_even([(idle, 1)], moved, 32, "cuda") is None


def test_traffic_is_what_is_read_and_written() -> None:
    assert traffic_work([(2, 3), (), (4,)], 4) == Work(11, 44, 0)
    assert traffic_work([(2, -1)], 4) is None
    assert traffic_work([(2,)], 0) is None


TYPICAL = OperationCost(2.0, 12.0, 15.0, "typical", "typical PCIe 4.0 x16")


def test_measured_numbers_take_the_place_of_typical_ones() -> None:
    cost = MeasuredOperation(3.0, (2.0, 4.0), 5.0, 25.0, "x").replacing(TYPICAL)
    assert (cost.cpu_us, cost.accelerator_us, cost.with_transfer_us) == (3.0, 5.0, 25.0)
    assert {cost.cpu_source, cost.accelerator_source, cost.transfer_source} == {"measured"}


def test_what_was_not_measured_stays_typical() -> None:
    cost = MeasuredOperation(3.0, (2.0, 4.0), None, None, "x").replacing(TYPICAL)
    assert (cost.cpu_us, cost.with_transfer_us) == (3.0, 27.0)
    assert (cost.cpu_source, cost.accelerator_source) == ("measured", "typical")


def test_a_move_that_hides_behind_noise_costs_nothing() -> None:
    assert MeasuredOperation(3.0, (2.0, 4.0), 5.0, 4.9, "x").replacing(TYPICAL).transfer_us == 0


@given(st.integers(1, 5000))
def test_break_even_is_the_first_size_that_wins(first: int) -> None:
    assert break_even(lambda size: size, lambda size: first - 0.5) == first


def test_break_even_is_bounded() -> None:
    assert break_even(lambda size: 1, lambda size: 2, largest=100) is None
