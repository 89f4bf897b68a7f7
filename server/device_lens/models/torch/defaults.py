"""State of the whole program: the default device and dtype."""

from __future__ import annotations

from functools import partial

from device_lens.domain.device import CPU, UNKNOWN_DEVICE, DeviceTree
from device_lens.domain.guard import combine
from device_lens.domain.values import NONE, Const, DeviceValue, DtypeValue, External
from device_lens.models.call import Call, Value, is_none
from device_lens.models.registry import FUNCTIONS
from device_lens.models.torch.objects import itself, nothing, register_names
from device_lens.models.torch.target import CURRENT_CUDA, asked, present

_SILENT = """set_num_threads set_num_interop_threads set_printoptions set_deterministic
    use_deterministic_algorithms set_float32_matmul_precision set_flush_denormal
    set_deterministic_debug_mode set_warn_always set_default_dtype"""

MODES = ("torch.overrides.TorchFunctionMode", "torch.utils._python_dispatch.TorchDispatchMode")
"""Classes of managers that programs derive from, through which all functions are called."""


def _set_default_device(call: Call) -> Value:
    value = call.get(0, "device")
    device = call.services.default_type_device() if is_none(value) else None
    device = asked(call.services, value, UNKNOWN_DEVICE) if device is None else device
    call.services.set_global("default_device", device)
    return NONE


def _get_default_device(call: Call) -> Value:
    """The CPU where the default tensor type alone decides, of which it knows nothing. Which of the
    two was set is not remembered where both name the same device."""
    device = call.services.default_device()
    same = device == call.services.default_type_device()
    return DeviceValue(UNKNOWN_DEVICE if same and device is not CPU else device)


def _set_default_tensor_type(call: Call) -> Value:
    """`torch.cuda.FloatTensor` makes factories, and `torch.Tensor`, create on the current GPU."""
    device = combine(partial(_device_of_type, call), call.get(0, "t"))
    call.services.set_global("default_device", device)
    call.services.set_global("default_type", device)
    return NONE


def _device_of_type(call: Call, value: Value) -> DeviceTree:
    name = value.value if type(value) is Const else getattr(value, "name", "")
    if not isinstance(value, Const | External) or not isinstance(name, str):
        return UNKNOWN_DEVICE
    return present(call.services, CURRENT_CUDA) if ".cuda." in name else CPU


def register_all() -> None:
    FUNCTIONS["torch.set_default_device"] = _set_default_device
    FUNCTIONS["torch.get_default_device"] = _get_default_device
    FUNCTIONS["torch.set_default_tensor_type"] = _set_default_tensor_type
    FUNCTIONS["torch.get_default_dtype"] = lambda call: DtypeValue("float32")
    for mode in MODES:
        FUNCTIONS.update({f"{mode}.__enter__": itself, f"{mode}.__exit__": nothing})
    register_names("torch", _SILENT, nothing)
    register_names("torch.backends.cuda", "enable_flash_sdp enable_math_sdp", nothing)
