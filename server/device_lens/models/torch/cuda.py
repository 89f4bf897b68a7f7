"""`torch.cuda`, `torch.accelerator`, `torch.mps`, `torch.xpu`, `torch.backends`: the current
device, streams and events, memory."""

from __future__ import annotations

from device_lens.domain.device import Device, DeviceTree
from device_lens.domain.guard import combine
from device_lens.domain.values import NONE, Const, DeviceValue, Tensor, Unknown
from device_lens.models.call import Call, Value, device_of, is_none, tensor_of
from device_lens.models.registry import ALIASES, FUNCTIONS
from device_lens.models.torch.objects import (
    class_model,
    instance,
    itself,
    nothing,
    register_names,
    unknown,
)
from device_lens.models.torch.target import CURRENT_CUDA, present
from device_lens.models.words import words

_NAMESPACES = words("torch.cuda torch.accelerator torch.mps torch.xpu torch.cuda.memory")
_SILENT = """empty_cache reset_peak_memory_stats reset_max_memory_allocated ipc_collect
    reset_max_memory_cached reset_accumulated_memory_stats set_per_process_memory_fraction
    memory_summary init manual_seed manual_seed_all seed seed_all set_rng_state_all
    _lazy_init set_stream set_sync_debug_mode"""
_NUMBERS = """memory_allocated max_memory_allocated memory_reserved max_memory_reserved
    memory_cached max_memory_cached mem_get_info memory_stats memory_snapshot get_device_name
    get_device_properties get_device_capability get_arch_list is_initialized is_bf16_supported
    current_allocated_memory driver_allocated_memory recommended_max_memory utilization
    temperature power_draw clock_rate initial_seed nccl.version is_current_stream_capturing
    can_device_access_peer get_sync_debug_mode list_gpu_processes current_blas_handle"""
_STREAM_METHODS = """wait_event wait_stream record query synchronize wait elapsed_time ipc_handle
    record_event"""
STREAM = "torch.cuda.Stream"
EVENT = "torch.cuda.Event"
GRAPH = "torch.cuda.CUDAGraph"


def ordinal_device(value: Value) -> DeviceTree | None:
    """The CUDA device that `torch.cuda.device(x)` or `set_device(x)` names; None for "no change"
    (None, -1, `cuda` without an index)."""
    if is_none(value) or (type(value) is Const and value.value == -1):
        return None
    device = device_of(value)
    return None if device is CURRENT_CUDA else device


def _set_device(call: Call) -> Value:
    """With a number that is not known, `cuda` means the current device, whichever that is."""
    present = call.services.current_cuda()

    def selected(leaf: Value) -> DeviceTree:
        device = CURRENT_CUDA if type(leaf) is Unknown else ordinal_device(leaf)
        return present if device is None else device

    call.services.set_global("current_cuda", combine(selected, call.get(0, "device")))
    return NONE


def _current_device(call: Call) -> Value:
    device = call.services.current_cuda()
    if isinstance(device, Device) and device.index is not None:
        return Const(device.index)
    if isinstance(device, Device) and not call.services.is_called_unseen():
        return Const(0)
    number = Unknown("torch.cuda.current_device()")
    number.fields = {"<as device>": device}
    return number


def _device_context(call: Call) -> Value:
    """`torch.cuda.device(i)`: inside its block `cuda` is GPU `i`."""
    device = ordinal_device(call.get(0, "device"))
    if device is None:
        device = call.services.current_cuda()
    return _context(call, device)


def _context(call: Call, device: DeviceTree) -> Value:
    made = instance(call, "torch.cuda.device")
    made.fields["<device>"] = device
    made.fields["idx"] = DeviceValue(device)
    return made


def _device_of(call: Call) -> Value:
    """`torch.cuda.device_of(x)`: inside its block `cuda` is the GPU of `x`, if it is on one."""
    tensor = tensor_of(call.get(0, "obj"))
    if tensor is not None and isinstance(tensor.device, Device) and tensor.device.type == "cuda":
        return _context(call, present(call.services, tensor.device))
    return _context(call, call.services.current_cuda())


def _synchronize(call: Call) -> Value:
    """Waits for the device: every host read before it is safe after it."""
    subject = Tensor(call.services.current_cuda())
    call.services.synchronize(f"{call.name}()", subject, -1)
    return NONE


def _record(call: Call) -> Value:
    return instance(call, EVENT)


def register_all() -> None:
    for namespace in _NAMESPACES:
        register_names(namespace, _SILENT, nothing)
        register_names(namespace, _NUMBERS, unknown)
        FUNCTIONS[f"{namespace}.synchronize"] = _synchronize
        FUNCTIONS[f"{namespace}.current_stream"] = class_model(STREAM)
        FUNCTIONS[f"{namespace}.default_stream"] = class_model(STREAM)
        FUNCTIONS[f"{namespace}.Stream"] = class_model(STREAM)
        FUNCTIONS[f"{namespace}.Event"] = class_model(EVENT)
        FUNCTIONS[f"{namespace}.stream"] = class_model("torch.cuda.StreamContext")
    for name in words("torch.cuda.set_device torch.accelerator.set_device_index"):
        FUNCTIONS[name] = _set_device
    ALIASES["torch.accelerator.set_device_idx"] = "torch.accelerator.set_device_index"
    for name in words("torch.cuda.current_device torch.accelerator.current_device_index"):
        FUNCTIONS[name] = _current_device
    ALIASES["torch.accelerator.current_device_idx"] = "torch.accelerator.current_device_index"
    FUNCTIONS["torch.cuda.device"] = _device_context
    FUNCTIONS["torch.accelerator.device_index"] = _device_context
    FUNCTIONS["torch.cuda.device_of"] = _device_of
    for name in (STREAM, EVENT):
        register_names(name, _STREAM_METHODS, nothing)
    FUNCTIONS[f"{STREAM}.record_event"] = _record
    FUNCTIONS[f"{STREAM}.query"] = FUNCTIONS[f"{EVENT}.query"] = unknown
    FUNCTIONS[f"{EVENT}.elapsed_time"] = unknown
    ALIASES["torch.Stream"], ALIASES["torch.Event"] = STREAM, EVENT
    FUNCTIONS[GRAPH] = class_model(GRAPH)
    register_names(GRAPH, "replay reset capture_begin capture_end", nothing)
    FUNCTIONS["torch.cuda.graph"] = class_model("torch.cuda.graph")
    FUNCTIONS["torch.cuda.nvtx.range_push"] = FUNCTIONS["torch.cuda.nvtx.range_pop"] = nothing
    FUNCTIONS["torch.cuda.nvtx.range"] = class_model("torch.cuda.nvtx.range")
    FUNCTIONS["torch.cuda.get_rng_state"] = _rng_state
    FUNCTIONS["torch.cuda.comm.broadcast"] = itself


def _rng_state(call: Call) -> Value:
    from device_lens.domain.device import CPU

    return Tensor(CPU, "uint8", (None,))
