"""Calibrations survive a round trip, and nothing else gets in."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device_lens.cost.calibration import Calibration, InvalidCalibration, from_dict, to_dict
from device_lens.cost.curve import Point, fit
from device_lens.cost.route import Memory, Route, route

_TIME = st.floats(0.001, 1e9)
_POINT = st.builds(
    lambda size, times: Point(size, *sorted(times)),
    st.integers(1, 1 << 40),
    st.tuples(_TIME, _TIME, _TIME),
)
_ROUTES = st.builds(
    route,
    st.sampled_from(["cpu", "cuda:0", "cuda:7", "xpu:1", "mps"]),
    st.sampled_from(["cpu", "cuda:0", "xpu:0"]),
    st.sampled_from(Memory),
).filter(lambda path: path is not None)


@given(st.dictionaries(_ROUTES, st.lists(_POINT, min_size=1, max_size=5), max_size=4))
def test_round_trip(points: dict[Route, list[Point]]) -> None:
    curves = {path: fit(each) for path, each in points.items()}
    before = Calibration("NVIDIA A100 (40 GB), driver 550.54", "2026-08-01", curves)
    after = from_dict(json.loads(json.dumps(to_dict(before))))
    assert after == before


_GOOD: dict[str, Any] = {
    "version": 1,
    "machine": "NVIDIA L4",
    "measured_on": "2026-08-01",
    "curves": [
        {"from": "cpu", "to": "cuda:0", "memory": "pinned", "points": [[1024, 9.0, 10.0, 11.0]]}
    ],
}


def test_the_good_one_is_good() -> None:
    calibration = from_dict(_GOOD)
    assert calibration.label == "NVIDIA L4, 2026-08-01"
    assert calibration.microseconds(Route("cpu", "cuda:0", Memory.PINNED), 10) == 10.0
    assert calibration.microseconds(Route("cpu", "cuda:1", Memory.PINNED), 10) is None


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 2),
        (("version",), True),
        (("machine",), "x](command:evil)"),
        (("machine",), "line\nbreak"),
        (("machine",), ""),
        (("machine",), 7),
        (("measured_on",), "yesterday"),
        (("measured_on",), None),
        (("curves",), {}),
        (("curves", 0), "cpu"),
        (("curves", 0, "from"), "cuda"),
        (("curves", 0, "from"), "__import__('os')"),
        (("curves", 0, "to"), "meta"),
        (("curves", 0, "memory"), "managed"),
        (("curves", 0, "memory"), ["pinned"]),
        (("curves", 0, "points"), []),
        (("curves", 0, "points"), [[1024, 9.0, 10.0, 11.0]] * 1000),
        (("curves", 0, "points", 0), [1024, 9.0, 10.0]),
        (("curves", 0, "points", 0, 0), 0),
        (("curves", 0, "points", 0, 0), 1024.5),
        (("curves", 0, "points", 0, 0), True),
        (("curves", 0, "points", 0, 0), 10**400),
        (("curves", 0, "points", 0, 2), -1.0),
        (("curves", 0, "points", 0, 2), float("nan")),
        (("curves", 0, "points", 0, 2), float("inf")),
        (("curves", 0, "points", 0, 2), 10**400),
        (("curves", 0, "points", 0, 2), "10"),
        (("curves", 0, "points", 0, 3), 9.5),
    ],
)
def test_every_field_is_checked(path: tuple[str | int, ...], value: object) -> None:
    data = copy.deepcopy(_GOOD)
    inner: Any = data
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    with pytest.raises(InvalidCalibration):
        from_dict(data)


@pytest.mark.parametrize("data", [None, [], "x", {}, {**_GOOD, "extra": 1}])
def test_other_things_are_not_calibrations(data: object) -> None:
    with pytest.raises(InvalidCalibration):
        from_dict(data)


def test_a_route_is_named_once() -> None:
    with pytest.raises(InvalidCalibration, match="twice"):
        from_dict({**_GOOD, "curves": _GOOD["curves"] * 2})


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["version", "curves", "machine", "from"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(_JSON)
def test_nothing_but_invalid_calibration_is_raised(data: object) -> None:
    with pytest.raises(InvalidCalibration):
        from_dict(data)
