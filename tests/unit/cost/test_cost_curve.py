"""The fitted curve: monotone, positive, true to machines it was not shown in full."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device_lens.cost.curve import Curve, Point, fit

_SIZES = sorted([*(1 << power for power in range(10, 29)), 68 << 10])
_POINTS = st.lists(
    st.builds(
        lambda size, time: Point(size, time, time, time),
        st.integers(1, 1 << 40),
        st.floats(0.01, 1e9),
    ),
    min_size=1,
    max_size=20,
)


@given(_POINTS, st.integers(0, 1 << 42), st.integers(0, 1 << 42))
def test_more_bytes_never_take_less_time(points: list[Point], one: int, other: int) -> None:
    curve = fit(points)
    small, large = sorted((one, other))
    assert 0 < curve.microseconds(small) <= curve.microseconds(large) * (1 + 1e-12)
    assert math.isfinite(curve.microseconds(large))


@given(st.floats(1, 200), st.floats(100, 60_000), st.integers(1, 1 << 34))
def test_latency_and_bandwidth_are_met_exactly(latency: float, rate: float, size: int) -> None:
    curve = fit(_point(each, latency + each / rate) for each in _SIZES)
    expected = max(latency + size / rate, latency + _SIZES[0] / rate)
    assert curve.microseconds(size) == pytest.approx(expected, rel=1e-6)
    assert curve.latency_us == pytest.approx(latency + 1024 / rate)
    assert curve.bytes_per_us == pytest.approx(rate, rel=1e-6)


def test_sizes_between_the_measured_ones_are_predicted_within_15_percent() -> None:
    """A driver's switch at 64 KiB, a cache that ends at 4 MiB, and noise of a few percent."""
    noise = random.Random(7)
    curve = fit(_point(size, _bent(size) * noise.uniform(0.97, 1.03)) for size in _SIZES)
    unseen = [int(size * factor) for size in _SIZES[:-1] for factor in (1.04, 1.2, 1.41, 1.7)]
    errors = [abs(curve.microseconds(size) / _bent(size) - 1) for size in [*unseen, 1 << 30]]
    assert max(errors) < 0.15


def test_one_outlier_moves_nothing_else() -> None:
    clean = {size: 10 + size / 10_000 for size in _SIZES}
    spoiled = {**clean, 1 << 20: clean[1 << 20] * 50}
    curve = fit(_point(size, time) for size, time in spoiled.items())
    for size in (1 << 12, 1 << 19, 1 << 27):
        assert curve.microseconds(size) == pytest.approx(clean[size], rel=0.01)
    assert curve.bytes_per_us == pytest.approx(10_000, rel=0.05)


def test_repeated_sizes_count_once() -> None:
    curve = fit([_point(1000, 5.0), _point(1000, 90.0), _point(1000, 6.0)])
    assert [point.p50 for point in curve.points] == [6.0]
    assert curve.microseconds(2000) == pytest.approx(12.0)


def test_no_points_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one point"):
        fit([])


def test_flat_curve_has_no_bandwidth() -> None:
    flat = Curve((_point(1000, 5.0), _point(2000, 5.0)))
    assert flat.bytes_per_us is None
    assert flat.microseconds(1 << 30) == 5.0


def _point(size: int, time: float) -> Point:
    return Point(size, time * 0.9, time, time * 1.2)


def _bent(size: int) -> float:
    if size <= 1 << 16:
        return 9 + size / 8000
    if size <= 1 << 22:
        return 16 + size / 12_000
    return 16 + (1 << 22) / 12_000 + (size - (1 << 22)) / 6000
