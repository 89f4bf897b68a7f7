"""What a program asks about a tensor: sizes, kinds, dtypes. None of it waits for the device."""

from __future__ import annotations

from collections.abc import Callable

from device_lens.domain.device import ANY_INDEX, Device, DeviceTree
from device_lens.domain.guard import combine
from device_lens.domain.heap import ListObject, Parameter
from device_lens.domain.parameters import set_tensor
from device_lens.domain.values import Const, DtypeValue, HostArray, Tensor, Unknown
from device_lens.models import dtypes
from device_lens.models.call import Call, Model, Value, constant, tensor_of
from device_lens.models.numbers import fraction, number, of_dimension, size_of, whole_number
from device_lens.models.registry import FUNCTIONS
from device_lens.models.shapes.extent import axis, multiply
from device_lens.models.torch.transfers import receiver_of
from device_lens.models.wording import operation as worded

_Query = Callable[[Call, Tensor], Value]


def _query(query: _Query) -> Model:
    def model(call: Call) -> Value:
        tensor = tensor_of(receiver_of(call)[0] or call.kwargs.get("input"))
        return call.unknown() if tensor is None else query(call, tensor)

    return model


def _size(call: Call, tensor: Tensor) -> Value:
    """`size()` is the shape, `size(dim)` one of its sizes."""
    args = receiver_of(call)[1]
    which = args[0] if args else call.kwargs.get("dim")
    if which is None:
        return size_of(tensor.shape, tensor.zero_dim, call.site.node)
    if tensor.zero_dim is None:
        call.services.has_dimensions(-1 if call.receiver is not None else 0)
    position = constant(which)
    if tensor.shape is None or not isinstance(position, int):
        return number("size")
    at = axis(position, len(tensor.shape))
    return number("size") if at is None else of_dimension(tensor.shape[at])


def _count(call: Call, tensor: Tensor) -> Value:
    total = multiply(tensor.shape) if tensor.shape is not None else None
    return number("numel") if total is None else Const(total)


def _rank(call: Call, tensor: Tensor) -> Value:
    if tensor.shape is not None:
        return Const(len(tensor.shape))
    return Const(0) if tensor.zero_dim else number("dim")


def _length(call: Call, tensor: Tensor) -> Value:
    return of_dimension(tensor.shape[0]) if tensor.shape else number("len")


def _of_kind(kinds: tuple[int, ...]) -> _Query:
    def query(call: Call, tensor: Tensor) -> Value:
        rank = dtypes.rank(tensor.dtype)
        return Unknown() if rank is None else Const(rank in kinds)

    return query


def _item(call: Call, tensor: Tensor) -> Value:
    call.services.synchronize(worded(call.name), receiver_of(call)[0], -1)
    made = (Unknown, whole_number, fraction, number)
    rank = dtypes.rank(tensor.dtype)
    return number("item") if rank is None else made[rank]("item")


def _list(call: Call, tensor: Tensor) -> Value:
    """`tolist()`: a number, or lists in lists for the dimensions that are known."""
    call.services.synchronize(worded(call.name), receiver_of(call)[0], -1)
    if tensor.zero_dim is not False:
        return number("a number") if tensor.zero_dim else call.unknown()
    if tensor.shape is None:
        return ListObject((), call.unknown(), "list", call.site.node)
    item: Value = number("a number")
    for _ in tensor.shape:
        item = ListObject((), item, "list", call.site.node)
    return item


def _array(call: Call, tensor: Tensor) -> Value:
    """The same memory as a numpy array: only from the host, unless `force=True` copies it there."""
    receiver, args = receiver_of(call)
    if constant(call.kwargs.get("force", args[0] if args else None)) is not True:
        call.services.host_read(worded(call.name), receiver, -1)
    return HostArray(tensor.dtype, tensor.shape, tensor.trail, tensor.zero_dim)


def _kind(call: Call, tensor: Tensor) -> Value:
    """`get_device()`: the ordinal, -1 on the host."""

    def ordinal(found: DeviceTree) -> Value:
        if not isinstance(found, Device) or found.index == ANY_INDEX:
            return number("device")
        return Const(-1 if found.type in ("cpu", "meta") else found.index or 0)

    return combine(ordinal, tensor.device)


