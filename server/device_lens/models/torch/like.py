"""Factories that take after a tensor: `zeros_like`, `new_zeros` and their kin."""

from __future__ import annotations

from device_lens.domain.device import UNKNOWN_DEVICE, DeviceTree
from device_lens.domain.values import Tensor, Unknown
from device_lens.models.call import Call, Model, Value, is_none, tensor_of
from device_lens.models.numbers import is_number
from device_lens.models.registry import FUNCTIONS
from device_lens.models.shapes.extent import ANY, Extent, listed, of_tensor, sizes
from device_lens.models.signature import Bound, signature
from device_lens.models.torch.creation import make
from device_lens.models.torch.from_data import described
from device_lens.models.torch.target import asked
from device_lens.models.words import words

_OPTIONS = "*, dtype, layout, device, pin_memory, requires_grad, memory_format, generator"


def _base(bound: Bound) -> Tensor:
    """The tensor that is taken after; an unknown one stays unknown."""
    found = tensor_of(bound.get("input"))
    return found or Tensor(UNKNOWN_DEVICE, requires_grad=None, leaf=None)


def _device(bound: Bound, base: Tensor) -> tuple[DeviceTree, bool]:
    if is_none(bound.get("device")) and not bound.call.named_complete:
        return UNKNOWN_DEVICE, False
    device = asked(bound.call.services, bound.get("device"), base.device)
    return device, base.default_made and device is base.device


TAKING_AFTER = frozenset(
    words(
        """zeros_like ones_like empty_like rand_like randn_like full_like randint_like new_zeros
        new_ones new_empty new_full new_empty_strided new_tensor new"""
    )
)
"""Factories whose result is where a tensor is, unless `device=` says otherwise."""


def _made(
    bound: Bound, extent: Extent, base: Tensor, device: DeviceTree, by_default: bool
) -> Tensor:
    """The new tensor; where it is wherever the other is, so does its history go on."""
    made = make(bound, extent, base.dtype, device, by_default)
    if device is not base.device or made.trail is None:
        return made
    return made.with_(trail=made.trail.behind(base.trail))


def _tell(value: Value) -> None:
    """Only a tensor can be taken after: an unknown that is, is one."""
    if type(value) is Unknown:
        value.note()
        value.tensor_evidence = True


def _like(parameters: str) -> Model:
    def model(call: Call) -> Value:
        bound = Bound(signature(f"{parameters}, {_OPTIONS}"), call)
        _tell(bound.get("input"))
        base = _base(bound)
        device, by_default = _device(bound, base)
        return _made(bound, of_tensor(base), base, device, by_default)

    return model


def _new(parameters: str) -> Model:
    def model(call: Call) -> Value:
        bound = Bound(signature(f"{parameters}, {_OPTIONS}"), call)
        _tell(bound.get("input"))
        base = _base(bound)
        device, by_default = _device(bound, base)
        extent = sizes(listed(bound, "size")) if call.complete else ANY
        return _made(bound, extent, base, device, by_default)

    return model


def new_tensor(call: Call) -> Value:
    """`x.new_tensor(data)`: the data on the device and with the dtype of `x`."""
    bound = Bound(signature(f"input, data, {_OPTIONS}"), call)
    _tell(bound.get("input"))
    base = _base(bound)
    device, by_default = _device(bound, base)
    extent, _ = described(bound.get("data"))
    return _made(bound, extent, base, device, by_default)


def new(call: Call) -> Value:
    """The old `x.new(sizes or data)`."""
    bound = Bound(signature("input, ...size, *, device"), call)
    base = _base(bound)
    device, by_default = _device(bound, base)
    given = listed(bound, "size")
    extent = sizes(given) if given and all(map(is_number, given)) and call.complete else ANY
    return _made(bound, extent, base, device, by_default)


def register_all() -> None:
    for name in ("zeros", "ones", "empty", "rand", "randn"):
        FUNCTIONS[f"torch.{name}_like"] = _like("input")
    FUNCTIONS["torch.full_like"] = _like("input, fill_value")
    FUNCTIONS["torch.randint_like"] = _like("input, low, high")
    for name in ("zeros", "ones", "empty"):
        FUNCTIONS[f"torch.Tensor.new_{name}"] = _new("input, ...size")
    FUNCTIONS["torch.Tensor.new_full"] = _new("input, size, fill_value")
    FUNCTIONS["torch.Tensor.new_empty_strided"] = _new("input, size, stride")
    FUNCTIONS["torch.Tensor.new_tensor"] = new_tensor
    FUNCTIONS["torch.Tensor.new"] = new
