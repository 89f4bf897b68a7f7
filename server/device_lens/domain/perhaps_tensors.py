"""What may be a tensor or something of which that is not known."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

from device_lens.domain.device import shared, widen_device
from device_lens.domain.guard import combine
from device_lens.domain.similarity import TENSORS, value_of
from device_lens.domain.values import Unknown


def somewhere(values: Iterable[Any]) -> Unknown:
    """Any of some tensors and unknowns: it is where all of them are, if it is a tensor. Among
    others, nowhere that is known."""
    devices = [_device(each) for each in values]
    if None in devices:
        return Unknown()
    return Unknown("", widen_device(reduce(lambda a, b: combine(shared, a, b), devices)))


def _device(value: Any) -> Any:
    if type(value) in TENSORS:
        return value_of(value).device
    return value.device if type(value) is Unknown else None
