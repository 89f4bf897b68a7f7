"""Hooks that see gradients: of modules, and of tensors that are computed.

They run when a backward pass comes to them. That through a computed tensor, or a module's call,
follows before long, so they are followed at once, as what may run from there on. Those of a
parameter are followed where its module is called, since it may move before, and those of leaves
that are no parameters in each backward pass.
"""

from __future__ import annotations

from dataclasses import dataclass

from device_lens.domain.device import is_accelerator
from device_lens.domain.guard import primary
from device_lens.domain.heap import ModuleObject, Parameter
from device_lens.domain.values import NONE, Tensor, TupleValue
from device_lens.models.call import Call, Model, Services, Value, tensor_of
from device_lens.models.registry import FUNCTIONS
from device_lens.models.torch.autograd import default_in_backward, gradient_of, gradients_of
from device_lens.models.torch.everywhere import (
    HOOKS,
    MODULE,
    Everywhere,
    of_all,
    registers_everywhere,
)
from device_lens.models.torch.handles import add, handle

BACKWARD = "backward_hooks"
"""The entry of a module with the hooks that get the gradients of its inputs and outputs."""
BEFORE = "backward_pre_hooks"
"""The entry with those that get the gradients of its outputs alone."""


_OF_LEAVES = "hooks of leaves"
"""What these are kept under beside the hooks of all modules."""
_MOST = 8
"""Hooks of leaves that a backward pass follows."""
WITH_GRADIENT, WITH_PARAMETER = "<hooks>", "<hooks after>"
"""The fields of a parameter with the hooks that get its gradient, and with those that get it itself
once its gradient is there."""


def run(services: Services, module: ModuleObject, args: tuple[Value, ...], output: Value) -> None:
    """What a backward pass through a module's call may do."""
    own = module.own
    before = (*of_all(services, BEFORE), *own.get(BEFORE, ()))
    after = (*of_all(services, BACKWARD), *own.get(BACKWARD, ()))
    hooked = _hooked_parameters(module)
    if not (before or after or hooked) or services.inference_mode() is not False:
        return
    outputs = output.items if type(output) is TupleValue else (output,)
    if not any(map(_may_get_gradient, outputs)):
        return
    gradients = gradients_of(output)
    given = TupleValue(tuple(map(_of_input, args)))
    for hook in before:
        _follow(services, hook, (module, TupleValue(gradients)), gradients)
    for hook in after:
        _follow(services, hook, (module, given, TupleValue(gradients)), gradients)
    for parameter in hooked:
        gradient = gradients_of(parameter)
        for hook in parameter.fields.get(WITH_GRADIENT, ()):
            _follow(services, hook, gradient, gradient)
        for hook in parameter.fields.get(WITH_PARAMETER, ()):
            _follow(services, hook, (parameter,), gradient)


def _hooked_parameters(module: ModuleObject) -> list[Parameter]:
    """The module's own parameters that have hooks and get a gradient."""
    return [
        each
        for each in module.parameters.values()
        if type(each) is Parameter
        and (WITH_GRADIENT in each.fields or WITH_PARAMETER in each.fields)
        and each.tensor.requires_grad is not False
    ]


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


@dataclass(frozen=True, slots=True, eq=False)
class _OfLeaf:
    """A hook of a leaf that is no parameter, and what it is called with."""

    hook: Value
    args: tuple[Value, ...]
    gradients: tuple[Value, ...]


def _keep_of_leaf(call: Call, hook: _OfLeaf) -> Value:
    """Follows a hook at once, since nobody may see the backward pass, and in each from here on."""
    if not all(map(_stays, hook.gradients)):
        hook = _OfLeaf(hook.hook, (Tensor(),), (Tensor(),))
    _follow_perhaps(call.services, hook)
    return add(call, call.services.globals, HOOKS, Everywhere(_OF_LEAVES, hook))


def _stays(gradient: Value) -> bool:
    """Whether the leaf is where it is computed with: one on the host may be moved to where that
    is, by its `data`."""
    return type(gradient) is Tensor and is_accelerator(primary(gradient.device))


def _follow_perhaps(services: Services, hook: _OfLeaf) -> None:
    """What a backward pass does if it comes to the leaf. Where it does not, what the hook reads may
    be elsewhere by the time that one does, so that no conflict is told."""
    before = services.globals["expecting"]
    services.set_global("expecting", True)
    _follow(services, hook.hook, hook.args, hook.gradients)
    services.set_global("expecting", before)


def _of_leaves(model: Model) -> Model:
    """A backward pass, with the hooks of leaves that it may come to."""

    def run_through(call: Call) -> Value:
        for hook in of_all(call.services, _OF_LEAVES)[:_MOST]:
            _follow_perhaps(call.services, hook)
        return model(call)

    return run_through


def _register(call: Call) -> Value:
    """`x.register_hook(f)`."""
    tensor, hook = call.receiver, call.get(0, "hook", NONE)
    if type(tensor) is Parameter and hook != NONE:
        return _keep(call, tensor, WITH_GRADIENT, hook)
    is_on = call.services.inference_mode() is False
    if type(tensor) is Tensor and is_on and hook != NONE:
        gradient = gradients_of(tensor)
        if tensor.leaf is False:
            _follow(call.services, hook, gradient, gradient)
        else:
            return _keep_of_leaf(call, _OfLeaf(hook, gradient, gradient))
    return handle(call)


def _register_after(call: Call) -> Value:
    """`p.register_post_accumulate_grad_hook(f)`."""
    tensor, hook = call.receiver, call.get(0, "hook", NONE)
    if type(tensor) is Tensor and call.services.inference_mode() is False and hook != NONE:
        return _keep_of_leaf(call, _OfLeaf(hook, (tensor,), gradients_of(tensor)))
    if type(tensor) is not Parameter or hook == NONE:
        return handle(call)
    return _keep(call, tensor, WITH_PARAMETER, hook)


def _keep(call: Call, parameter: Parameter, key: str, hook: Value) -> Value:
    """Keeps a hook with its parameter; one of several that may be it is not followed."""
    if parameter.among:
        return handle(call)
    return add(call, parameter.fields, key, hook)


def register_all() -> None:
    """Fills the registry, after tensors have their methods."""
    for name in ("torch.Tensor.backward", "torch.autograd.backward"):
        FUNCTIONS[name] = _of_leaves(FUNCTIONS[name])
    FUNCTIONS["torch.Tensor.register_hook"] = _register
    FUNCTIONS["torch.Tensor.register_post_accumulate_grad_hook"] = _register_after
    for name, key in (("backward_hook", BACKWARD), ("backward_pre_hook", BEFORE)):
        FUNCTIONS[f"{MODULE}.register_module_full_{name}"] = registers_everywhere(key)
    FUNCTIONS[f"{MODULE}.register_module_backward_hook"] = registers_everywhere(BACKWARD)
