"""The rounding contract of `cost.units`."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device_lens.cost.units import (
    format_bandwidth,
    format_bytes,
    format_count,
    format_microseconds,
    format_share,
    format_spread,
)

_BYTES = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15, "EB": 1e18}
_TIMES = {
    "ns": 1e-3, "µs": 1, "ms": 1e3, "s": 1e6, "min": 6e7, "h": 3.6e9, "days": 8.64e10,
}  # fmt: skip


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (1500, "1.5 kB"),
        (999_499, "999 kB"),
        (999_500, "1 MB"),
        (4_194_304, "4.19 MB"),
        (38_535_168, "38.5 MB"),
        (12_582_912_000, "12.6 GB"),
    ],
)
def test_bytes_have_three_significant_digits(size: int, text: str) -> None:
    assert format_bytes(size) == text


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [
        (0, "0 µs"),
        (0.34, "340 ns"),
        (1, "1.0 µs"),
        (9.96, "10 µs"),
        (844, "840 µs"),
        (996, "1.0 ms"),
        (3120.4, "3.1 ms"),
        (999_600, "1.0 s"),
        (99_400_000, "99 s"),
        (99_600_000, "1.7 min"),
        (8.64e10 * 12, "12 days"),
        (float("nan"), "?"),
        (float("inf"), "?"),
    ],
)
def test_times_have_two_significant_digits(microseconds: float, text: str) -> None:
    assert format_microseconds(microseconds) == text


def test_other_figures() -> None:
    assert format_count(25_557_032) == "25.6 M"
    assert format_count(7) == "7"
    assert format_bandwidth(2.46e10) == "24.6 GB/s"
    assert format_spread(2900, 3120, 3400) == "3.1 ms (2.9 ms … 3.4 ms)"
    assert format_share(1.0e9, 6.4e10) == "1.6 %"
    assert format_share(1, 1e12) == "< 0.1 %"
    assert format_share(0, 1e12) == "0 %"
    assert format_share(1, 0) == "?"


@given(st.integers(min_value=0, max_value=10**20))
def test_bytes_read_back_within_half_a_digit(size: int) -> None:
    assert _read(format_bytes(size), _BYTES) == pytest.approx(size, rel=0.005)


@given(st.floats(min_value=0.01, max_value=1e14))
def test_times_read_back_within_half_a_digit(microseconds: float) -> None:
    assert _read(format_microseconds(microseconds), _TIMES) == pytest.approx(
        microseconds, rel=0.0501
    )


@given(st.floats(min_value=0.01, max_value=1e13), st.floats(min_value=0.01, max_value=1e13))
def test_longer_never_reads_shorter(one: float, other: float) -> None:
    small, large = sorted((one, other))
    assert _read(format_microseconds(small), _TIMES) <= _read(format_microseconds(large), _TIMES)


def _read(text: str, units: dict[str, float]) -> float:
    match = re.fullmatch(r"([0-9.]+) (\S+)", text)
    assert match is not None, text
    return float(match[1]) * units[match[2]]
