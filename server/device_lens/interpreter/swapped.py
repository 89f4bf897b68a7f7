"""`torch.utils.swap_tensors(a, b)`: each is the other from here on, whatever holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.device import UNKNOWN_DEVICE
from device_lens.domain.heap import Parameter
from device_lens.domain.parameters import set_tensor
from device_lens.domain.values import NONE, Tensor
from device_lens.interpreter import aliases
from device_lens.interpreter.dispatch import INTRINSICS
from device_lens.interpreter.frames import Frame
from device_lens.models.call import tensor_of

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


def _swap(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    pair = (*args, *kwargs.values())
    known = [tensor_of(each) for each in pair]
    for value, other in zip(pair, reversed(known), strict=True):
        if type(value) is Parameter:
            set_tensor(machine.journal, value, other or value.tensor.with_(device=UNKNOWN_DEVICE))
        elif type(value) is Tensor:
            aliases.lose_others(machine, value, other or Tensor())
    return NONE


INTRINSICS["torch.utils.swap_tensors"] = _swap
