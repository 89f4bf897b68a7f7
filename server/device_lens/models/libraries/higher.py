"""higher: copies of a model that an inner loop trains while the graph is kept, for meta-learning.

Source: `innerloop_ctx` and `monkeypatch` of higher 0.2.1.
"""

from __future__ import annotations

from typing import Any

from device_lens.domain.device import UNKNOWN_DEVICE
from device_lens.domain.guard import combine
from device_lens.domain.heap import ModuleObject
from device_lens.domain.values import NONE, TupleValue
from device_lens.models.call import Call, Value, is_none
from device_lens.models.registry import ALIASES, FUNCTIONS
from device_lens.models.torch import target
from device_lens.models.torch.copying import deep_copy
from device_lens.models.torch.module import move
from device_lens.models.torch.objects import class_model, instance, nothing

_OPTIMIZER = "higher.optim.DifferentiableOptimizer"


def _patched(call: Call, model: Value, device: Value) -> Value:
    """A copy of a model, where the model is or where it is asked to be."""
    memo: dict[int, Any] = {}

    def copied(leaf: Value) -> Value:
        made = deep_copy(leaf, memo)
        if not isinstance(made, ModuleObject):
            return call.unknown()
        if not is_none(device):
            there = target.asked(call.services, device, UNKNOWN_DEVICE)
            trail = call.trail("moved", "is copied there by `higher`")
            move(call.services, made, there, None, trail)
        return made

    return combine(copied, model)


def _monkeypatch(call: Call) -> Value:
    return _patched(call, call.get(0, "module", NONE), call.get(1, "device", NONE))


def _inner_loop(call: Call) -> Value:
    """`with higher.innerloop_ctx(model, optimizer) as (copy, differentiable)`."""
    made = _patched(call, call.get(0, "model", NONE), call.get(2, "device", NONE))
    return TupleValue((made, instance(call, _OPTIMIZER)))


def register_all() -> None:
    """Fills the registry."""
    FUNCTIONS["higher.innerloop_ctx"] = _inner_loop
    FUNCTIONS["higher.monkeypatch"] = _monkeypatch
    ALIASES["higher.patch.monkeypatch"] = "higher.monkeypatch"
    FUNCTIONS[_OPTIMIZER] = class_model(_OPTIMIZER)
    FUNCTIONS[f"{_OPTIMIZER}.step"] = nothing
