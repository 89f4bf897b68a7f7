"""Seeds and generators."""

from __future__ import annotations

from device_lens.domain.device import CPU
from device_lens.domain.values import NONE, DeviceValue, Tensor
from device_lens.models.call import Call, Value, tensor_of
from device_lens.models.operands import demand_host
from device_lens.models.registry import ATTRIBUTES, FUNCTIONS
from device_lens.models.torch.conversions import device_argument
from device_lens.models.torch.objects import class_model, instance, itself, unknown
from device_lens.models.wording import created

GENERATOR = "torch.Generator"


def _generator(call: Call) -> Value:
    """On the host unless `device=` says otherwise: the default device does not matter."""
    device = device_argument(call) or CPU
    made = instance(call, GENERATOR, device=DeviceValue(device))
    made.fields["<trail>"] = call.trail("created", created(GENERATOR, device))
    return made


def _default_generator(call: Call) -> Value:
    return instance(call, GENERATOR, device=DeviceValue(CPU))


def _state(call: Call) -> Value:
    """The state of a generator is a tensor of bytes on the host."""
    return Tensor(CPU, "uint8", (None,))


def _restore(call: Call) -> Value:
    """A state is bytes on the host, that of a device's generator too (`set_state` of
    `aten/src/ATen/cuda/CUDAGeneratorImpl.cpp` asks for a CPU tensor)."""
    value = call.get(0, "new_state")
    tensor = tensor_of(value)
    if tensor is not None:
        placed = tensor, value, 0 if call.args else "new_state"
        demand_host(call.services, call.name, placed, placed)
    return NONE


def register_all() -> None:
    FUNCTIONS[GENERATOR] = _generator
    ATTRIBUTES["torch.default_generator"] = _default_generator
    for name in ("torch.manual_seed", "torch.random.manual_seed"):
        FUNCTIONS[name] = _default_generator
    FUNCTIONS[f"{GENERATOR}.manual_seed"] = itself
    FUNCTIONS[f"{GENERATOR}.seed"] = FUNCTIONS["torch.seed"] = unknown
    FUNCTIONS[f"{GENERATOR}.initial_seed"] = FUNCTIONS["torch.initial_seed"] = unknown
    for name in (f"{GENERATOR}.get_state", "torch.get_rng_state", "torch.random.get_rng_state"):
        FUNCTIONS[name] = _state
    for name in ("torch.set_rng_state", "torch.random.set_rng_state", "torch.cuda.set_rng_state"):
        FUNCTIONS[name] = _restore
    FUNCTIONS[f"{GENERATOR}.set_state"] = _restore
    FUNCTIONS["torch.random.fork_rng"] = class_model("torch.random.fork_rng")
