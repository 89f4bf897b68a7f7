"""Tensors made from data that exists: Python numbers and lists, numpy arrays, other tensors."""

from __future__ import annotations

from collections.abc import Callable

from device_lens.domain.device import CPU, UNKNOWN_DEVICE, DeviceTree, widen_device
from device_lens.domain.guard import Guarded, combine, leaves
from device_lens.domain.heap import Instance, ListObject, contents
from device_lens.domain.values import ARRAY, Const, HostArray, Tensor, TupleValue, Unknown
from device_lens.models import dtypes, gradient
from device_lens.models.call import Call, Model, Value, is_none, tensor_of, treated_as_tensor
from device_lens.models.numbers import is_number
from device_lens.models.operands import collect
from device_lens.models.registry import FUNCTIONS
from device_lens.models.shapes.extent import ANY, SOME, Extent, exactly, sizes
from device_lens.models.signature import Bound, signature
from device_lens.models.torch.creation import make
from device_lens.models.torch.target import asked, factory_device
from device_lens.models.torch.transfers import Conversion, convert
from device_lens.models.wording import operation as worded

_DATA = "data, dtype, device, requires_grad, *, pin_memory, copy"


def _bound(call: Call, parameters: str) -> Bound:
    bound = Bound(signature(parameters), call)
    for other in ("obj", "input"):
        if "data" not in bound.values and other in bound.values:
            bound.values["data"] = bound.values[other]
    return bound


def tensor(call: Call) -> Value:
    """`torch.tensor(data)`: copies. Another tensor's copy stays on its device, unless a default
    device is set."""
    bound = _bound(call, "data, *, dtype, device, requires_grad, pin_memory")
    _read_items(call, bound.get("data"))
    return _make(bound, _kept_device(bound.get("data"), False))


def _read_items(call: Call, data: Value) -> None:
    """The numbers of tensors in a list are read one by one, each of which waits for the device."""
    tensors = (item for item in contents(data) if tensor_of(item) is not None)
    item = next(filter(treated_as_tensor, tensors), None)
    if item is not None:
        call.services.synchronize(worded(call.name), item, 0)


def as_tensor(call: Call) -> Value:
    """`as_tensor` and `asarray`: the very tensor where it already is what is asked for, by a
    default device too."""
    bound = _bound(call, _DATA)
    data = bound.get("data")
    found = tensor_of(data)
    if found is None:
        return _make(bound, _kept_device(data, True))
    if not call.complete:
        return found.with_(device=UNKNOWN_DEVICE)
    device = asked(call.services, bound.get("device"), _placed(call, found.device))
    wants_dtype = not is_none(bound.get("dtype"))
    return convert(call, data, Conversion(device, dtypes.named(bound.get("dtype")), wants_dtype))


def _kept_device(data: Value, alias: bool) -> DeviceTree | None:
    """Where data that may be a tensor keeps the result; None where it surely is none."""
    found = tensor_of(data)
    if found is not None and (alias or treated_as_tensor(data)):
        return found.device
    if is_number(data):
        return None
    if alias and (isinstance(data, Unknown) or _may_be_tensor(data)):
        return UNKNOWN_DEVICE
    return UNKNOWN_DEVICE if any(map(_is_sliced, leaves(data))) else None


def _placed(call: Call, kept: DeviceTree) -> DeviceTree:
    """Where a tensor comes to be that these functions are given without a device: a default device
    other than the CPU is what they then ask for (`torch/utils/_device.py`), a default tensor type
    is not."""
    default = call.services.default_device()
    if default == call.services.default_type_device():
        return kept
    return widen_device(combine(lambda here, there: there if here is CPU else here, default, kept))


def _is_sliced(data: Value) -> bool:
    """Whether it is an unknown that was sliced in several dimensions: no list is."""
    return type(data) is Unknown and data.fields is not None and ARRAY in data.fields


def _may_be_tensor(data: Value) -> bool:
    if isinstance(data, Guarded):
        return any(isinstance(leaf, (Unknown, Tensor)) for leaf in leaves(data))
    return isinstance(data, Instance)


def _make(bound: Bound, kept: DeviceTree | None) -> Value:
    device, by_default = factory_device(bound)
    if kept is not None and is_none(bound.get("device")) and bound.call.complete:
        device, by_default = _placed(bound.call, kept), False
    extent, dtype = described(bound.get("data"))
    return make(bound, extent, dtype, device, by_default)


def described(data: Value) -> tuple[Extent, str | None]:
    """Extent and dtype of the tensor that nested Python data becomes."""
    found = tensor_of(data)
    if found is not None and not isinstance(data, Unknown):
        return (found.shape, found.zero_dim), found.dtype
    if isinstance(data, HostArray):
        return (data.shape, data.zero_dim), data.dtype
    if isinstance(data, Const):
        return exactly(()), dtypes.of_constant(data.value)
    if is_number(data):
        return exactly(()), None
    if isinstance(data, (TupleValue, ListObject)):
        return _described_items(data)
    return ANY, None


def _described_items(data: TupleValue | ListObject) -> tuple[Extent, str | None]:
    rest = data.rest if isinstance(data, ListObject) else None
    if not data.items:
        if rest is None:
            return exactly((0,)), dtypes.DEFAULT
        (inner, _), dtype = described(rest)
        return (SOME if inner is None else exactly((None, *inner))), dtype
    (inner, _), dtype = described(data.items[0])
    if any(described(item)[1] != dtype for item in data.items[1:]):
        dtype = None
    count = len(data.items) if rest is None else None
    return (SOME if inner is None else exactly((count, *inner))), dtype


