"""Attributes of tensors that are read, not called."""

from __future__ import annotations

from collections.abc import Callable

from device_lens.domain.device import UNKNOWN_DEVICE, Device, DeviceTree, SymbolicDevice
from device_lens.domain.guard import Guarded, combine, undecided
from device_lens.domain.heap import Parameter
from device_lens.domain.values import (
    FALSE,
    NONE,
    TRUE,
    Const,
    DeviceValue,
    DtypeValue,
    Shape,
    Tensor,
    Unknown,
)
from device_lens.models import dtypes, gradient
from device_lens.models.call import Call, Model, Value, tensor_of
from device_lens.models.numbers import number, size_of
from device_lens.models.registry import ATTRIBUTES

_Reader = Callable[[Call, Tensor], Value]


def _attribute(reader: _Reader) -> Model:
    def model(call: Call) -> Value:
        tensor = tensor_of(call.receiver)
        return call.unknown() if tensor is None else reader(call, tensor)

    return model


def _device(call: Call, tensor: Tensor) -> Value:
    return DeviceValue(tensor.device, placed=True)


def is_on(kind: str, device: DeviceTree) -> Value:
    """Whether a device is of that type: a tree of constants."""

    def leaf(found: DeviceTree) -> Value:
        if isinstance(found, Device):
            return TRUE if found.type == kind else FALSE
        if isinstance(found, SymbolicDevice):
            return Guarded(found.is_of(kind), TRUE, FALSE)
        return Unknown()

    return combine(leaf, device)


def _is_on(kind: str) -> _Reader:
    return lambda call, tensor: is_on(kind, tensor.device)


def _shape(call: Call, tensor: Tensor) -> Value:
    return size_of(tensor.shape, tensor.zero_dim, call.site.node)


def _dtype(call: Call, tensor: Tensor) -> Value:
    return DtypeValue(tensor.dtype)


def _ndim(call: Call, tensor: Tensor) -> Value:
    if tensor.shape is not None:
        return Const(len(tensor.shape))
    return Const(0) if tensor.zero_dim else number("ndim")


def _view(call: Call, tensor: Tensor, shape: Shape) -> Value:
    needs, leaf = gradient.of_result(call.services, [tensor], tensor.dtype)
    return tensor.with_(
        shape=shape,
        zero_dim=tensor.zero_dim,
        requires_grad=needs,
        leaf=leaf,
    )


def _reversed(call: Call, tensor: Tensor) -> Value:
    return _view(call, tensor, None if tensor.shape is None else tensor.shape[::-1])


def _matrix_transposed(call: Call, tensor: Tensor) -> Value:
    shape = tensor.shape
    if shape is None or len(shape) < 2:
        return _view(call, tensor, shape)
    return _view(call, tensor, (*shape[:-2], shape[-1], shape[-2]))


def _part(call: Call, tensor: Tensor) -> Value:
    dtype = dtypes.to_real(tensor.dtype)
    needs, leaf = gradient.of_result(call.services, [tensor], dtype)
    return tensor.with_(dtype=dtype, requires_grad=needs, leaf=leaf)


def _data(call: Call, tensor: Tensor) -> Value:
    """The same memory without the autograd graph."""
    return tensor.with_(requires_grad=False, leaf=True)


def _grad(call: Call, tensor: Tensor) -> Value:
    """The gradient, which lives where the tensor does, or did before it was given data that is
    elsewhere."""
    device = UNKNOWN_DEVICE if tensor.grad_apart else tensor.device
    return tensor.with_(
        device=device,
        requires_grad=False,
        leaf=True,
        trail=None,
        default_made=False,
        grad_apart=False,
    )


def _boolean(value: bool | None) -> Value:
    return Unknown() if value is None else Const(value)


def _requires_grad(call: Call, tensor: Tensor) -> Value:
    return _boolean(tensor.requires_grad)


def _is_leaf(call: Call, tensor: Tensor) -> Value:
    return TRUE if type(call.receiver) is Parameter else _boolean(tensor.leaf)


def _undecided(call: Call, tensor: Tensor) -> Value:
    """What kinds of tensors differ in: sparse, nested, quantized ones are not told from others."""
    return combine(Const, undecided())


def _grad_fn(call: Call, tensor: Tensor) -> Value:
    return NONE if tensor.leaf is True else call.unknown()


def _number(call: Call, tensor: Tensor) -> Value:
    return number(call.name.rpartition(".")[2])


_READERS: dict[str, _Reader] = {
    "device": _device,
    "shape": _shape,
    "dtype": _dtype,
    "ndim": _ndim,
    "T": _reversed,
    "H": _reversed,
    "mT": _matrix_transposed,
    "mH": _matrix_transposed,
    "real": _part,
    "imag": _part,
    "data": _data,
    "grad": _grad,
    "requires_grad": _requires_grad,
    "is_leaf": _is_leaf,
    "nbytes": _number,
    "itemsize": _number,
    "output_nr": _number,
    "_version": _number,
    "grad_fn": _grad_fn,
    **dict.fromkeys(
        "is_sparse is_sparse_csr is_nested is_quantized is_mkldnn retains_grad volatile".split(),
        _undecided,
    ),
}
_TYPES = "cuda cpu mps xpu meta ipu xla mtia vulkan hpu maia"


def register_all() -> None:
    for name, reader in _READERS.items():
        ATTRIBUTES[f"torch.Tensor.{name}"] = _attribute(reader)
    for kind in _TYPES.split():
        ATTRIBUTES[f"torch.Tensor.is_{kind}"] = _attribute(_is_on(kind))
