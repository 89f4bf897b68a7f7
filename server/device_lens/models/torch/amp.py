"""Mixed precision: it changes dtypes, never devices."""

from __future__ import annotations

from device_lens.domain.code import BoundMethod, Function
from device_lens.domain.heap import DictObject
from device_lens.domain.values import NONE, TRUE, Partial
from device_lens.models.call import Call, Model, Value
from device_lens.models.registry import ALIASES, FUNCTIONS
from device_lens.models.torch.objects import first, instance, nothing, unknown

AUTOCAST = "torch.autocast"
SCALER = "torch.amp.GradScaler"
_AUTOCASTS = (
    "torch.amp.autocast",
    "torch.cuda.amp.autocast",
    "torch.cpu.amp.autocast",
    "torch.amp.autocast_mode.autocast",
    "torch.cuda.amp.autocast_mode.autocast",
)
_SCALERS = (
    "torch.cuda.amp.GradScaler",
    "torch.cpu.amp.GradScaler",
    "torch.cuda.amp.grad_scaler.GradScaler",
    "torch.amp.grad_scaler.GradScaler",
)


def _autocast(call: Call) -> Value:
    if call.args and type(call.args[0]) in (Function, BoundMethod, Partial):
        return call.args[0]
    return instance(call, AUTOCAST)


def _step(call: Call) -> Value:
    """`scaler.step(optimizer)` is a step of the optimizer."""
    optimizer = call.get(0, "optimizer")
    if optimizer is None:
        return NONE
    step = call.services.attribute(optimizer, "step")
    return call.services.invoke(step, call.args[1:], {})


def _custom(call: Call) -> Value:
    """`custom_fwd`, `custom_bwd`: decorators, with or without arguments."""
    if call.args and type(call.args[0]) in (Function, BoundMethod, Partial):
        return call.args[0]
    return instance(call, AUTOCAST)


METHODS: dict[str, Model] = {
    "scale": first,
    "step": _step,
    "unscale_": nothing,
    "update": nothing,
    "get_scale": unknown,
    "is_enabled": lambda call: TRUE,
    "state_dict": lambda call: DictObject({}, call.unknown(), call.site.node),
    "load_state_dict": nothing,
}


def register_all() -> None:
    FUNCTIONS[AUTOCAST] = _autocast
    FUNCTIONS[f"{AUTOCAST}.__call__"] = first
    FUNCTIONS[SCALER] = lambda call: instance(call, SCALER)
    for name, model in METHODS.items():
        FUNCTIONS[f"{SCALER}.{name}"] = model
    for name in _AUTOCASTS:
        ALIASES[name] = AUTOCAST
    for name in _SCALERS:
        ALIASES[name] = SCALER
    for namespace in ("torch.amp", "torch.cuda.amp"):
        FUNCTIONS[f"{namespace}.custom_fwd"] = FUNCTIONS[f"{namespace}.custom_bwd"] = _custom
    FUNCTIONS["torch.is_autocast_enabled"] = unknown
    FUNCTIONS["torch.get_autocast_dtype"] = unknown
