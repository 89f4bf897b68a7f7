"""`torch.func`: functions made of functions.

`vmap(f)` works where `f` does. `grad(f)`, `jacrev(f)` and their kin give results that live where
the argument is that they differentiate by.
"""

from __future__ import annotations

from device_lens.domain.device import UNKNOWN_DEVICE
from device_lens.domain.values import BoundExternal, Const, Tensor, TupleValue
from device_lens.models.call import Call, Model, Value, tensor_of
from device_lens.models.registry import FUNCTIONS
from device_lens.models.words import words

DERIVATIVES = words("grad jacrev jacfwd hessian grad_and_value")
_TRANSFORMED = "torch.func.derivative"
_WITH_VALUE = "torch.func.derivative_and_value"
_VECTORISED = "torch.func.vectorised"


def _vectorise(call: Call) -> Value:
    return BoundExternal(call.get(0, "func"), _VECTORISED)


def _vectorised(call: Call) -> Value:
    """`vmap(f)(x, …)`: what `f` gives, with a dimension more."""
    return _batched(call.services.invoke(call.receiver, call.args, call.kwargs))


def _batched(value: Value) -> Value:
    if type(value) is Tensor:
        return value.with_(shape=None, zero_dim=False)
    if isinstance(value, TupleValue):
        return TupleValue(tuple(map(_batched, value.items)), value.names)
    return value


def _transform(applied: str) -> Model:
    """`grad(f)`: a callable that remembers `f`."""

    def model(call: Call) -> Value:
        function = call.get(0, "func")
        argument = call.get(1, "argnums")
        if argument is not None and argument != Const(0):
            return call.unknown()
        return BoundExternal(function, applied)

    return model


def _derivative(call: Call) -> Value:
    """`grad(f)(x, …)`: a tensor, or as many as `x` holds, where `x` is."""
    call.services.invoke(call.receiver, call.args, call.kwargs)
    return _alike(call.args[0]) if call.args else call.unknown()


def _derivative_and_value(call: Call) -> Value:
    result = call.services.invoke(call.receiver, call.args, call.kwargs)
    return TupleValue((_alike(call.args[0]), result)) if call.args else call.unknown()


def _alike(value: Value) -> Value:
    found = tensor_of(value)
    if found is not None:
        return Tensor(found.device, found.dtype, requires_grad=None, leaf=None)
    if isinstance(value, TupleValue):
        return TupleValue(tuple(map(_alike, value.items)))
    return Tensor(UNKNOWN_DEVICE, requires_grad=None, leaf=None)


def register_all() -> None:
    FUNCTIONS["torch.vmap"] = FUNCTIONS["torch.func.vmap"] = _vectorise
    FUNCTIONS[_VECTORISED] = _vectorised
    for name in DERIVATIVES:
        applied = _WITH_VALUE if name.endswith("value") else _TRANSFORMED
        FUNCTIONS[f"torch.func.{name}"] = _transform(applied)
    FUNCTIONS[_TRANSFORMED] = _derivative
    FUNCTIONS[_WITH_VALUE] = _derivative_and_value
