"""`torch.testing`: comparisons that raise where two tensors are not on one device."""

from __future__ import annotations

from device_lens.domain.values import NONE
from device_lens.models.agreement import Placed, common_device
from device_lens.models.call import Call, Value, constant, tensor_of
from device_lens.models.registry import FUNCTIONS


def _assert_close(call: Call) -> Value:
    """`assert_close(actual, expected)`, unless it is told not to look at the device."""
    given = call.kwargs.get("check_device")
    if not call.complete or (given is not None and constant(given) is not True):
        return NONE
    values = call.get(0, "actual"), call.get(1, "expected")
    actual, expected = map(tensor_of, values)
    if actual is not None and expected is not None:
        pair: list[Placed] = [
            (actual, values[0], call.place(0, "actual")),
            (expected, values[1], call.place(1, "expected")),
        ]
        common_device(call.services, "torch.testing.assert_close", pair, False)
    return NONE


def register_all() -> None:
    FUNCTIONS["torch.testing.assert_close"] = _assert_close
