"""Tensor methods that move or convert: `to` in all its forms, `cuda`, `cpu`, `type`, `half` …"""

from __future__ import annotations

from dataclasses import dataclass

from device_lens.domain.device import (
    CPU,
    UNKNOWN_DEVICE,
    Agreement,
    Device,
    DeviceTree,
    agree,
    is_unknown,
    widen_device,
)
from device_lens.domain.guard import Guarded, combine, leaves, primary
from device_lens.domain.join import join
from device_lens.domain.unknowns import moved_whole
from device_lens.domain.values import (
    Const,
    DeviceValue,
    DtypeValue,
    External,
    Tensor,
    Unknown,
)
from device_lens.models import dtypes
from device_lens.models.call import Call, Model, Value, constant, is_none, tensor_of
from device_lens.models.registry import FUNCTIONS
from device_lens.models.torch.module import part_moved
from device_lens.models.torch.target import asked, some_cuda
from device_lens.models.torch.type_names import device_named, type_name
from device_lens.models.wording import moved


@dataclass(slots=True)
class Conversion:
    """What a `to` asks for. `device` and `dtype` None: stays as it is."""

    device: DeviceTree | None = None
    dtype: str | None = None
    converts: bool = False
    """A dtype is asked for, whether or not it is known which."""
    copies: bool = False
    relays: bool = False
    """A memory format is asked for, which may take a copy."""


def receiver_of(call: Call) -> tuple[Value, tuple[Value, ...]]:
    """The tensor that a method is called on, and the other positional arguments."""
    if call.receiver is not None:
        return call.receiver, call.args
    return (call.args[0], call.args[1:]) if call.args else (None, ())


def requested(call: Call, args: tuple[Value, ...]) -> Conversion:
    """Reads `to(device)`, `to(dtype)`, `to(device, dtype)`, `to(other)`, and keywords."""
    found = Conversion()
    for value in args[:2]:
        if type(value) is Const and isinstance(value.value, bool):
            break
        _read(call, found, value)
    for name in ("device", "dtype", "other", "tensor"):
        if name in call.kwargs:
            _read(call, found, call.kwargs[name])
    copy = call.kwargs.get("copy", args[3] if len(args) > 3 else None)
    found.relays = "memory_format" in call.kwargs
    found.copies = copy is not None and constant(copy) is not False
    if not call.complete and found.device is None:
        found.device = UNKNOWN_DEVICE
    return found


def _read(call: Call, found: Conversion, value: Value) -> None:
    """What one argument asks for. An unknown one is a device, unless it is called a dtype."""
    if is_none(value):
        return
    dtype = dtypes.named(value)
    if dtype is not None or type(value) is DtypeValue:
        found.dtype, found.converts = dtype, True
        return
    if is_called_dtype(value):
        found.converts = True
        return
    other = tensor_of(value) if not _device_like(value) else None
    if other is not None:
        found.device, found.dtype, found.converts = other.device, other.dtype, True
        if type(value) is Guarded and any(is_none(leaf) for leaf in leaves(value)):
            found.device = _where_any(value)
        return
    found.device = asked(call.services, value, found.device or UNKNOWN_DEVICE)


def is_called_dtype(value: Value) -> bool:
    """Whether an unknown has the name of a dtype, and so is taken for one."""
    return type(value) is Unknown and "dtype" in value.label.lower()


def _where_any(value: Guarded) -> DeviceTree:
    """Where a tensor is; unknown where there is none, which leaves alone what is moved to it."""

    def leaf(found: Value) -> DeviceTree:
        other = tensor_of(found)
        return UNKNOWN_DEVICE if other is None else other.device

    tree: DeviceTree = combine(leaf, value)
    return widen_device(tree)


def _device_like(value: Value) -> bool:
    if type(value) is Unknown:
        return not value.tensor_evidence
    return type(value) in (Const, DeviceValue)


