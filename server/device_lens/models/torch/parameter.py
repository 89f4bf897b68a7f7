"""`nn.Parameter` and `nn.Buffer`."""

from __future__ import annotations

from device_lens.domain.guard import Guarded, combine
from device_lens.domain.heap import Parameter
from device_lens.domain.values import NONE, Tensor, Unknown
from device_lens.models.call import Call, Value, constant, is_none, tensor_of
from device_lens.models.registry import ALIASES, FUNCTIONS
from device_lens.models.torch.module import BUFFER
from device_lens.models.torch.nn_layer import factory
from device_lens.models.torch.objects import instance

NAME = "torch.nn.Parameter"


def _parameter(call: Call) -> Value:
    data = call.get(0, "data", NONE)
    grad = constant(call.get(1, "requires_grad"), True)
    if type(data) is Guarded:
        return combine(lambda leaf: _made(call, leaf, grad), data)
    return _made(call, data, grad)


def _made(call: Call, data: Value, grad: bool) -> Parameter:
    """A leaf on the very memory of `data`."""
    tensor = tensor_of(data)
    if tensor is None:
        device = data.device if type(data) is Unknown else call.services.default_device()
        tensor = Tensor(device, shape=(0,) if is_none(data) else None)
    return Parameter(tensor.with_(requires_grad=grad, leaf=True), call.site.node)


def _uninitialised(call: Call) -> Value:
    """A parameter without a shape yet, on `device=`."""
    return Parameter(factory(call, dict(call.kwargs))(None), call.site.node)


def _buffer(call: Call) -> Value:
    return instance(call, BUFFER, tensor=call.get(0, "data", NONE))


def register_all() -> None:
    FUNCTIONS[NAME] = _parameter
    FUNCTIONS[BUFFER] = _buffer
    FUNCTIONS["torch.nn.parameter.UninitializedParameter"] = _uninitialised
    FUNCTIONS["torch.nn.parameter.UninitializedBuffer"] = _uninitialised
    ALIASES["torch.nn.UninitializedParameter"] = "torch.nn.parameter.UninitializedParameter"
    ALIASES["torch.nn.UninitializedBuffer"] = "torch.nn.parameter.UninitializedBuffer"
    ALIASES["torch.nn.parameter.Parameter"] = NAME
    ALIASES["torch.nn.parameter.Buffer"] = BUFFER
