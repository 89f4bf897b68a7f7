"""Seeds and generators."""

from __future__ import annotations

from device_lens.domain.device import CPU
from device_lens.domain.heap import Instance
from device_lens.domain.values import NONE, Const, DeviceValue, DtypeValue, Tensor
from device_lens.models.call import Call, Value, is_none, tensor_of
from device_lens.models.numbers import dimension
from device_lens.models.operands import demand_host
from device_lens.models.registry import ATTRIBUTES, FUNCTIONS
from device_lens.models.torch.conversions import device_argument
from device_lens.models.torch.objects import class_model, instance, itself, unknown
from device_lens.models.wording import created

GENERATOR = "torch.Generator"
SOBOL = "torch.quasirandom.SobolEngine"


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


def _sobol_engine(call: Call) -> Value:
    made = instance(call, SOBOL)
    made.fields["<dimension>"] = call.get(0, "dimension", NONE)
    return made


def _drawn(call: Call) -> Value:
    """Points of a Sobol sequence are on the host, whatever the default device is
    (`torch/quasirandom.py`)."""
    out = call.get(1, "out", NONE)
    if tensor_of(out) is not None:
        return out
    made = call.receiver.fields if isinstance(call.receiver, Instance) else {}
    count = call.get(0, "n", Const(1)) if call.name.endswith("draw") else NONE
    shape = dimension(count), dimension(made.get("<dimension>", NONE))
    dtype = call.get(2, "dtype", NONE)
    name = dtype.name if isinstance(dtype, DtypeValue) else "float32" if is_none(dtype) else None
    trail = call.trail("created", created("torch.quasirandom.SobolEngine.draw", CPU))
    return Tensor(CPU, name, shape, trail)


def register_all() -> None:
    FUNCTIONS[SOBOL] = _sobol_engine
    FUNCTIONS[f"{SOBOL}.draw"] = FUNCTIONS[f"{SOBOL}.draw_base2"] = _drawn
    FUNCTIONS[f"{SOBOL}.reset"] = FUNCTIONS[f"{SOBOL}.fast_forward"] = itself
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
