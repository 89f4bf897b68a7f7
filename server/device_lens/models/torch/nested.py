"""`torch.nested`: tensors of several lengths in one, where the first of them is."""

from __future__ import annotations

from device_lens.domain.device import UNKNOWN_DEVICE
from device_lens.domain.values import Tensor
from device_lens.models.call import Call, Model, Value, tensor_of
from device_lens.models.registry import FUNCTIONS
from device_lens.models.signature import Bound, signature
from device_lens.models.table import register
from device_lens.models.torch.target import asked

TABLE = """
(@input, padding, output_size, out) -> some.keep
    to_padded_tensor
"""


def _made(parameters: str) -> Model:
    """A nested tensor of a list of tensors: on the device that is asked for, else on that of the
    first one, whatever the default device is."""

    def model(call: Call) -> Value:
        bound = Bound(signature(parameters), call)
        items, rest = call.services.iterate(bound.get("data"))
        first = tensor_of(items[0] if items else rest)
        if first is None or not call.complete:
            return call.unknown()
        device = asked(call.services, bound.get("device"), first.device)
        moved = device != first.device
        return Tensor(
            device,
            None if bound.given("dtype") else first.dtype,
            trail=None if moved or device is UNKNOWN_DEVICE else first.trail,
            requires_grad=None,
            leaf=None,
            zero_dim=False,
        )

    return model


def register_all() -> None:
    for namespace in ("torch.nested", "torch.Tensor"):
        register(TABLE, namespace)
    FUNCTIONS["torch.nested.nested_tensor"] = _made(
        "data, *, dtype, layout, device, requires_grad, pin_memory"
    )
    FUNCTIONS["torch.nested.as_nested_tensor"] = _made("data, dtype, device, layout")
