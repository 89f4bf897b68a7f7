"""A value in one of the cases that its conditions tell apart."""

from __future__ import annotations

from typing import Any

from device_lens.domain.guard import Guarded, Literals, assume_all
from device_lens.domain.values import Tensor


def where(value: Any, literals: Literals) -> Any:
    """A value, with the place of a tensor, in the case in which all literals hold."""
    if type(value) is Tensor and type(value.device) is Guarded:
        return value.with_(device=assume_all(value.device, literals))
    return assume_all(value, literals)
