"""What `register_…_hook` answers."""

from __future__ import annotations

from device_lens.domain.device import UNKNOWN_DEVICE, is_accelerator
from device_lens.domain.guard import leaves, primary
from device_lens.domain.heap import Instance, Parameter
from device_lens.domain.values import NONE, External, Tensor
from device_lens.models.call import Call, Value, is_none, tensor_of
from device_lens.models.registry import FUNCTIONS

NAME = "torch.utils.hooks.RemovableHandle"


def handle(call: Call) -> Value:
    """A handle whose `remove` does nothing that is followed."""
    return Instance(External(NAME), call.site.node)


def _of_tensor(call: Call) -> Value:
    """`x.register_hook(f)`: `f` gets the gradient, which is where the tensor is. A parameter on the
    host may have moved by then."""
    hook, tensor = call.get(0, "hook"), tensor_of(call.receiver)
    if tensor is None or is_none(hook):
        return handle(call)
    gradient = tensor.with_(requires_grad=False, leaf=None, pinned=False)
    if type(call.receiver) is Parameter and not _on_accelerator(gradient):
        gradient = gradient.with_(device=UNKNOWN_DEVICE)
    call.services.invoke(hook, (gradient,), {})
    return handle(call)


def _on_accelerator(tensor: Tensor) -> bool:
    return all(is_accelerator(leaf) for leaf in leaves(primary(tensor.device)))


def register_all() -> None:
    """Fills the registry with the hooks of tensors and the handle's methods."""
    FUNCTIONS["torch.Tensor.register_hook"] = _of_tensor
    FUNCTIONS["torch.Tensor.register_post_accumulate_grad_hook"] = handle
    FUNCTIONS[f"{NAME}.remove"] = lambda call: NONE
