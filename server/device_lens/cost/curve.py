"""Time against bytes on one route, fitted to measured points.

The model is the measurement itself, made monotone: the medians go through isotonic regression in
the L1 norm (a lone outlier cannot move its neighbours), and between two sizes every further byte
costs the same. A pure latency + bandwidth line is a special case and is met exactly, while steps
(a driver's switch from inline to staged copies, a cache that overflows) keep their place.
Below the smallest size the latency is all there is; above the largest the rate seen over the last
sizes goes on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from statistics import median, median_low

_TAIL = 8  # sizes from an eighth of the largest up tell the rate beyond it


@dataclass(frozen=True)
class Point:
    """Measured time of a transfer of `size` bytes: median and two percentiles, in microseconds."""

    size: int
    p20: float
    p50: float
    p80: float


@dataclass(frozen=True)
class Curve:
    """A fitted curve. Build one with `fit`; `points` are sorted by size, at least one."""

    points: tuple[Point, ...]

    def microseconds(self, size: int) -> float:
        """Predicted time for `size` bytes: positive, and never less for more bytes."""
        sizes, times = self._knots
        if size <= sizes[0]:
            return times[0]
        if size >= sizes[-1]:
            return times[-1] + (size - sizes[-1]) * self._tail_slope
        right = bisect_right(sizes, size)
        left = right - 1
        share = (size - sizes[left]) / (sizes[right] - sizes[left])
        return times[left] + share * (times[right] - times[left])

    @property
    def latency_us(self) -> float:
        """Time of the smallest transfers."""
        return self._knots[1][0]

    @property
    def bytes_per_us(self) -> float | None:
        """Rate that large transfers approach (1 byte/µs is 1 MB/s), None if no size dominates."""
        return 1 / self._tail_slope if self._tail_slope > 0 else None

    @cached_property
    def _knots(self) -> tuple[list[int], list[float]]:
        return [p.size for p in self.points], _isotonic([p.p50 for p in self.points])

    @cached_property
    def _tail_slope(self) -> float:
        """Microseconds per byte past the largest size: the median slope towards the last sizes."""
        sizes, times = self._knots
        last_size, last_time = sizes[-1], times[-1]
        slopes = [
            (last_time - time) / (last_size - size)
            for size, time in zip(sizes[:-1], times[:-1], strict=True)
            if size * _TAIL >= last_size
        ]
        return median(slopes) if slopes else last_time / last_size


def fit(points: Iterable[Point]) -> Curve:
    """The curve through `points`; of several at one size the one with the median time counts.

    Raises ValueError when there is none.
    """
    by_size: dict[int, list[Point]] = {}
    for point in points:
        by_size.setdefault(point.size, []).append(point)
    if not by_size:
        raise ValueError("a curve needs at least one point")
    return Curve(tuple(_middle(by_size[size]) for size in sorted(by_size)))


def _middle(points: list[Point]) -> Point:
    typical = median_low([point.p50 for point in points])
    return next(point for point in points if point.p50 == typical)


def _isotonic(values: list[float]) -> list[float]:
    """Closest non-decreasing sequence to `values` in the L1 norm (pool adjacent violators)."""
    blocks: list[list[float]] = []
    for value in values:
        blocks.append([value])
        while len(blocks) > 1 and median_low(blocks[-2]) > median_low(blocks[-1]):
            last = blocks.pop()
            blocks[-1] = blocks[-1] + last
    return [median_low(block) for block in blocks for _ in block]
