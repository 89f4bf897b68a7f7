"""torchinfo: `summary` runs the model where it chooses, and leaves it there."""

from __future__ import annotations

from device_lens.domain.device import UNKNOWN_DEVICE, is_accelerator
from device_lens.domain.guard import leaves
from device_lens.domain.heap import ModuleObject
from device_lens.models.call import Call, Value, is_none
from device_lens.models.registry import FUNCTIONS
from device_lens.models.torch import target
from device_lens.models.torch.module import lose, move
from device_lens.models.torch.parts import home_device


def _summary(call: Call) -> Value:
    """With an input to try, a model on the host goes to an accelerator if there is one."""
    model = call.get(0, "model")
    given = (call.get(1, "input_size"), call.get(2, "input_data"))
    if type(model) is not ModuleObject or all(map(is_none, given)):
        return call.unknown()
    asked = call.kwargs.get("device")
    here = home_device(model)
    if not is_none(asked):
        move(call.services, model, target.asked(call.services, asked, UNKNOWN_DEVICE))
    elif here is None or not all(map(is_accelerator, leaves(here))):
        lose(call.services, model)
    return call.unknown()


def register_all() -> None:
    FUNCTIONS["torchinfo.summary"] = FUNCTIONS["torchinfo.torchinfo.summary"] = _summary
