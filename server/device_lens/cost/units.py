"""Numbers as people read them: `38.5 MB`, `3.1 ms`, `840 µs`.

Rounding contract
-----------------
* Bytes, counts and rates are shown with at most three significant digits, trailing zeros dropped
  (`4 MB`, `1.5 kB`, `38.5 MB`); below 1000 they are exact. Prefixes are decimal: 1 MB is 10⁶ bytes.
* Times are shown with two significant digits, trailing zero kept (`1.0 ms`, `840 µs`, `3.1 s`):
  neither an estimate nor a measurement of a transfer is better than that.
* Halves round away from zero, and the unit is chosen after rounding: 999.6 kB is `1 MB`.
* Every figure reads back within half a unit of its last digit, and the text never gets smaller as
  the number gets larger.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

_BYTE_UNITS = ("B", "kB", "MB", "GB", "TB", "PB", "EB")
_COUNT_UNITS = ("", "k", "M", "G", "T", "P", "E")
_RATE_UNITS = ("B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s", "EB/s")
_TIME_UNITS = ((Decimal("0.001"), "ns"), (Decimal(1), "µs"), (Decimal(1000), "ms"))
_SECOND = Decimal(1_000_000)
_LONG_TIME_UNITS = (
    (_SECOND, 100, "s"),
    (60 * _SECOND, 100, "min"),
    (3600 * _SECOND, 100, "h"),
)
_DAY = 86400 * _SECOND


def format_bytes(size: int) -> str:
    """`38535168` → `38.5 MB`."""
    return _with_prefix(Decimal(size), _BYTE_UNITS)


def format_count(count: int) -> str:
    """`25557032` → `25.6 M`."""
    return _with_prefix(Decimal(count), _COUNT_UNITS).rstrip()


def format_bandwidth(bytes_per_second: float) -> str:
    """`2.46e10` → `24.6 GB/s`."""
    return _with_prefix(Decimal(repr(float(bytes_per_second))), _RATE_UNITS)


def format_microseconds(microseconds: float) -> str:
    """`3120.4` → `3.1 ms`; exact zero is `0 µs`, and what is no number is `?`."""
    exact = Decimal(repr(float(microseconds)))
    if not exact.is_finite():
        return "?"
    if exact == 0:
        return "0 µs"
    for scale, unit in _TIME_UNITS:
        rounded = _significant(exact / scale, 2)
        if abs(rounded) < 1000:
            return f"{_plain(rounded)} {unit}"
    for scale, limit, unit in _LONG_TIME_UNITS:
        rounded = _significant(exact / scale, 2)
        if abs(rounded) < limit:
            return f"{_plain(rounded)} {unit}"
    return f"{_plain(_significant(exact / _DAY, 2))} days"


def format_spread(low: float, middle: float, high: float) -> str:
    """Median and the 20th and 80th percentile, in microseconds: `3.1 ms (2.9 ms … 3.4 ms)`."""
    median = format_microseconds(middle)
    return f"{median} ({format_microseconds(low)} … {format_microseconds(high)})"


def format_share(part: float, whole: float) -> str:
    """What part of `whole` that is: `1.6 %`; `< 0.1 %` where it would read as nothing."""
    if whole <= 0:
        return "?"
    percent = Decimal(repr(float(part))) * 100 / Decimal(repr(float(whole)))
    if 0 < percent < Decimal("0.1"):
        return "< 0.1 %"
    return f"{_plain(_drop_zeros(_significant(percent, 2)))} %"


def _with_prefix(value: Decimal, units: tuple[str, ...]) -> str:
    scaled, index = value, 0
    while abs(_significant(scaled, 3)) >= 1000 and index + 1 < len(units):
        scaled, index = scaled / 1000, index + 1
    return f"{_plain(_drop_zeros(_significant(scaled, 3)))} {units[index]}"


def _significant(value: Decimal, digits: int) -> Decimal:
    """`value` rounded to `digits` significant digits, halves away from zero."""
    if value == 0:
        return Decimal(0)
    unit = Decimal(1).scaleb(value.adjusted() - digits + 1)
    rounded = value.quantize(unit, rounding=ROUND_HALF_UP)
    if rounded.adjusted() > value.adjusted():  # 9.96 with two digits is 10, not 10.0
        rounded = rounded.quantize(unit.scaleb(1), rounding=ROUND_HALF_UP)
    return rounded


def _drop_zeros(value: Decimal) -> Decimal:
    return value.normalize()


def _plain(value: Decimal) -> str:
    return format(value, "f")