def convert(call: Call, receiver: Value, wish: Conversion) -> Value:
    """`receiver` as `wish` has it: the very value where nothing changes."""
    if type(receiver) is Unknown and not receiver.tensor_evidence:
        if wish.device is None:
            return Unknown(receiver.label, receiver.device)
        part_moved(call.services, receiver, wish.device)
        return moved_whole(receiver.label, wish.device)
    tensor = tensor_of(receiver)
    if tensor is None:
        return call.unknown(UNKNOWN_DEVICE if wish.device is None else wish.device)
    stays = wish.device is None or (wish.device == tensor.device and not is_unknown(tensor.device))
    same_dtype = not wish.converts or (wish.dtype is not None and wish.dtype == tensor.dtype)
    if stays and same_dtype and not wish.copies:
        if not wish.relays:
            return receiver if wish.device is None else _placed(call, receiver, tensor)
        return tensor.with_(leaf=tensor.leaf if tensor.requires_grad is False else None)
    return _converted(call, tensor, wish, stays)


def _placed(call: Call, receiver: Value, tensor: Tensor) -> Value:
    """What a factory made and the program puts where it is: from then on it is there because the
    program says so."""
    trail = tensor.trail
    if type(receiver) is not Tensor or trail is None or trail.kind != "created":
        return receiver
    return tensor.with_(trail=call.trail("moved", moved(tensor.device), trail))


def _converted(call: Call, tensor: Tensor, wish: Conversion, stays: bool) -> Tensor:
    device = tensor.device if wish.device is None or stays else wish.device
    trail = tensor.trail
    if not stays:
        trail = call.trail("moved", moved(device), trail)
    dtype = wish.dtype if wish.converts else tensor.dtype
    needs, leaf = _gradient(call, tensor, dtype)
    if leaf is False and tensor.leaf is not False and not _surely_copies(tensor, wish):
        leaf = None
    return tensor.with_(
        device=device,
        dtype=dtype,
        trail=trail,
        pinned=tensor.pinned and stays and not wish.converts,
        default_made=tensor.default_made and stays,
        requires_grad=needs,
        leaf=leaf,
    )


def _surely_copies(tensor: Tensor, wish: Conversion) -> bool:
    """Whether the result cannot be the tensor itself, in the primary case."""
    if wish.copies or (None not in (tensor.dtype, wish.dtype) and tensor.dtype != wish.dtype):
        return True
    if wish.device is None:
        return False
    return agree(primary(wish.device), primary(tensor.device)) is Agreement.DIFFERENT


def _gradient(call: Call, tensor: Tensor, dtype: str | None) -> tuple[bool | None, bool | None]:
    """A copy of a leaf that requires grad is no leaf, unless autograd records nothing."""
    if dtypes.differentiable(dtype) is False or tensor.requires_grad is False:
        return False, True
    off = call.services.inference_mode()
    if off:
        return False, True
    if tensor.requires_grad is None or off is None:
        return None, None
    return True, False


def to(call: Call) -> Value:
    receiver, args = receiver_of(call)
    return convert(call, receiver, requested(call, args))


def cuda(call: Call) -> Value:
    """`cuda()`, `cuda(1)`, `cuda(device)`: the current CUDA device where none is named."""
    receiver, args = receiver_of(call)
    value = args[0] if args else call.kwargs.get("device")
    if type(value) is Const and isinstance(value.value, bool):
        value = None
    target = asked(call.services, some_cuda(value), call.services.current_cuda())
    return convert(call, receiver, Conversion(target))


def cpu(call: Call) -> Value:
    return convert(call, receiver_of(call)[0], Conversion(CPU))


def _accelerator(kind: str) -> Model:
    """The method of another accelerator: `xpu()`, `mtia()`."""

    def model(call: Call) -> Value:
        receiver, args = receiver_of(call)
        value = args[0] if args else call.kwargs.get("device")
        if is_none(value):
            return convert(call, receiver, Conversion(Device(kind)))
        index = constant(value)
        if type(index) is int:
            return convert(call, receiver, Conversion(Device(kind, index)))
        return convert(call, receiver, Conversion(asked(call.services, value, Device(kind))))

    return model