def from_host(call: Call) -> Value:
    """`from_numpy`, `frombuffer`, `from_file`: a view of host memory, whatever the default is."""
    bound = _bound(call, "data, *, dtype, count, offset, requires_grad, pin_memory, device")
    extent, dtype = described(bound.get("data"))
    if call.name.endswith("frombuffer"):
        extent = exactly((None,))
    return make(bound, extent, dtype, CPU, False)


def from_dlpack(call: Call) -> Value:
    bound = _bound(call, "data, *, device, copy")
    found = tensor_of(bound.get("data"))
    if is_none(bound.get("device")):
        device = found.device if found is not None else UNKNOWN_DEVICE
    else:
        device, _ = factory_device(bound)
    return make(bound, ANY, found.dtype if found else None, device, False)


def sparse(call: Call) -> Value:
    """`sparse_coo_tensor(indices, values, size)` and the compressed formats: where their values
    are, unless `device=` says otherwise."""
    several = "coo" not in call.name
    head = "@compressed, @plain, @values" if several else "@indices, @values"
    bound = Bound(signature(f"{head}, size, *, dtype, layout, device, requires_grad"), call)
    operands = collect(bound)
    kept = operands.check(worded(call.name)) if operands.agreeing else None
    device, by_default = factory_device(bound)
    if kept is not None and is_none(bound.get("device")) and call.complete:
        device, by_default = _placed(bound.call, kept), False
    values = bound.tensors.get("values")
    dtype = described(bound.get("values"))[1] if values is None else values.dtype
    found = make(bound, SOME, dtype, device, by_default)
    if bound.given("requires_grad"):
        return found
    needs, leaf = gradient.of_result(call.services, operands.tensors, dtype)
    return found.with_(requires_grad=needs, leaf=leaf)


def legacy(dtype: str, home: Callable[[Call], DeviceTree]) -> object:
    """The model of a constructor such as `torch.FloatTensor`, which creates at `home` whatever the
    default device is; sizes or data are its arguments."""

    def model(call: Call) -> Value:
        bound = Bound(signature("...data, *, device"), call)
        data = call.args or _by_keyword(call)
        other = tensor_of(data[0]) if len(data) == 1 else None
        if other is not None and call.name == "torch.Tensor":
            is_any = type(data[0]) is Unknown and not treated_as_tensor(data[0])
            numbers = is_any and other.device is not CPU  # a list of them is as likely as a tensor
            return other.with_(device=UNKNOWN_DEVICE) if numbers else other
        if "size" in call.kwargs:
            extent = sizes((call.kwargs["size"],))
        elif len(data) == 1 and not is_number(data[0]):
            extent, _ = described(data[0])
        else:
            extent = exactly(value.value if type(value) is Const else None for value in data)
        where = asked(call.services, bound.get("device"), home(call))
        return make(bound, extent, dtype, where, False)

    return model


def _by_keyword(call: Call) -> tuple[Value, ...]:
    """What such a constructor is given by its name: data, or another tensor."""
    return tuple(call.kwargs[name] for name in ("data", "other") if name in call.kwargs)


def legacy_sparse(dtype: str, home: Callable[[Call], DeviceTree]) -> Model:
    """The model of a constructor such as `torch.sparse.FloatTensor`: what it makes is where the
    indices and values are that it is given, or at `home` if it is given a size alone."""

    def model(call: Call) -> Value:
        bound = Bound(signature("...data, *, device"), call)
        indices = call.args[0] if call.args else None
        given = tensor_of(indices) if indices is not None else None
        where: DeviceTree = home(call)
        if given is not None:
            where = given.device
        elif type(indices) is Unknown:
            where = UNKNOWN_DEVICE
        return make(bound, ANY, dtype, asked(call.services, bound.get("device"), where), False)

    return model


def _default_type(call: Call) -> DeviceTree:
    return call.services.default_type_device()


def _host(call: Call) -> DeviceTree:
    return CPU


def _current_cuda(call: Call) -> DeviceTree:
    return call.services.current_cuda()


def register_all() -> None:
    FUNCTIONS["torch.tensor"] = tensor
    FUNCTIONS["torch.as_tensor"] = FUNCTIONS["torch.asarray"] = as_tensor
    for name in ("coo", "csr", "csc", "bsr", "bsc", "compressed"):
        FUNCTIONS[f"torch.sparse_{name}_tensor"] = sparse
    for name in ("from_numpy", "frombuffer", "from_file"):
        FUNCTIONS[f"torch.{name}"] = from_host
    FUNCTIONS["torch.from_dlpack"] = FUNCTIONS["torch.utils.dlpack.from_dlpack"] = from_dlpack
    FUNCTIONS["torch.Tensor"] = legacy(dtypes.DEFAULT, _default_type)  # type: ignore[assignment]
    for name, dtype in dtypes.TENSOR_TYPES.items():
        FUNCTIONS[f"torch.{name}"] = legacy(dtype, _host)  # type: ignore[assignment]
        FUNCTIONS[f"torch.cuda.{name}"] = legacy(dtype, _current_cuda)  # type: ignore[assignment]
        FUNCTIONS[f"torch.sparse.{name}"] = legacy_sparse(dtype, _host)
        FUNCTIONS[f"torch.cuda.sparse.{name}"] = legacy_sparse(dtype, _current_cuda)