def _requires_grad(call: Call) -> Value:
    """`requires_grad_(flag)`: the tensor, with the flag set; a parameter has it for whoever knows
    it."""
    receiver, args = receiver_of(call)
    given = args[0] if args else call.kwargs.get("requires_grad")
    flag = True if given is None else constant(given)
    if type(receiver) is Parameter:
        kept = flag if isinstance(flag, bool) else None
        changed = receiver.tensor.with_(requires_grad=kept)
        every = call.services.does_to_each(receiver)
        set_tensor(call.services.journal, receiver, changed, every)
    if type(receiver) is not Tensor:
        return receiver
    if isinstance(flag, bool):
        changed = receiver.with_(requires_grad=flag)
    else:
        changed = receiver.with_(requires_grad=None, leaf=None)
    call.services.changed_in_place(receiver, changed)
    return changed


def _detached(call: Call) -> Value:
    """`detach()`: the same memory outside the graph."""
    receiver, _ = receiver_of(call)
    tensor = tensor_of(receiver if receiver is not None else call.kwargs.get("input"))
    if tensor is None:
        return call.unknown()
    return tensor.with_(requires_grad=False, leaf=True)


def _detach_in_place(call: Call) -> Value:
    """`detach_()`: the tensor itself leaves the graph."""
    receiver, _ = receiver_of(call)
    if type(receiver) is not Tensor:
        return receiver
    changed = receiver.with_(requires_grad=False, leaf=True)
    call.services.changed_in_place(receiver, changed)
    return changed


def _result_type(call: Call) -> Value:
    tensors = [found for found in map(tensor_of, call.args) if found is not None]
    scalars = [value for value in call.args if tensor_of(value) is None]
    return DtypeValue(dtypes.promote(tensors, scalars))


def _promoted(call: Call) -> Value:
    """`torch.promote_types(a, b)`."""
    left, right = map(dtypes.named, (call.get(0, "type1"), call.get(1, "type2")))
    if left is None or right is None:
        return DtypeValue(None)
    return DtypeValue(dtypes.promoted(left, right))


def _host(call: Call) -> Value:
    return call.unknown()


_QUERIES: dict[str, _Query] = {
    "numel": _count,
    "is_floating_point": _of_kind((2,)),
    "is_complex": _of_kind((3,)),
    "get_device": _kind,
}
_METHODS: dict[str, _Query] = {
    "size": _size,
    "nelement": _count,
    "dim": _rank,
    "ndimension": _rank,
    "__len__": _length,
    "item": _item,
    "tolist": _list,
    "numpy": _array,
    "__array__": _array,
}
_HOST = """
    is_tensor is_storage is_conj is_neg is_inference is_distributed is_same_size is_signed can_cast
    broadcast_shapes typename get_default_dtype get_default_device
    is_grad_enabled is_inference_mode_enabled initial_seed seed manual_seed get_num_threads
    set_num_threads set_printoptions sym_int sym_float sym_max sym_min sym_not sym_ite _sym_sqrt
"""


def register_all() -> None:
    for name, query in _QUERIES.items():
        FUNCTIONS[f"torch.{name}"] = FUNCTIONS[f"torch.Tensor.{name}"] = _query(query)
    for name, query in _METHODS.items():
        FUNCTIONS[f"torch.Tensor.{name}"] = _query(query)
    FUNCTIONS["torch.Tensor.requires_grad_"] = _requires_grad
    FUNCTIONS["torch.Tensor.detach"] = FUNCTIONS["torch.detach"] = _detached
    FUNCTIONS["torch.Tensor.detach_"] = FUNCTIONS["torch.detach_"] = _detach_in_place
    FUNCTIONS["torch.result_type"] = _result_type
    FUNCTIONS["torch.promote_types"] = _promoted
    for name in _HOST.split():
        FUNCTIONS.setdefault(f"torch.{name}", _host)