def _to_dtype(dtype: str) -> Model:
    def model(call: Call) -> Value:
        receiver, _ = receiver_of(call)
        relays = "memory_format" in call.kwargs
        return convert(call, receiver, Conversion(None, dtype, True, relays=relays))

    return model


def as_type(call: Call) -> Value:
    """`type(torch.half)` converts, `type("torch.cuda.FloatTensor")` moves too, `type()` tells.
    What is on a GPU already stays on that one, whichever is the current one."""
    receiver, args = receiver_of(call)
    value = args[0] if args else call.kwargs.get("dtype")
    if is_none(value):
        return type_name(tensor_of(receiver))
    return _typed(call, receiver, value)


def _typed(call: Call, receiver: Value, value: Value) -> Value:
    dtype = dtypes.named(value)
    if dtype is not None or type(value) is DtypeValue:
        return convert(call, receiver, Conversion(None, dtype, True))
    if type(value) is Guarded:
        yes, no = (_typed(call, receiver, side) for side in (value.yes, value.no))
        return join(Guarded(value.atom, True, False), yes, no)
    name = value.name if type(value) is External else constant(value)
    named = device_named(Const(name) if isinstance(name, str) else value)
    if named is None:
        return convert(call, receiver, Conversion(UNKNOWN_DEVICE, None, True))
    tensor, current = tensor_of(receiver), call.services.current_cuda()
    here = CPU if tensor is None else tensor.device
    device: DeviceTree = widen_device(combine(_typed_device, named, here, current))
    dtype = dtypes.TENSOR_TYPES[name.rpartition(".")[2]] if isinstance(name, str) else None
    return convert(call, receiver, Conversion(device, dtype, True))


def _typed_device(named: DeviceTree, here: DeviceTree, current: DeviceTree) -> DeviceTree:
    """Where a tensor that is `here` goes by the kind of a device."""
    if named is here:
        return here
    if not isinstance(named, Device):
        return UNKNOWN_DEVICE
    if _is_cuda(named):
        return here if _is_cuda(here) else current
    return named if named is CPU else UNKNOWN_DEVICE


def _is_cuda(device: DeviceTree) -> bool:
    return type(device) is Device and device.type == "cuda"


def type_as(call: Call) -> Value:
    """The dtype and device of another tensor."""
    receiver, args = receiver_of(call)
    other = tensor_of(args[0] if args else call.kwargs.get("other"))
    if other is None:
        return convert(call, receiver, Conversion(UNKNOWN_DEVICE, None, True))
    return convert(call, receiver, Conversion(other.device, other.dtype, True))


def pin_memory(call: Call) -> Value:
    """A copy in page-locked host memory; a tensor on an accelerator has none."""
    receiver, _ = receiver_of(call)
    tensor = tensor_of(receiver)
    if tensor is None or (type(receiver) is Unknown and not receiver.tensor_evidence):
        return call.unknown(UNKNOWN_DEVICE if tensor is None else tensor.device)
    if tensor.pinned:
        return receiver
    needs, leaf = _gradient(call, tensor, tensor.dtype)
    return tensor.with_(pinned=True, requires_grad=needs, leaf=leaf)


CONVERSIONS = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "bfloat16": "bfloat16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "char": "int8",
    "byte": "uint8",
    "bool": "bool",
    "cfloat": "complex64",
    "cdouble": "complex128",
    "chalf": "complex32",
}


def register_all() -> None:
    methods: dict[str, Model] = {
        "to": to,
        "cuda": cuda,
        "cpu": cpu,
        "xpu": _accelerator("xpu"),
        "mtia": _accelerator("mtia"),
        "ipu": _accelerator("ipu"),
        "hpu": _accelerator("hpu"),
        "type": as_type,
        "type_as": type_as,
        "pin_memory": pin_memory,
    }
    methods.update((name, _to_dtype(dtype)) for name, dtype in CONVERSIONS.items())
    for name, model in methods.items():
        FUNCTIONS[f"torch.Tensor.{name}"] = model
