"""Hooks that see gradients: of modules, and of tensors that are computed.

They run when a backward pass comes to them. That through a computed tensor, or a module's call,
follows before long, so they are followed at once, as what may run from there on. A leaf may move
before, or what its hook reads may: those are not followed.
"""

from __future__ import annotations

from device_lens.domain.heap import ModuleObject
from device_lens.domain.values import NONE, Tensor, TupleValue
from device_lens.models.call import Call, Services, Value, tensor_of
from device_lens.models.registry import FUNCTIONS
from device_lens.models.torch.autograd import default_in_backward, gradient_of, gradients_of
from device_lens.models.torch.handles import handle

BACKWARD = "backward_hooks"
"""The entry of a module with the hooks that get the gradients of its inputs and outputs."""
BEFORE = "backward_pre_hooks"
"""The entry with those that get the gradients of its outputs alone."""


def run(services: Services, module: ModuleObject, args: tuple[Value, ...], output: Value) -> None:
    """What a backward pass through a module's call may do."""
    own, gradients = module.own, gradients_of(output)
    outputs = output.items if type(output) is TupleValue else (output,)
    if services.inference_mode() is not False or not any(map(_may_get_gradient, outputs)):
        return
    given = TupleValue(tuple(map(_of_input, args)))
    for hook in own.get(BEFORE, ()):
        _follow(services, hook, (module, TupleValue(gradients)), gradients)
    for hook in own.get(BACKWARD, ()):
        _follow(services, hook, (module, given, TupleValue(gradients)), gradients)


def _may_get_gradient(value: Value) -> bool:
    tensor = tensor_of(value)
    return tensor is not None and tensor.requires_grad is not False


def _of_input(value: Value) -> Value:
    return gradient_of(value) if _may_get_gradient(value) else NONE


def _follow(
    services: Services, hook: Value, args: tuple[Value, ...], gradients: tuple[Value, ...]
) -> None:
    """Calls a hook with autograd off, and in the thread of the backward pass."""
    default = services.default_device()
    services.set_global("default_device", default_in_backward(services, gradients))
    services.set_global("grad", False)
    services.invoke_beside(hook, args, {}, False)
    services.set_global("grad", True)
    services.set_global("default_device", default)


def _register(call: Call) -> Value:
    """`x.register_hook(f)`."""
    tensor, hook = call.receiver, call.get(0, "hook", NONE)
    is_on = call.services.inference_mode() is False
    if type(tensor) is Tensor and tensor.leaf is False and is_on and hook != NONE:
        gradient = gradients_of(tensor)
        _follow(call.services, hook, gradient, gradient)
    return handle(call)


def register_all() -> None:
    FUNCTIONS["torch.Tensor.register_hook"] = _register
    FUNCTIONS["torch.Tensor.register_post_accumulate_grad_hook"] = handle
