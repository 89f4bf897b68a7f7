"""A machine's measured transfer model: one fitted curve per route, with where and when.

A calibration travels as a plain dict (JSON). Reading one back checks every field: a cache file is
input like any other, and nothing but numbers and names of a fixed form comes out of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import cast

from device_lens.cost.curve import Curve, Point, fit
from device_lens.cost.route import Memory, Route, route

VERSION = 1
LARGEST_SIZE = 1 << 50
LONGEST_MICROSECONDS = 1e12
_MOST_POINTS = 256
_MOST_CURVES = 4096
_LABEL = re.compile(r"[A-Za-z0-9 ._+/@(),-]{1,120}")


class InvalidCalibration(ValueError):
    """The data is not a calibration; the message names the field."""


@dataclass(frozen=True)
class Calibration:
    """Measured curves of one machine.

    `machine` is a label to print (`NVIDIA A100-SXM4-40GB, driver 550.54, torch 2.4.0`),
    `measured_on` an ISO date.
    """

    machine: str
    measured_on: str
    curves: Mapping[Route, Curve]

    def microseconds(self, path: Route, size: int) -> float | None:
        """Measured time for `size` bytes on `path`, None where that path was not measured."""
        curve = self.curves.get(path)
        return None if curve is None else curve.microseconds(size)

    @property
    def label(self) -> str:
        """`NVIDIA A100-SXM4-40GB, driver 550.54, torch 2.4.0, 2026-08-01`."""
        return f"{self.machine}, {self.measured_on}"


def to_dict(calibration: Calibration) -> dict[str, object]:
    """The calibration as JSON values."""
    return {
        "version": VERSION,
        "machine": calibration.machine,
        "measured_on": calibration.measured_on,
        "curves": [
            {
                "from": path.source,
                "to": path.target,
                "memory": path.memory.value,
                "points": [[p.size, p.p20, p.p50, p.p80] for p in curve.points],
            }
            for path, curve in calibration.curves.items()
        ],
    }


def from_dict(data: object) -> Calibration:
    """The calibration that `to_dict` wrote. Raises InvalidCalibration for anything else."""
    fields = _fields(data, "calibration", {"version", "machine", "measured_on", "curves"})
    if fields["version"] != VERSION or isinstance(fields["version"], bool):
        raise InvalidCalibration(f"version is not {VERSION}")
    curves = [_curve(each) for each in _list(fields["curves"], "curves", _MOST_CURVES)]
    by_route = dict(curves)
    if len(by_route) != len(curves):
        raise InvalidCalibration("curves name one route twice")
    return Calibration(
        label(fields["machine"], "machine"),
        _iso_date(fields["measured_on"]),
        MappingProxyType(by_route),
    )


def label(value: object, field: str) -> str:
    """A short text of letters, digits and plain punctuation, safe to print anywhere."""
    if not isinstance(value, str) or _LABEL.fullmatch(value) is None:
        raise InvalidCalibration(f"{field} is not a plain label")
    return value


def point_from_list(data: object) -> Point:
    """The point written as `[bytes, p20, p50, p80]`. Raises InvalidCalibration."""
    values = _list(data, "point", 4)
    if len(values) != 4:
        raise InvalidCalibration("a point has four numbers")
    size = values[0]
    if not isinstance(size, int) or isinstance(size, bool) or not 0 < size <= LARGEST_SIZE:
        raise InvalidCalibration("a point's size is not a number of bytes")
    p20, p50, p80 = (_duration(value) for value in values[1:])
    if not p20 <= p50 <= p80:
        raise InvalidCalibration("a point's percentiles are out of order")
    return Point(size, p20, p50, p80)


def _curve(data: object) -> tuple[Route, Curve]:
    fields = _fields(data, "curve", {"from", "to", "memory", "points"})
    source, target, memory = (_name(fields[key], key) for key in ("from", "to", "memory"))
    if memory not in {kind.value for kind in Memory}:
        raise InvalidCalibration("memory is neither pageable nor pinned")
    path = route(source, target, Memory(memory))
    if path is None or (path.source, path.target, path.memory.value) != (source, target, memory):
        raise InvalidCalibration("a curve's devices or memory are not canonical")
    points = [point_from_list(each) for each in _list(fields["points"], "points", _MOST_POINTS)]
    if not points:
        raise InvalidCalibration("a curve has no points")
    return path, fit(points)


def _fields(data: object, what: str, names: set[str]) -> dict[str, object]:
    if not isinstance(data, dict) or set(data) != names:
        raise InvalidCalibration(f"{what} does not have exactly the fields {sorted(names)}")
    return cast("dict[str, object]", data)


def _list(value: object, field: str, most: int) -> list[object]:
    if not isinstance(value, list) or len(value) > most:
        raise InvalidCalibration(f"{field} is not a list of at most {most}")
    return value


def _name(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise InvalidCalibration(f"{field} is not a name")
    return value


def _duration(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidCalibration("a time is not a number")
    if not 0 < value <= LONGEST_MICROSECONDS:
        raise InvalidCalibration("a time is out of range")
    return float(value)


def _iso_date(value: object) -> str:
    try:
        parsed = date.fromisoformat(_name(value, "measured_on"))
    except ValueError as error:
        raise InvalidCalibration("measured_on is not a date") from error
    return parsed.isoformat()
